package guard

import (
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// refuseUnknown refuses a change of a level that guards do not know. They could not say
// whether it is held, whether it counts for limits, and who has to agree to it.
func refuseUnknown(c diff.Change) *diff.Refusal {
	if level := c.Level(); diff.Counts(level) || level == edge.LevelCredential {
		return nil
	}
	return &diff.Refusal{
		Guard: diff.GuardUnknown, Reason: "no guard knows what this change belongs to: neither a zone nor an account nor a credential",
		Release: "a version of Seawall that knows it",
	}
}

// refuseSenseless refuses what could do no good, as the operation says itself.
func refuseSenseless(c diff.Change, f Facts) *diff.Refusal {
	return c.Do().Senseless(diff.Conditions{Now: f.Now, CheckSink: f.CheckSink})
}
