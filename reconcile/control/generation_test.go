package control

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
)

// drawn is a state after another one: some of its zones are replaced by others with the same or
// another declaration, and now and then a zone, a ruleset, a token or an account is another one.
func drawn(random *rand.Rand, before desired.State, n int) desired.State {
	s := before
	s.Commit, s.Accounts = fmt.Sprint("c", n), slices.Clone(before.Accounts)
	for range random.IntN(4) {
		a := &s.Accounts[random.IntN(len(s.Accounts))]
		if len(a.Zones) == 0 {
			continue
		}
		a.Zones = slices.Clone(a.Zones)
		z := &a.Zones[random.IntN(len(a.Zones))]
		z.Deployments = slices.Clone(z.Deployments)
		switch random.IntN(9) {
		case 0:
			z.Labels = map[string]string{"tier": fmt.Sprint(random.IntN(2))}
		case 1:
			z.Labels = nil
		case 2:
			z.Deployments = nil
		case 3:
			z.Deployments = []desired.Deployment{{Ruleset: "core", Paranoia: &desired.Declared[int]{Value: random.IntN(4)}}}
		case 4:
			z.Deployments = append(z.Deployments, desired.Deployment{Ruleset: "owasp", Prune: random.IntN(2) == 0})
		case 5:
			z.Others = []desired.Other{{Kind: "exception", Key: fmt.Sprint(random.IntN(2)), Prune: random.IntN(2) == 0}}
		case 6:
			z.Others = nil
		case 7: // only where it is declared is another place
			z.Origin.Line++
		}
	}
	for part := range 1 + random.IntN(2)*random.IntN(4) {
		a := &s.Accounts[random.IntN(len(s.Accounts))]
		switch i := random.IntN(len(a.Zones) + 1); random.IntN(24) {
		case 0:
			a.Zones = slices.Insert(slices.Clone(a.Zones), i, desired.Zone{Key: fmt.Sprint("new", n, "-", part), Scope: edge.ZoneScope(edge.ZoneID(fmt.Sprint("new", n, "-", part)))})
		case 1:
			if len(a.Zones) > 1 {
				a.Zones = slices.Delete(slices.Clone(a.Zones), 0, 1)
			}
		case 2:
			a.Rulesets = []desired.RulesetRef{{Key: "core", Name: fmt.Sprint("Core", n%2)}}
		case 3:
			s.Tokens = []desired.Token{{Key: fmt.Sprint("t", n%2)}}
		case 4:
			a.ID = edge.AccountID(fmt.Sprint("account", n, "-", part))
		case 5, 6, 7, 8:
			if i == len(a.Zones) {
				break
			}
			a.Zones = slices.Clone(a.Zones)
			switch z := &a.Zones[i]; random.IntN(4) {
			case 0:
				z.Key = fmt.Sprint("renamed", n, "-", part)
			case 1:
				z.Scope = edge.ZoneScope(edge.ZoneID(fmt.Sprint("other", n, "-", part)))
			case 2:
				z.Name, z.ByName, z.Scope = "name-"+z.Key, true, edge.ZoneScope(desired.SoughtZone(a.Key, z.Key))
			case 3:
				z.ByName, z.Scope = z.Name != "", edge.ZoneScope(edge.ZoneID(fmt.Sprint("found", n, "-", part)))
			}
		case 9: // to another account
			if to := &s.Accounts[random.IntN(len(s.Accounts))]; i < len(a.Zones) && len(a.Zones) > 1 && to != a {
				z := a.Zones[i]
				z.Key = fmt.Sprint("moved", n, "-", part)
				a.Zones = slices.Delete(slices.Clone(a.Zones), i, i+1)
				to.Zones = append(slices.Clone(to.Zones), z)
			}
		}
	}
	return s
}

