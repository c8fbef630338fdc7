package guard

import (
	"iter"

	"github.com/seawall-dev/seawall/edge"
)

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
	facts  Facts // labels and base alone
	zones  map[edge.Scope]counted
	all    []int // by rule: how many of zones it selects
	weaken []int // and how many of these weaken
}

// counted is a zone that counts: whether its change weakens, and the rules that select it.
type counted struct {
	weakens bool
	by      selected
}

// NewTally returns an empty one for rules and the labels of all declared zones; see
// [Facts]. What is added to [Facts.Base] later counts from then on; without a base, shares
// are of the zones that are declared now.
func NewTally(what string, f Facts) *Tally {
	t := &Tally{
		What: what, rules: f.Rules, facts: factsOfTally(f), zones: map[edge.Scope]counted{},
		all: make([]int, len(f.Rules)), weaken: make([]int, len(f.Rules)),
	}
	if t.facts.Base == nil {
		t.facts.Base = NewBase(f.Rules, 0)
		for id, labels := range f.Zones {
			t.facts.Base.Add(id, labels)
		}
	}
	return t
}

func factsOfTally(f Facts) Facts {
	return Facts{LabelsBefore: f.LabelsBefore, Zones: f.Zones, Base: f.Base}
}

// Follow has a tally go by newer facts with the same rules and base. These zones may have been
// selected otherwise before; all others were not.
func (t *Tally) Follow(f Facts, zones iter.Seq[edge.Scope]) {
	t.facts = factsOfTally(f)
	for zone := range zones {
		if was, counts := t.zones[zone]; counts {
			t.Drop(zone)
			t.Count(zone, was.weakens)
		}
	}
}

// Count has a zone count from now on; a change of it that weakens stays one.
func (t *Tally) Count(zone edge.Scope, weakens bool) {
	c, counts := t.zones[zone]
	if !counts {
		c.by = selectedBy(t.rules, func(rule Rule) bool { return t.facts.selectsZone(rule.Labels, zone) })
		c.by.add(t.all, 1)
	}
	if weakens && !c.weakens {
		c.weakens = true
		c.by.add(t.weaken, 1)
	}
	t.zones[zone] = c
}

// CountAll has all zones count that another tally counts.
func (t *Tally) CountAll(other *Tally) {
	for zone, c := range other.zones {
		t.Count(zone, c.weakens)
	}
}

// Drop has a zone count no longer.
func (t *Tally) Drop(zone edge.Scope) {
	c := t.zones[zone]
	delete(t.zones, zone)
	c.by.add(t.all, -1)
	if c.weakens {
		c.by.add(t.weaken, -1)
	}
}

// Covers reports whether a zone counts, as weakening if that is asked.
func (t *Tally) Covers(zone edge.Scope, weakens bool) bool {
	c, counts := t.zones[zone]
	return counts && (c.weakens || !weakens)
}

// Zones are those that count, and whether their change weakens.
func (t *Tally) Zones() iter.Seq2[edge.Scope, bool] {
	return func(yield func(edge.Scope, bool) bool) {
		for zone, c := range t.zones {
			if !yield(zone, c.weakens) {
				return
			}
		}
	}
}

// Len is how many zones count.
func (t *Tally) Len() int { return len(t.zones) }

// beside returns how many of the zones count that a rule selects, but for those of
// the plan, and of how many zones shares are shares.
func (t *Tally) beside(rule Rule, plan map[edge.Scope]bool, weakening bool) (before, base int) {
	i, of := placeOf(t.rules, rule), t.all
	if weakening {
		of = t.weaken
	}
	if i >= 0 {
		before = of[i]
	}
	for zone := range plan {
		if c, counts := t.zones[zone]; counts && (c.weakens || !weakening) && c.by.by(i) {
			before--
		}
	}
	return before, t.facts.base(rule)
}
