package guard

import (
	"slices"

	"github.com/seawall-dev/seawall/diff"
)

// Selector is a setting of the configuration that selects zones.
type Selector struct {
	Setting string   // its path in the configuration
	Account string   // its key; empty: every account
	Except  []string // accounts that are not selected, by their keys
	Labels  Labels   // none: every zone
}

// Observe selects zones that are planned and reported, and never written.
type Observe = Selector

// refuseObserved refuses every change to what is observed only. A token has no labels, so
// only a setting without labels selects it: one of everything, or of the account that owns it.
func refuseObserved(c diff.Change, f Facts) *diff.Refusal {
	for _, o := range f.Observe {
		if o.declares(c, f) {
			return &diff.Refusal{
				Guard: diff.GuardObserve, Reason: "observed only: the configuration does not allow writes here",
				Release: `mode: "apply" in the configuration, without a matching entry in observe`,
			}
		}
		if o.remembers(c, f) {
			return &diff.Refusal{
				Guard: diff.GuardObserve, Reason: "observed only: " + o.Setting + " selected the zone or its account before, and no person has agreed that a commit ends that",
				Release: "the approval of what leaves " + o.Setting + ", which the plan shows",
			}
		}
	}
	return nil
}

// declares reports whether it selects what a change is about as the commit declares it.
func (o Selector) declares(c diff.Change, f Facts) bool {
	return o.selectsKeys([]string{c.Account}) && f.selects(o.Labels, c)
}

// remembers reports whether it selects what a change is about by what its zone or account has
// not been allowed to leave.
func (o Selector) remembers(c diff.Change, f Facts) bool {
	if id := f.Accounts.IDs[c.Account]; id != "" && f.Accounts.selects(o, id) && f.selects(o.Labels, c) {
		return true
	}
	return slices.ContainsFunc(f.LabelsBefore[c.Scope], func(s Selection) bool { return f.Accounts.covers(o, s) })
}
