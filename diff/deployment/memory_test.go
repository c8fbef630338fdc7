package deployment

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// A memory changes no plan: however declaration, platform, managed ruleset and
// record change from run to run, a plan with it is the plan without.
func TestMemoryChangesNoPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var memory *diff.Memory
		in := difftest.Scene{State: difftest.State(genDecided(t)), Live: difftest.Live(difftest.Execute(difftest.GenOverrides(t)))}
		for range rapid.IntRange(2, 6).Draw(t, "runs") {
			memory = memory.Renew()
			want := planScene(in)
			got := planWith(in, memory)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("with a memory\n%+v\nwithout\n%+v", got, want)
			}
			in = genNext(t, in, want)
		}
	})
}

// genNext is the world at the next run, in which mostly nothing has changed.
func genNext(t *rapid.T, in difftest.Scene, plan diff.Plan) difftest.Scene {
	switch rapid.SampledFrom([]string{"nothing", "applied", "declaration", "live", "record", "managed"}).Draw(t, "what changes") {
	case "applied":
		if len(plan.Changes) == 1 && plan.Changes[0].Sends() {
			rule := replaced(in.Live.EntryPoints[difftest.Zone.At(edge.PhaseFirewallManaged)].Value.Rules[0], difftest.UpdateOf(plan.Changes[0]).Body)
			in.Live.EntryPoints = difftest.Live(rule).EntryPoints
			in.Applied = diff.Applied{plan.Changes[0].ID(): plan.Changes[0].Do().Owned()}
		}
	case "declaration":
		in.State = difftest.State(genDecided(t))
	case "live":
		in.Live.EntryPoints = difftest.Live(difftest.Execute(difftest.GenOverrides(t))).EntryPoints
	case "record":
		in.Applied = genApplied(t)
	case "managed":
		managed := difftest.Managed()
		managed.Rules = managed.Rules[:rapid.IntRange(1, len(managed.Rules)).Draw(t, "rules")]
		in.Live.Accounts = difftest.Live().Accounts
		in.Live.Accounts[difftest.Account].Managed[difftest.Core] = diff.Observed[edge.Ruleset]{Value: managed}
	}
	return in
}

// What a memory holds is taken from it: writing to what was planned, which
// nobody may, is not noticed. A memory that was renewed for a plan of everything
// lets go of what that plan did not meet.
func TestMemoryIsUsed(t *testing.T) {
	d := difftest.EnabledDeployment()
	in, memory := difftest.Scene{State: difftest.State(d), Live: difftest.Live(difftest.Execute(nil))}, (*diff.Memory)(nil).Renew()
	makes := func(changes int) {
		t.Helper()
		if plan := planWith(in, memory); len(plan.Changes) != changes {
			t.Fatalf("%d changes, want %d", len(plan.Changes), changes)
		}
	}
	makes(0)
	in.Live.EntryPoints[difftest.Zone.At(edge.PhaseFirewallManaged)].Value.Rules[0].Enabled = new(false)
	makes(0)
	for range 2 {
		memory = memory.Renew()
		makes(0)
	}
	memory = memory.Renew()
	planWith(difftest.Scene{}, memory)
	memory = memory.Renew()
	makes(1)
}

// A record of what was applied that has changed makes the same declaration and
// the same live rule another case: what was ours goes, also under "keep".
func TestMemoryHeedsTheRecord(t *testing.T) {
	d := difftest.EnabledDeployment()
	d.Unmanaged = difftest.Declared(11, desired.Keep)
	live := difftest.Execute(&edge.Overrides{Categories: []edge.CategoryOverride{
		{Category: "sqli", Enabled: new(false)}, {Category: "xss", Enabled: new(false)},
	}})
	in, memory := difftest.Scene{State: difftest.State(d), Live: difftest.Live(live)}, (*diff.Memory)(nil).Renew()
	if plan := planWith(in, memory); len(plan.Settled) != 1 {
		t.Fatalf("not settled: %+v", plan)
	}
	in.Applied = diff.Applied{{Scope: difftest.Zone, Ruleset: difftest.Core}: {categoryMember("sqli", "enabled")}}
	difftest.MustChange(t, planWith(in, memory))
}
