package rule

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawn are rules in a phase, with orders that can be kept more often than not.
func drawn(t *rapid.T) []placed {
	n := rapid.IntRange(0, 9).Draw(t, "rules")
	added := rapid.IntRange(0, 3).Draw(t, "added")
	rules := make([]placed, n+added)
	for i := range rules {
		r := placed{ref: fmt.Sprint("r", i), live: i < n}
		r.foreign = r.live && rapid.Bool().Draw(t, "foreign")
		if !r.foreign {
			other := func() string { return fmt.Sprint("r", rapid.IntRange(0, len(rules)-1).Draw(t, "other")) }
			switch rapid.IntRange(0, 6).Draw(t, "order") {
			case 0:
				r.order.First = true
			case 1:
				r.order.Last = true
			case 2:
				r.order.Before = other()
			case 3:
				r.order.After = other()
			}
		}
		rules[i] = r
	}
	return rules
}

// broken says which rule does not stand as it says in an order of refs.
func broken(rules []placed, refs []string) string {
	at := func(ref string) int { return slices.Index(refs, ref) }
	for _, r := range rules {
		if r.order.Before == r.ref || r.order.After == r.ref {
			return r.ref + " names itself"
		}
		for _, other := range rules {
			if other.ref == r.ref {
				continue
			}
			switch o := r.order; {
			case o.First && !other.order.First && at(r.ref) > at(other.ref),
				o.Last && !other.order.Last && at(r.ref) < at(other.ref),
				o.Before == other.ref && at(r.ref) > at(other.ref),
				o.After == other.ref && at(r.ref) < at(other.ref):
				return fmt.Sprintf("%s %+v: %v", r.ref, o, refs)
			}
		}
	}
	return ""
}

// possible tells whether any order of the rules is as they say, with those of others in theirs.
func possible(rules []placed, order []string) bool {
	if len(order) == len(rules) {
		return broken(rules, order) == ""
	}
	for i, r := range rules {
		earlier := slices.ContainsFunc(rules[:i], func(o placed) bool { return o.foreign && !slices.Contains(order, o.ref) })
		if !slices.Contains(order, r.ref) && !(r.foreign && earlier) && possible(rules, append(slices.Clone(order), r.ref)) {
			return true
		}
	}
	return false
}

// What is arranged stands as it says, rules of others do not move, those that stay keep their
// order, and what stands as it says does not move at all.
func TestArrangeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := drawn(t)
		target, stay, err := arrange(rules)
		if err != nil {
			if len(rules) <= 6 && !strings.Contains(err.Error(), "contradict") {
				t.Fatal(err)
			}
			if len(rules) <= 6 && possible(rules, nil) {
				t.Fatalf("%v, but there is one: %+v", err, rules)
			}
			return
		}
		var refs, stayed []string
		var live []string
		for _, i := range target {
			refs = append(refs, rules[i].ref)
			if stay[i] {
				stayed = append(stayed, rules[i].ref)
			}
		}
		if what := broken(rules, refs); what != "" {
			t.Fatal(what)
		}
		var inOrder []string
		for i, r := range rules {
			if r.live {
				live = append(live, r.ref)
			}
			if stay[i] {
				inOrder = append(inOrder, r.ref)
			}
			if r.foreign && !stay[i] || !r.live && stay[i] {
				t.Fatalf("%s stays: %t", r.ref, stay[i])
			}
		}
		if !slices.Equal(stayed, inOrder) || len(target) != len(rules) {
			t.Fatalf("%v stay, in the order %v", inOrder, stayed)
		}
		if live := rules[:len(live)]; broken(live, refsOf(live)) == "" && len(live) == len(rules) && len(inOrder) != len(rules) {
			t.Fatalf("%v stand as they say, and only %v stay", refsOf(live), inOrder)
		}
		// Once more: nothing moves.
		again := make([]placed, len(target))
		for n, i := range target {
			again[n] = rules[i]
			again[n].live = true
		}
		if second, stay, err := arrange(again); err != nil || slices.Contains(stay, false) || !slices.IsSorted(second) {
			t.Fatalf("again %v %v %v", second, stay, err)
		}
	})
}

func refsOf(rules []placed) (refs []string) {
	for _, r := range rules {
		refs = append(refs, r.ref)
	}
	return refs
}

// A rule comes directly in front of the one that it names, or directly behind.
func TestARuleComesBesideTheOneItNames(t *testing.T) {
	live := func(ref string) placed { return placed{ref: ref, live: true, foreign: true} }
	for want, added := range map[string]placed{
		"n a b c": {ref: "n", order: order{First: true}},
		"a n b c": {ref: "n", order: order{Before: "b"}},
		"a b n c": {ref: "n", order: order{After: "b"}},
		"a b c n": {ref: "n"},
	} {
		rules := []placed{live("a"), live("b"), live("c"), added}
		target, _, err := arrange(rules)
		var refs []string
		for _, i := range target {
			refs = append(refs, rules[i].ref)
		}
		if got := strings.Join(refs, " "); err != nil || got != want {
			t.Errorf("%+v: %s %v", added.order, got, err)
		}
	}
}

