package guard

import "github.com/seawall-dev/seawall/diff"

// refusePutBack refuses every change while the commit that it is of may be an older one than was in force.
func refusePutBack(f Facts) *diff.Refusal {
	if !f.PutBack {
		return nil
	}
	return &diff.Refusal{Guard: diff.GuardOvertaken, Reason: diff.ReasonPutBack, Release: diff.ReleasePutBack}
}