func firstDrawn() desired.State {
	s := desired.State{Commit: "c"}
	for a := range 3 {
		account := desired.Account{Key: fmt.Sprint("a", a), ID: edge.AccountID(fmt.Sprint("a", a)), Rulesets: []desired.RulesetRef{{Key: "core", Name: "Core"}}}
		for z := range 8 {
			account.Zones = append(account.Zones, desired.Zone{
				Key: fmt.Sprint("z", z), Scope: edge.ZoneScope(edge.ZoneID(fmt.Sprint(a, "-", z))), Deployments: []desired.Deployment{{Ruleset: "core"}},
			})
		}
		s.Accounts = append(s.Accounts, account)
	}
	return s
}

// A generation that shares with the one before is the one that is made of its state alone, and
// what differs is what comparing all zones finds.
func TestGenerationsFollow(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	g := newGeneration(firstDrawn(), nil)
	steps := 0
	for n := range 3000 {
		state := drawn(random, g.State, n)
		next, alone := newGeneration(state, g), newGeneration(state, nil)
		if next.size != alone.size || !reflect.DeepEqual(next.places, alone.places) || !reflect.DeepEqual(next.labels, alone.labels) ||
			!reflect.DeepEqual(next.prints, alone.prints) {
			t.Fatalf("generation %d is\n%+v, want\n%+v", n, next, alone)
		}
		if step := next.after(g); step != nil {
			steps++
			wantStep(t, g, next, step)
		}
		if next.after(alone) != nil || alone.after(g) != nil {
			t.Fatal("a generation comes out of one that it was not made from")
		}
		g = next
	}
	if steps < 500 {
		t.Errorf("%d of 3000 generations came out of the one before zone by zone", steps)
	}
}

func wantStep(t *testing.T, before, next *Generation, step *step) {
	t.Helper()
	was, is := before.State, next.State
	whole := desired.Difference{Was: desired.Differ(was, desired.State{}).Was, Is: desired.Differ(desired.State{}, is).Is}
	if changed := diff.Changed(was, is, whole); !reflect.DeepEqual(step.changed, changed) {
		t.Fatalf("changed are %v, want %v", step.changed, changed)
	}
	if got, want := guard.EarlierOf(was, is, step.Difference), guard.EarlierOf(was, is, whole); !reflect.DeepEqual(got, want) {
		t.Fatalf("earlier is %v, want %v", got, want)
	}
	known := guard.Known{Exists: func(id edge.Scope) bool { return len(id.ID)%2 == 0 }}
	if got, want := guard.LossOf(was, is, step.Difference, known), guard.LossOf(was, is, whole, known); !reflect.DeepEqual(got, want) {
		t.Fatalf("the loss is %+v, want %+v", got, want)
	}
	var gone []edge.Scope
	for id := range before.Zones() {
		if !next.Declares(id) {
			gone = append(gone, id)
		}
	}
	if !slices.Equal(step.gone, gone) {
		t.Fatalf("gone are %v, want %v", step.gone, gone)
	}
	same := slices.EqualFunc(was.Accounts, is.Accounts, func(a, b desired.Account) bool {
		return a.ID == b.ID && desired.SameRulesets(a.Rulesets, b.Rulesets) && slices.EqualFunc(a.Zones, b.Zones, func(a, b desired.Zone) bool {
			return a.Key == b.Key && a.Scope == b.Scope
		})
	})
	if step.Same != same {
		t.Fatalf("it has the same zones: %t, want %t", step.Same, same)
	}
}

// One changed zone of any fleet is one comparison and one fingerprint, and takes as many allocations,
// but for a few: the runtime makes some of its own, more of them with the race detector.
func TestGenerationCostsWhatChanges(t *testing.T) {
	var smallest float64
	for _, n := range []int{100, 1000, 10_000} {
		first, after := oneOtherZone(n)
		g := newGeneration(first, nil)
		var next *Generation
		allocs := testing.AllocsPerRun(10, func() { next = newGeneration(after, g) })
		if step := next.after(g); step == nil || len(step.Is) != 1 || !step.Same || len(step.changed) != 1 {
			t.Fatalf("one changed zone of %d is compared as %+v", n, step)
		}
		if smallest == 0 {
			smallest = allocs
		}
		if allocs > smallest+10 {
			t.Errorf("one changed zone of %d costs %.0f allocations, and one of 100 costs %.0f", n, allocs, smallest)
		}
	}
}
