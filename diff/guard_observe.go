package diff

// Observe selects zones that are planned and reported, and never written.
type Observe struct {
	Account string // its key; empty: every account
	Labels  Labels // none: every zone
}

// guardObserve is the guard that a refusal names where a zone is observed only.
const guardObserve = "observe"

// Observed reports whether a refusal only says that nothing may be written there: no
// person is needed for it.
func (r *Refusal) Observed() bool { return r != nil && r.Guard == guardObserve }

// Observed reports whether the plan has changes that are not sent for no other reason
// than that they are observed only.
func (p Plan) Observed() bool {
	for _, c := range p.Changes {
		if c.Refused.Observed() {
			return true
		}
	}
	return false
}

// refuseObserved refuses every change to what is observed only. A token is in no
// account and has no labels: it is observed where everything is.
func refuseObserved(c Change, f Facts) *Refusal {
	for _, o := range f.Observe {
		if o.selects(c, f) {
			return &Refusal{
				Guard: guardObserve, Reason: "observed only: the configuration does not allow writes here",
				Release: `mode: "apply" in the configuration, without a matching entry in observe`,
			}
		}
	}
	return nil
}

func (o Observe) selects(c Change, f Facts) bool {
	return (o.Account == "" || o.Account == c.Account) && f.selects(o.Labels, c)
}