// A rule that says nothing stays where it is: the one that names it moves. Of two that both say
// something it is the one behind.
func TestWhoMoves(t *testing.T) {
	after, before := func(ref string) order { return order{After: ref} }, func(ref string) order { return order{Before: ref} }
	for want, rules := range map[string][]placed{
		"a":   {{ref: "a", order: after("b")}, {ref: "b"}},
		"b":   {{ref: "a"}, {ref: "b", order: before("a")}},
		"c d": {{ref: "a"}, {ref: "b"}, {ref: "c", order: before("a")}, {ref: "d", order: before("a")}},
		"y":   {{ref: "x", order: order{Last: true}}, {ref: "y", order: order{First: true}}},
		"r s": {{ref: "p", order: after("r")}, {ref: "q", order: after("r")}, {ref: "r", order: before("z")}, {ref: "s", order: before("p")}, {ref: "z", foreign: true}},
		"d":   {{ref: "a", order: order{Last: true}}, {ref: "b", order: order{Last: true}}, {ref: "c", order: order{Last: true}}, {ref: "d", order: before("b")}},
	} {
		for i := range rules {
			rules[i].live = true
		}
		_, stay, err := arrange(rules)
		var moved []string
		for i, r := range rules {
			if !stay[i] {
				moved = append(moved, r.ref)
			}
		}
		if got := strings.Join(moved, " "); err != nil || got != want {
			t.Errorf("%+v: %s moves, want %s; %v", rules, got, want, err)
		}
	}
}

// As many rules stay as can, of those that say nothing first; and where some of those that move
// have moved, the others are to do what they were to do.
func TestWhatIsLeftOfAnArrangementIsItsRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := drawn(t)
		target, stay, err := arrange(rules)
		if err != nil {
			t.Skip("the rules contradict each other")
		}
		front, _ := precedence(rules)
		most(t, rules, stay, front)
		var movers []int // in their turn
		for _, i := range target {
			if !stay[i] {
				movers = append(movers, i)
			}
		}
		if len(movers) == 0 {
			return
		}
		one := rapid.SampledFrom(movers).Draw(t, "one")
		now := inPart(rules, target, stay, one)
		_, stays, err := arrange(now)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range now {
			was := slices.IndexFunc(rules, func(o placed) bool { return o.ref == r.ref })
			if want := stay[was] || was == one; stays[i] != want {
				t.Fatalf("%s moves: %t, want %t, after %s did\n%+v\n%+v", r.ref, !stays[i], !want, rules[one].ref, rules, now)
			}
		}
	})
}

// inPart are the rules after one of them has moved or was added, as a plan says it: in front of the
// next one that stays.
func inPart(rules []placed, target []int, stay []bool, one int) (now []placed) {
	at := slices.Index(target, one)
	next := slices.IndexFunc(target[at+1:], func(i int) bool { return stay[i] })
	moved := rules[one]
	moved.live = true
	var added []placed
	for i, r := range rules {
		if next >= 0 && i == target[at+1+next] {
			now = append(now, moved)
		}
		switch {
		case i == one:
		case r.live:
			now = append(now, r)
		default:
			added = append(added, r)
		}
	}
	if next < 0 {
		now = append(now, moved)
	}
	return append(now, added...)
}

// most tries other sets of live rules that could stay.
func most(t *rapid.T, rules []placed, stay []bool, front relation) {
	var ours []int
	silent, all := 0, 0 // that stay
	for i, r := range rules {
		if r.live && !r.foreign {
			ours = append(ours, i)
			if stay[i] {
				all++
				if r.order == (order{}) {
					silent++
				}
			}
		}
	}
	for set := range 1 << min(len(ours), 6) {
		other := slices.Clone(stay)
		nSilent, n := 0, 0
		for b, i := range ours {
			if b < 6 {
				other[i] = set&(1<<b) != 0
			}
			if other[i] {
				n++
				if rules[i].order == (order{}) {
					nSilent++
				}
			}
		}
		if nSilent < silent || nSilent == silent && n <= all {
			continue
		}
		fits := true
		for i := range rules {
			for j := range i {
				fits = fits && !(other[i] && other[j] && front.has(i, j))
			}
		}
		if fits {
			t.Fatalf("%v stay, and %v could: %+v", stay, other, rules)
		}
	}
}
