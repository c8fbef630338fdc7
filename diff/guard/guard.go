// Package guard holds changes back: a plan and [Facts] go in, the same plan with
// refusals comes out ([Check]). Each guard has a file. Guards read no clock and no
// configuration: the time, the limits, the holds and the freezes are facts.
//
// The laws: guards only refuse, they drop and alter nothing, and add nothing but a rotation
// that the plan has ready for the case that they refuse ([diff.Plan.Meanwhile]); to check twice is
// to check once; and an approval releases what it names and nothing else. It must
// not import diff/deployment, diff/token or diff/planner: how a plan was made does
// not count.
package guard

import (
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Check passes a plan through every guard. Guards are functions from plan to
// plan: a refused change stays where it is, with the reason and with what would
// release it. The first refusal counts. The digest of a plan that has one is taken
// anew.
//
// Their order: what no guard knows (unknown); what makes a change senseless whoever agrees to
// it (shrink, what the operation says itself, non_convergent); what people withdrew (observe, account, hold);
// what needs somebody's agreement (limit, approval); and what only has to wait
// (put back, freeze, wave). Limits stand before the guards that wait so that waiting never
// makes a large commit look small.
func Check(plan diff.Plan, facts Facts) diff.Plan {
	plan.Changes = append([]diff.Change{}, plan.Changes...)
	plan.Leaving = facts.agreed(plan)
	facts = facts.Released(plan)
	plan.Problems = refuseCommit(plan.Problems, facts)
	plan.Holds = facts.Holds
	refuse := func(guard func(diff.Change) *diff.Refusal) {
		for i := range plan.Changes {
			if plan.Changes[i].Refused == nil {
				plan.Changes[i].Refused = guard(plan.Changes[i])
			}
		}
	}
	refuse(refuseUnknown)
	refuse(func(diff.Change) *diff.Refusal { return refuseShrunk(facts) })
	refuse(func(c diff.Change) *diff.Refusal { return refuseSenseless(c, facts) })
	refuse(func(c diff.Change) *diff.Refusal { return refuseNonConvergent(c, facts) })
	refuse(func(c diff.Change) *diff.Refusal { return refuseObserved(c, facts) })
	refuse(func(c diff.Change) *diff.Refusal { return refuseAccount(c, facts) })
	refuse(func(c diff.Change) *diff.Refusal { return refuseHeld(c, facts) })
	granted, by := facts.granted(plan)
	plan.Granted = by
	for i := range plan.Changes {
		plan.Changes[i].Approved = len(granted) > 0 && granted[plan.Changes[i].Key()]
	}
	refuse(heldBackBy(facts.asked(plan, granted)))
	refuse(func(diff.Change) *diff.Refusal { return refusePutBack(facts) })
	refuse(func(c diff.Change) *diff.Refusal { return refuseFrozen(c, facts) })
	refuse(func(c diff.Change) *diff.Refusal { return refuseEarly(c, facts) })
	return renewed(plan, facts).Unremoved().Resealed()
}

// Facts are what guards need to know beside the plan. The zero Facts refuse
// nothing that depends on history, on the clock or on the configuration.
type Facts struct {
	Before, After Size   // what the last accepted commit declared, and what this one does
	Loss          Loss   // what of that is gone, whatever was added
	AllowShrink   bool   // a person has agreed that After may be much smaller
	Shrink        Shrink // how much smaller that is

	// Now decides what is expired.
	Now time.Time
	// CheckSink reports why a sink could not take a secret; nil takes any.
	CheckSink func(desired.Sink) error

	// NonConvergent holds the fingerprints of changes that were written and not kept by the
	// platform.
	NonConvergent map[diff.ID]string
	// Tries says when such a change was sent and is sent again, where that is known.
	Tries map[diff.ID]diff.Try

	// Zones are the labels of every declared zone, whether this plan looks at it or not.
	Zones map[edge.Scope]Labels
	// Base has the zones that shares are shares of; nil: all of Zones.
	Base *Base
	// Observe selects what is observed only.
	Observe []Observe
	// Rules are the configured limits and approvals, in the order of their names.
	Rules []Rule
	// Approved are the digests that people have agreed to: of a whole plan
	// ([diff.Plan.ApprovalDigest]), of the changes that one rule holds back
	// ([diff.Refusal.Digest]), or of a single change ([diff.Change.ApprovalDigest]).
	Approved map[string]bool
	// Holds are those in force now, by the key of their zone.
	Holds []diff.Hold
	// PutBack says that the records were put back to an earlier time, and git was not looked at since.
	PutBack bool
	// Freezes are the windows that Now is in, and that nobody has overridden.
	Freezes []Freeze
	// LabelsBefore are the selections that zones have not been allowed to leave; see
	// [Remembered]. A label that a commit takes away must not take its own guard away.
	LabelsBefore map[edge.Scope][]Selection
	// Accounts say which settings accounts have.
	Accounts Accounts
	// Tally counts for limits beside the plan; nil counts nothing beside it.
	Tally *Tally
	// Rollout says how far the waves of the newest commit have come; nil where there
	// is none going on.
	Rollout *Rollout
}

// Labels are those of a zone.
type Labels map[string]string

// Selects reports whether a zone has all of these labels; none selects any zone.
func (l Labels) Selects(zone Labels) bool {
	for key, value := range l {
		if have, ok := zone[key]; !ok || have != value {
			return false
		}
	}
	return true
}

// selects reports whether labels select what a change is about. What is of a credential has
// no labels: only a selector without any selects it. What nobody knows is selected by all.
func (f Facts) selects(l Labels, c diff.Change) bool {
	switch {
	case c.Level() == edge.LevelCredential:
		return len(l) == 0
	case diff.Counts(c.Level()):
		return f.selectsZone(l, c.Scope)
	}
	return true
}

// selectsZone reports whether labels select a zone: as it is declared, or by what it has not
// been allowed to leave. What an account deploys itself runs in zones with any labels,
// so all labels select it.
func (f Facts) selectsZone(l Labels, zone edge.Scope) bool {
	if _, account := zone.Account(); account || l.Selects(f.Zones[zone]) {
		return true
	}
	return slices.ContainsFunc(f.LabelsBefore[zone], func(s Selection) bool { return l.Selects(s.Labels) })
}
