package guard

import (
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
	reason, hint := diff.NotKept(c.Fields)
	if hint == "" {
		hint = "a change of the declaration or the live state, or seawall apply, which tries once more"
	}
	return &diff.Refusal{Guard: diff.GuardNonConvergent, Reason: "this same change was written before, and " + reason, Release: hint}
}
