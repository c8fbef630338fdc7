package guard

import (
	"slices"

	"github.com/seawall-dev/seawall/diff"
)

// Observe selects zones that are planned and reported, and never written.
type Observe struct {
	Account string   // its key; empty: every account
	Except  []string // accounts that are not selected, by their keys
	Labels  Labels   // none: every zone
}

// refuseObserved refuses every change to what is observed only. A token is in no
// account and has no labels: it is observed where everything is.
func refuseObserved(c diff.Change, f Facts) *diff.Refusal {
	for _, o := range f.Observe {
		if o.selects(c, f) {
			return &diff.Refusal{
				Guard: diff.GuardObserve, Reason: "observed only: the configuration does not allow writes here",
				Release: `mode: "apply" in the configuration, without a matching entry in observe`,
			}
		}
	}
	return nil
}

func (o Observe) selects(c diff.Change, f Facts) bool {
	if o.Account != "" && o.Account != c.Account || slices.Contains(o.Except, c.Account) {
		return false
	}
	return f.selects(o.Labels, c)
}
