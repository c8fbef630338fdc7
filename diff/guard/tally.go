package guard

import "github.com/seawall-dev/seawall/edge"

// Tally counts the zones that limits count beside those of a plan, for who plans
// zone by zone: what a commit changes, or what was healed within a while, is judged
// as one however many plans it comes in. It keeps a count for each rule, so that
// judging a zone costs the same in a fleet of any size.
//
// A Tally is not safe for concurrent use. Make it with [NewTally].
type Tally struct {
	// What is what reasons call the whole: "this commit".
	What string

	rules  []Rule
	facts  Facts               // labels and base alone
	zones  map[edge.Scope]bool // that count, and whether their change weakens
	all    map[string]int      // by rule: how many of zones it selects
	weaken map[string]int      // and how many of these weaken
}

// NewTally returns an empty one for rules and the labels of all declared zones; see
// [Facts]. What is added to [Facts.Base] later counts from then on; without a base, shares
// are of the zones that are declared now.
func NewTally(what string, f Facts) *Tally {
	t := &Tally{
		What: what, rules: f.Rules, facts: Facts{LabelsBefore: f.LabelsBefore, Zones: f.Zones, Base: f.Base},
		zones: map[edge.Scope]bool{}, all: map[string]int{}, weaken: map[string]int{},
	}
	if t.facts.Base == nil {
		t.facts.Base = NewBase(f.Rules, 0)
		for id, labels := range f.Zones {
			t.facts.Base.Add(id, labels)
		}
	}
	return t
}

// Count has a zone count from now on; a change of it that weakens stays one.
func (t *Tally) Count(zone edge.Scope, weakens bool) {
	before, counted := t.zones[zone]
	t.zones[zone] = before || weakens
	for _, rule := range t.rules {
		if !t.facts.selectsZone(rule.Labels, zone) {
			continue
		}
		if !counted {
			t.all[rule.Name]++
		}
		if weakens && !before {
			t.weaken[rule.Name]++
		}
	}
}

// CountAll has all zones count that another tally counts.
func (t *Tally) CountAll(other *Tally) {
	for zone, weakens := range other.zones {
		t.Count(zone, weakens)
	}
}

// Drop has a zone count no longer.
func (t *Tally) Drop(zone edge.Scope) {
	weakens, counted := t.zones[zone]
	if !counted {
		return
	}
	delete(t.zones, zone)
	for _, rule := range t.rules {
		if !t.facts.selectsZone(rule.Labels, zone) {
			continue
		}
		t.all[rule.Name]--
		if weakens {
			t.weaken[rule.Name]--
		}
	}
}

// Covers reports whether a zone counts, as weakening if that is asked.
func (t *Tally) Covers(zone edge.Scope, weakens bool) bool {
	counted, ok := t.zones[zone]
	return ok && (counted || !weakens)
}

// Len is how many zones count.
func (t *Tally) Len() int { return len(t.zones) }

// beside returns how many of the zones count that a rule selects, but for those of
// the plan, and of how many zones shares are shares.
func (t *Tally) beside(rule Rule, plan map[edge.Scope]bool, weakening bool) (before, base int) {
	before = t.all[rule.Name]
	if weakening {
		before = t.weaken[rule.Name]
	}
	for zone := range plan {
		weakens, counted := t.zones[zone]
		if counted && (weakens || !weakening) && t.facts.selectsZone(rule.Labels, zone) {
			before--
		}
	}
	return before, t.facts.base(rule)
}
