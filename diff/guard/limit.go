package guard

import (
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
)

// Rule is one guard of the configuration: limits, or the need of an approval, for
// the zones that its labels select.
type Rule struct {
	Name    string
	Labels  Labels // none: every zone, and for Approve tokens too
	Changes *Limit // nil: none
	// Weakening limits the zones with changes that weaken; nil: not at all.
	Weakening *Limit
	Approve   Approve
}

// Limit is how many zones one plan may change.
type Limit struct {
	Count   *int // zones; nil: any number
	Percent *int // of the zones that the rule selects and that [Facts.Base] has; nil: any share
	// Floor is up to how many zones Percent does not count: a tenth of three zones
	// would be none.
	Floor int
}

// exceeds says why n of all zones are too many, empty where they are not.
func (l *Limit) exceeds(n, all int) string {
	switch {
	case l.Count != nil && n > *l.Count:
		return fmt.Sprintf("at most %d", *l.Count)
	case l.Percent != nil && n > l.Floor && n*100 > all**l.Percent:
		return fmt.Sprintf("at most %d%% of %d", *l.Percent, all)
	}
	return ""
}

// Minded reports whether a limit or an approval is about a change, so that it matters how
// much else is changed.
func (f Facts) Minded(c diff.Change) bool {
	for _, rule := range f.Rules {
		weakening := c.Direction == diff.Weakens && (rule.Weakening != nil || rule.Approve == ApproveWeakening)
		if (rule.Changes != nil || rule.Approve == ApproveAll || weakening) && f.selects(rule.Labels, c) {
			return true
		}
	}
	return false
}

// exceeded returns the limits that changes exceed. Every limit judges the same
// changes: those that would be sent and that nobody has agreed to. What one limit
// refuses counts for the others as well, or a fleet-wide limit would let half of
// a commit pass because a stricter one has stopped the rest.
//
// Changes over a limit are refused as a whole and not after the first so many
// zones: which part of a commit is in force should not depend on how zones sort.
func (f Facts) exceeded(changes []diff.Change) (over []heldBack) {
	for _, rule := range f.Rules {
		var all, weakening []diff.Change
		for _, c := range changes {
			if c.Level() == edge.LevelCredential || !f.selects(rule.Labels, c) {
				continue
			}
			all = append(all, c)
			if c.Direction == diff.Weakens {
				weakening = append(weakening, c)
			}
		}
		over = append(over, f.over(rule.Changes, all, rule, false)...)
		over = append(over, f.over(rule.Weakening, weakening, rule, true)...)
	}
	return over
}

// over is what one limit holds back: all of the changes, or none where they are not
// too many.
func (f Facts) over(l *Limit, changes []diff.Change, rule Rule, weakening bool) []heldBack {
	if l == nil || len(changes) == 0 {
		return nil
	}
	zones := zonesOf(changes)
	before, base := f.beside(rule, zones, weakening)
	n := len(zones) + before
	most := l.exceeds(n, base)
	if most == "" {
		return nil
	}
	h := holdBack(changes)
	h.refusal.Release = "a smaller commit, or seawall apply --approve " + h.refusal.Digest
	does, what := "changes", "this plan"
	if weakening {
		does = "weakens"
	}
	if before > 0 {
		what = f.Tally.What
	}
	if before > 0 && !f.Tally.Planned {
		h.refusal.Release = "seawall plan, which shows all changes and the digest for --approve"
	}
	h.refusal.Guard = diff.GuardLimit
	h.refusal.Reason = fmt.Sprintf("%s %s %s, and guards.%s allows %s", what, does, words.Count(n, "zone", "zones"), rule.Name, most)
	return []heldBack{h}
}

// beside returns how many zones count for a limit beside those of the plan, and of
// how many zones shares are shares.
func (f Facts) beside(rule Rule, again map[edge.Scope]bool, weakening bool) (before, base int) {
	if f.Tally != nil {
		return f.Tally.beside(rule, again, weakening)
	}
	return 0, f.base(rule)
}

// selected counts the declared zones that labels select.
func (f Facts) selected(l Labels) int {
	n := 0
	for id, zone := range f.Zones {
		if _, account := id.Account(); account || l.Selects(zone) {
			n++
		}
	}
	return n
}

func zonesOf(changes []diff.Change) map[edge.Scope]bool {
	zones := map[edge.Scope]bool{}
	for _, c := range changes {
		zones[c.Scope] = true
	}
	return zones
}
