package zone

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// The changes of each zone are those that are to be applied, in the order of the plan, whether
// or not they stand together in it. The plan stays as it is.
func TestByZone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p diff.Plan
		var order []edge.Scope
		want := map[edge.Scope][]string{}
		for i, n := range rapid.SliceOfN(rapid.IntRange(1, 4), 0, 12).Draw(t, "zones") {
			c := difftest.FleetChange(n, diff.Weakens)
			c.Deployment = string(rune('a' + i))
			if rapid.Bool().Draw(t, "refused") {
				c.Refused = &diff.Refusal{}
			} else {
				if want[c.Scope] == nil {
					order = append(order, c.Scope)
				}
				want[c.Scope] = append(want[c.Scope], c.Deployment)
			}
			p.Changes = append(p.Changes, c)
		}
		before := slices.Clone(p.Changes)
		var got []edge.Scope
		for _, changes := range ByZone(p) {
			var names []string
			for _, c := range changes {
				names = append(names, c.Deployment)
			}
			if id := changes[0].Scope; !slices.Equal(names, want[id]) {
				t.Fatalf("changes %v of zone %s, want %v", names, id, want[id])
			}
			got = append(got, changes[0].Scope)
		}
		if !slices.Equal(got, order) {
			t.Fatalf("zones %v, want %v", got, order)
		}
		if d := cmp.Diff(before, p.Changes, cmpopts.IgnoreFields(diff.Change{}, "Operation")); d != "" {
			t.Fatal(d)
		}
	})
}

// What an entry point was is dropped once its zone was worked on, and not that the platform has
// answered for it.
func TestManyWriterDropsWhatItHasWorkedOn(t *testing.T) {
	f := newFixture(t, 2)
	state := stateOf(declare(1, core("xss")), declare(2, core()))
	many := f.many()
	seen, err := many.Read(t.Context(), state)
	must.Do(t, err)
	worker := *f.Worker
	task := func(id edge.Scope) Task {
		i := slices.IndexFunc(state.Accounts[0].Zones, func(z desired.Zone) bool { return z.Scope == id })
		return Task{State: Of(state, 0, i)}
	}
	first := task(mem.FleetZone(1))
	plan := worker.Plan(first, seen.sightOf(first.Account().ID, first.Zone(), nil))
	writer := ManyWriter{Lanes: many.Lanes, Gate: f.gate, Now: f.clock.Now}
	writer.Lanes.All[0].Writer = f.recorder
	results, err := writer.Apply(t.Context(), seen, ByZone(plan), task)
	must.Do(t, err)
	if len(results) != 1 || results[0].Outcome != reconcile.Converged {
		t.Fatalf("results %+v", results)
	}
	for i, kept := range []bool{false, true} {
		id := mem.FleetZone(i + 1)
		if got := seen.Live.EntryPoints[id.At(edge.PhaseFirewallManaged)].Value.ID != ""; got != kept {
			t.Errorf("zone %d: what its entry point was is kept: %v, want %v", i+1, got, kept)
		}
		if z := task(id).Zone(); !seen.Read(z, nil) {
			t.Errorf("zone %d counts as not read", i+1)
		}
	}
}

// Zones that are written at once share what was seen of their account: none writes to it.
func TestManyWriterLeavesAloneWhatZonesShare(t *testing.T) {
	f := fixtureOn(t, mem.Config{Seed: mem.Fleet(2), Profile: mem.Extended})
	next := f.managed(mem.CoreRuleset)
	next.Rules = next.Rules[1:]
	must.Do(t, f.Platform.SetRuleset(mem.Account, next))
	pinned := core("xss")
	pinned.Version = &desired.Declared[string]{Value: "1"}
	state := stateOf(declare(1, pinned), declare(2, pinned))
	many := f.many()
	many.Lanes.All[0].Writer = f.recorder
	seen, err := many.Read(t.Context(), state)
	must.Do(t, err)
	task := func(id edge.Scope) Task {
		return Task{State: Of(state, 0, slices.IndexFunc(state.Accounts[0].Zones, func(z desired.Zone) bool { return z.Scope == id }))}
	}
	var changes [][]diff.Change
	for i := range 2 {
		first := task(mem.FleetZone(i + 1))
		changes = append(changes, ByZone(f.Plan(first, seen.sightOf(first.Account().ID, first.Zone(), nil)))...)
	}
	place := func() *edge.Rule {
		known, read := seen.Live.Accounts[mem.Account].Versions[diff.RulesetVersion{Ruleset: mem.CoreRuleset, Version: "1"}]
		if !read || known.Err != nil {
			t.Fatalf("the version that is declared was not seen: %+v", seen.Live.Accounts[mem.Account].Versions)
		}
		return &known.Value.Rules[0]
	}
	before := place()
	writer := ManyWriter{Lanes: many.Lanes, Gate: f.gate, Now: f.clock.Now}
	results, err := writer.Apply(t.Context(), seen, changes, task)
	must.Do(t, err)
	if len(results) != 2 || results[0].Outcome != reconcile.Converged || results[1].Outcome != reconcile.Converged {
		t.Fatalf("results %+v", results)
	}
	if place() != before {
		t.Error("a zone has written to what all zones of the account share")
	}

	shared := seen.Live.Accounts[mem.Account]
	clear(shared.Versions) // as where it could not be read
	own := shared
	must.Do(t, f.Accounts.Versions(t.Context(), state.Accounts[0], state.Accounts[0].Zones[0], &own, f.Entry(1)))
	if len(shared.Versions) != 0 || len(own.Versions) != 1 {
		t.Errorf("a zone has found %+v, and others have now %+v", own.Versions, shared.Versions)
	}
}
