package guard

import (
	"strings"

	"github.com/seawall-dev/seawall/diff"
)

func refuseNonConvergent(c diff.Change, f Facts) *diff.Refusal {
	unkept := f.NonConvergent[c.ID()]
	if a, ok := c.Operation.(diff.Amendment); ok {
		unkept = f.NonConvergentTokens[a.ID]
	}
	if unkept == "" || unkept != c.Fingerprint() {
		return nil
	}
	names := make([]string, len(c.Fields))
	for i, field := range c.Fields {
		names[i] = string(field.Path)
	}
	return &diff.Refusal{
		Guard:   diff.GuardNonConvergent,
		Reason:  "this same change was written before, and the platform did not keep it: " + strings.Join(names, ", "),
		Release: "a change of the declaration or the live state, or seawall apply, which tries once more",
	}
}
