package diff

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// A memory changes no plan: however declaration, platform, managed ruleset and
// record change from run to run, a plan with it is the plan without.
func TestMemoryChangesNoPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var memory *Memory
		in := Input{State: testState(genDecided(t)), Live: testLive(testExecute(genOverrides(t)))}
		for range rapid.IntRange(2, 6).Draw(t, "runs") {
			memory = memory.Renew()
			in.Memory = nil
			want := Make(in)
			in.Memory = memory
			got := Make(in)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("with a memory\n%+v\nwithout\n%+v", got, want)
			}
			in = genNext(t, in, want)
		}
	})
}

// genNext is the world at the next run, in which mostly nothing has changed.
func genNext(t *rapid.T, in Input, plan Plan) Input {
	switch rapid.SampledFrom([]string{"nothing", "applied", "declaration", "live", "record", "managed"}).Draw(t, "what changes") {
	case "applied":
		if len(plan.Changes) == 1 && plan.Changes[0].Request != nil {
			rule := replaced(in.Live.EntryPoints[testZone].Value.Rules[0], plan.Changes[0].Request.Body)
			in.Live.EntryPoints = testLive(rule).EntryPoints
			in.Applied = Applied{plan.Changes[0].ID(): plan.Changes[0].Target.Owned}
		}
	case "declaration":
		in.State = testState(genDecided(t))
	case "live":
		in.Live.EntryPoints = testLive(testExecute(genOverrides(t))).EntryPoints
	case "record":
		in.Applied = genApplied(t)
	case "managed":
		managed := testManaged()
		managed.Rules = managed.Rules[:rapid.IntRange(1, len(managed.Rules)).Draw(t, "rules")]
		in.Live.Accounts = testLive().Accounts
		in.Live.Accounts[testAccount].Managed[testCore] = Observed[edge.Ruleset]{Value: managed}
	}
	return in
}

// What a memory holds is taken from it: writing to what was planned, which
// nobody may, is not noticed. A memory that was renewed for a plan of everything
// lets go of what that plan did not meet.
func TestMemoryIsUsed(t *testing.T) {
	d := enabledDeployment()
	in := Input{State: testState(d), Live: testLive(testExecute(nil)), Memory: (*Memory)(nil).Renew()}
	makes := func(changes int) {
		t.Helper()
		if plan := Make(in); len(plan.Changes) != changes {
			t.Fatalf("%d changes, want %d", len(plan.Changes), changes)
		}
	}
	makes(0)
	in.Live.EntryPoints[testZone].Value.Rules[0].Enabled = ptr(false)
	makes(0)
	for range 2 {
		in.Memory = in.Memory.Renew()
		makes(0)
	}
	in.Memory = in.Memory.Renew()
	Make(Input{State: desired.State{}, Memory: in.Memory})
	in.Memory = in.Memory.Renew()
	makes(1)
}

// A record of what was applied that has changed makes the same declaration and
// the same live rule another case: what was ours goes, also under "keep".
func TestMemoryHeedsTheRecord(t *testing.T) {
	d := enabledDeployment()
	d.Unmanaged = declared(11, desired.Keep)
	live := testExecute(&edge.Overrides{Categories: []edge.CategoryOverride{
		{Category: "sqli", Enabled: ptr(false)}, {Category: "xss", Enabled: ptr(false)},
	}})
	in := Input{State: testState(d), Live: testLive(live), Memory: (*Memory)(nil).Renew()}
	if plan := Make(in); len(plan.Settled) != 1 {
		t.Fatalf("not settled: %+v", plan)
	}
	in.Applied = Applied{{testZone, testCore}: {categoryMember("sqli", "enabled")}}
	mustChange(t, Make(in))
}
