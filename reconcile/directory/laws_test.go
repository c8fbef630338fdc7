package directory

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

var words = []string{"a.example", "b.example", "c.example", "B.example"}

// anyState declares zones by name, by id and by both.
func anyState(t *rapid.T) desired.State {
	var state desired.State
	for i, id := range []edge.AccountID{prod, staging} {
		a := desired.Account{Key: string(rune('p' + i)), ID: id, ByName: rapid.Bool().Draw(t, "account by name")}
		if a.ByName {
			a.ID, a.Name = "", []string{"Production", "Staging"}[i]
		}
		for j := range rapid.IntRange(0, 3).Draw(t, "declared") {
			z := desired.Zone{Key: string(rune('x' + j)), ByName: rapid.Bool().Draw(t, "by name"), Name: rapid.SampledFrom(words).Draw(t, "name")}
			if !z.ByName {
				z.Scope = edge.ZoneScope(zoneID(10*i + j))
			}
			a.Zones = append(a.Zones, z)
		}
		state.Accounts = append(state.Accounts, a)
	}
	return state
}

// Whatever the platform has, and does in between: what is resolved is resolved the same
// again; no two zones have one id; a declared id stays; a zone that may be worked on has
// the name under which it is declared, as the platform said last; and one that may be
// written has it now.
func TestLawsOfResolving(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newScene()
		s.Memory = &memory{}
		state := anyState(t)
		resolved := s.Resolve(state)
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			s.p.zones = nil
			for n := range 14 {
				if rapid.Bool().Draw(t, "there") {
					s.p.zones = append(s.p.zones, live([]edge.AccountID{prod, staging}[n/10], n, rapid.SampledFrom(words).Draw(t, "called")))
				}
			}
			s.p.err = rapid.SampledFrom([]error{nil, nil, nil, edge.ErrUnavailable, edge.ErrForbidden}).Draw(t, "fails")
			s.clock.pass(rapid.SampledFrom([]time.Duration{time.Second, 2 * time.Minute, 7 * time.Hour}).Draw(t, "later"))
			switch rapid.IntRange(0, 3).Draw(t, "do") {
			case 0:
				state = anyState(t)
				resolved = s.Resolve(state)
			case 1:
				s.Names = New(s.Config) // another process
				must.Do(t, s.Recall(t.Context()))
			case 2:
				for a, z := range resolved.EachZone() {
					s.Doubt(a, z)
				}
			}
			s.Look(t.Context(), resolved)
			resolved = s.Resolve(resolved)
			s.hold(t, state, resolved)
		}
	})
}

// hold checks the laws.
func (s scene) hold(t *rapid.T, state, resolved desired.State) {
	if !SameIDs(resolved, s.Resolve(resolved)) {
		t.Fatalf("resolved again: %+v, before %+v", s.Resolve(resolved), resolved)
	}
	called := map[edge.Scope]string{}
	for _, z := range s.p.zones {
		called[edge.ZoneScope(z.ID)] = desired.FoldName(z.Name)
	}
	taken := map[edge.Scope]bool{}
	for i, a := range resolved.Accounts {
		for j, z := range a.Zones {
			if taken[z.Scope] {
				t.Fatalf("two zones have the id %s", z.Scope)
			}
			taken[z.Scope] = true
			if before := state.Accounts[i].Zones[j]; !before.ByName && before.Scope != z.Scope {
				t.Fatalf("a declared id became %s", z.Scope)
			}
			if z.Scope.ID == "" || desired.Sought(z.Scope.ID) && s.Check(a, z) == nil {
				t.Fatalf("zone %+v without an id may be worked on", z)
			}
			before := s.p.err
			if err := s.Confirm(t.Context(), a, z); err == nil && z.ByName && s.asksAnew(a, z) && called[z.Scope] != desired.FoldName(z.Name) {
				t.Fatalf("zone %+v may be written, which is named %q", z, called[z.Scope])
			}
			s.p.err = before
		}
	}
}

// asksAnew reports whether what is known of a zone is of this moment.
func (s scene) asksAnew(a desired.Account, z desired.Zone) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.facts.zonesOf(a.ID).ids[z.Scope.String()].at.Equal(s.clock.now)
}
