package diff

import "strings"

func refuseNonConvergent(c Change, f Facts) *Refusal {
	unkept := f.NonConvergent[c.ID()]
	if c.Amendment != nil {
		unkept = f.NonConvergentTokens[c.Amendment.ID]
	}
	if unkept == "" || unkept != c.Fingerprint() {
		return nil
	}
	names := make([]string, len(c.Fields))
	for i, field := range c.Fields {
		names[i] = string(field.Path)
	}
	return &Refusal{
		Guard:   "non_convergent",
		Reason:  "this same change was written before, and the platform did not keep it: " + strings.Join(names, ", "),
		Release: "a change of the declaration or the live state, or seawall apply, which tries once more",
	}
}
