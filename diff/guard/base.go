package guard

import "github.com/seawall-dev/seawall/edge"

// Base has the zones that the shares of limits are shares of: those that were there before
// what is judged, and exist on the platform. Who writes a commit can add any number of
// zones and labels, and must not widen a limit by it. It keeps a count for each rule.
//
// It is not safe for concurrent use. Make it with [NewBase].
type Base struct {
	rules []Rule
	zones map[edge.Scope]bool
	count map[string]int // by rule
}

// NewBase returns an empty one for rules, with room for so many zones.
func NewBase(rules []Rule, zones int) *Base {
	return &Base{rules: rules, zones: make(map[edge.Scope]bool, zones), count: map[string]int{}}
}

// Add has a zone count for the rules whose labels select it by each of these labels: those
// that it had before, and those with which it was proved. A zone counts once, as it was when
// it was added first.
func (b *Base) Add(zone edge.Scope, labels ...Labels) {
	if b.zones[zone] {
		return
	}
	b.zones[zone] = true
	_, account := zone.Account()
	for _, rule := range b.rules {
		if account || selectsAll(rule.Labels, labels) {
			b.count[rule.Name]++
		}
	}
}

// Len is how many zones count.
func (b *Base) Len() int { return len(b.zones) }

func selectsAll(l Labels, all []Labels) bool {
	for _, labels := range all {
		if !l.Selects(labels) {
			return false
		}
	}
	return true
}

// base is of how many zones the shares of a rule are shares.
func (f Facts) base(rule Rule) int {
	if f.Base != nil {
		return f.Base.count[rule.Name]
	}
	return f.selected(rule.Labels)
}
