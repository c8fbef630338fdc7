package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

func TestSyncReadsWhatChanged(t *testing.T) {
	w := newWorld(t, 4)
	w.repo.push("c1", zones(4, core("xss"))...)
	report, _ := w.converge(syncing)
	if !report.Full {
		t.Error("a first run is about everything")
	}
	report, calls := w.converge(syncing)
	w.wantCalls(calls)
	if report.Full || report.Plan.Summary.Zones != 0 {
		t.Errorf("full %v, summary %+v", report.Full, report.Plan.Summary)
	}
	w.repo.push("c2", zone(1, core("xss")), zone(2, core("php")), zone(4, core("xss")))
	_, calls = w.converge(syncing)
	w.wantCalls(calls, "list", "read 2", "write 2", "read 2")
	w.repo.push("c3", zone(1, core("xss")), zone(2, core("php")), zone(3, core("xss")), zone(4, core("xss")))
	_, calls = w.converge(syncing)
	w.wantCalls(calls, "list", "read 3")
	report, calls = w.converge(sweep)
	w.wantCalls(calls, "list", "read 1", "read 2", "read 3", "read 4")
	if !report.Full {
		t.Error("a sweep is about everything")
	}
}

func TestOnly(t *testing.T) {
	w := newWorld(t, 3)
	w.repo.push("c1", zones(3, core("xss"))...)
	c := w.repo.commits["c1"]
	c.state.Tokens = []desired.Token{{Key: "ci"}, {Key: "cd"}}
	w.repo.commits["c1"] = c

	for name, c := range map[string]struct {
		zones, tokens []string
		calls         []string
		told          []string // tokens in the plan
	}{
		"a zone":      {[]string{zoneKey(2)}, nil, []string{"list", "managed core", "read 2"}, nil},
		"two zones":   {[]string{zoneKey(3), zoneKey(1)}, nil, []string{"list", "read 1", "read 3"}, nil},
		"a token":     {nil, []string{"cd"}, []string{}, []string{"cd"}},
		"one of each": {[]string{zoneKey(2)}, []string{"ci"}, []string{"list", "read 2"}, []string{"ci"}},
	} {
		t.Run(name, func(t *testing.T) {
			report, calls := w.run(Order{Trigger: TriggerManual, PlanOnly: true, Zones: c.zones, Tokens: c.tokens})
			calls = slices.DeleteFunc(calls, func(call string) bool { return call == "managed core" })
			w.wantCalls(calls, slices.DeleteFunc(c.calls, func(call string) bool { return call == "managed core" })...)
			var told []string
			for _, p := range report.Plan.Problems {
				told = append(told, p.Token)
			}
			if report.Err != nil || report.Full || !slices.Equal(told, c.told) {
				t.Errorf("error %v, full %v, tokens %v", report.Err, report.Full, told)
			}
		})
	}
	for want, order := range map[string]Order{
		"zone=nope":  {Zones: []string{zoneKey(1), "nope"}},
		"token=nope": {Tokens: []string{"ci", "nope"}},
	} {
		report, calls := w.run(order)
		w.wantCalls(calls)
		if report.Err == nil || !strings.Contains(report.Err.Error(), want) || report.Full {
			t.Errorf("error %v", report.Err)
		}
	}
	if report, calls := w.run(Order{PlanOnly: true, Zones: []string{}, Tokens: []string{}}); !report.Full || len(calls) < 4 {
		t.Error("an empty list of names is not everything")
	}
}

// A run over some zones does not hide from the next sync what else a commit
// changed.
func TestOnlyLeavesTheRestToDo(t *testing.T) {
	w := newWorld(t, 3)
	w.repo.push("c1", zones(3, core("xss"))...)
	w.converge(sweep)
	w.repo.push("c2", zones(3, core("php"))...)
	w.converge(Order{Trigger: TriggerManual, Zones: []string{zoneKey(2)}})
	report, _ := w.converge(syncing)
	wantOutcomes(t, report, "1 converged", "3 converged")
}

// tries makes syncs and returns the numbers of those that looked at the platform.
func tries(w *world, syncs int) []int {
	var tried []int
	for i := range syncs {
		if _, calls := w.run(syncing); len(calls) > 0 {
			tried = append(tried, i+1)
		}
	}
	return tried
}

func TestPendingZonesAreTriedLessAndLess(t *testing.T) {
	w := newWorld(t, 3)
	w.repo.push("c1", zones(3, core("xss"))...)
	w.tamper.read = failZone(2, errForbidden)
	report, _ := w.run(sweep)
	wantOutcomes(t, report, "1 converged", "3 converged")
	if d := cmp.Diff([]int{1, 3, 7, 15, 31, 63, 127, 191, 255}, tries(w, 260)); d != "" {
		t.Errorf("syncs that tried (-want +got):\n%s", d)
	}

	// What fails anew does not wait for what has failed for long.
	w.repo.push("c2", zone(1, core("xss")), zone(2, core("xss")), zone(3, core("php")))
	w.tamper.read = func(zone edge.ZoneID) error {
		if zone != mem.FleetZone(1) {
			return errDown
		}
		return nil
	}
	w.run(syncing)
	_, calls := w.run(syncing)
	w.wantCalls(calls, "list", "read 3")

	w.tamper.read = nil
	_, calls = w.converge(sweep)
	w.wantCalls(calls, "list", "read 1", "read 2", "read 3", "write 2", "read 2", "write 3", "read 3")
	if len(w.pending) != 0 {
		t.Errorf("pending %v", w.pending)
	}
	_, calls = w.run(syncing)
	w.wantCalls(calls)
}

func TestPendingForgetsZonesThatLeft(t *testing.T) {
	w := newWorld(t, 2)
	w.repo.push("c1", zones(2, core("xss"))...)
	w.tamper.read = failZone(2, errDown)
	w.run(sweep)
	if len(w.pending) != 1 {
		t.Fatalf("pending %v", w.pending)
	}
	w.repo.push("c2", zone(1, core("xss")))
	w.run(syncing)
	if len(w.pending) != 0 {
		t.Errorf("pending %v", w.pending)
	}
}

// Sweeps come by on their own time: they neither count as tries nor bring the
// next one nearer.
func TestSweepsLeaveTheGapsAlone(t *testing.T) {
	w := newWorld(t, 2)
	w.repo.push("c1", zones(2, core("xss"))...)
	w.tamper.read = failZone(1, errDown)
	for range 3 {
		w.run(sweep)
	}
	for i, want := range []bool{true, false, true, false, false, false, true} {
		if _, calls := w.run(syncing); (len(calls) > 0) != want {
			t.Errorf("sync %d: calls %v", i+1, calls)
		}
		w.run(sweep)
		w.run(Order{Trigger: TriggerManual, Zones: []string{zoneKey(2)}})
	}
}

func TestRunThatFailsBeforeItsZonesKeepsThemPending(t *testing.T) {
	w := newWorld(t, 2)
	w.repo.push("c1", zones(2, core("xss"))...)
	w.tamper.read = failZone(2, errDown)
	w.run(sweep)
	w.tamper.list = func(edge.AccountID) error { return errUnauthenticated }
	for range 3 {
		_, calls := w.run(syncing)
		w.wantCalls(calls, "list")
	}
	w.tamper.list, w.tamper.read = nil, nil
	report, _ := w.converge(syncing)
	wantOutcomes(t, report, "2 converged")
}

func TestTokensAreToldOncePerCommit(t *testing.T) {
	w := newWorld(t, 1)
	push := func(name string) {
		w.repo.push(name, zone(1, core("xss")))
		c := w.repo.commits[name]
		c.state.Tokens = []desired.Token{{Key: "ci"}}
		w.repo.commits[name] = c
	}
	push("c1")
	w.run(sweep)
	for i, want := range []int{0, 0, 1, 0} {
		if i == 2 {
			push("c2")
		}
		if report, _ := w.run(syncing); len(report.Plan.Problems) != want {
			t.Errorf("sync %d: %d problems", i, len(report.Plan.Problems))
		}
	}
}

// A fleet that comes and goes leaves nothing behind.
func TestNothingGrowsOverManyRuns(t *testing.T) {
	w := newWorld(t, 5)
	w.tamper.read = failZone(4, errDown)
	for i := range 50 {
		w.repo.push(fmt.Sprint("c", i), zone(1+i%2, core("xss")), zone(3+i%2, core("php")))
		w.run([]Order{syncing, sweep, manual}[i%3])
	}
	memory := w.recall()
	if w.newest != nil || len(w.rulesets) > 1 || len(w.pending) > 1 || len(memory.Applied) > 2 || len(memory.NonConvergent) != 0 {
		t.Errorf("rulesets %d, pending %d, applied %d", len(w.rulesets), len(w.pending), len(memory.Applied))
	}
}

func TestKeepTakesBackWhatWasOurs(t *testing.T) {
	w := newWorld(t, 1)
	w.click(1, func(o *edge.Overrides) {
		o.Categories = []edge.CategoryOverride{{Category: "wordpress", Enabled: new(false)}}
	})
	w.repo.push("c1", zone(1, keeping(core("xss", "php"))))
	w.converge(sweep)
	w.repo.push("c2", zone(1, keeping(core("php"))))
	w.restart()
	w.converge(sweep)
	if got := w.off(1); !slices.Equal(got, []string{"php", "wordpress"}) {
		t.Errorf("off: %v", got)
	}
}

// While a change waits, what the last applied commit owned stays remembered.
func TestKeepRemembersAcrossFailures(t *testing.T) {
	w := newWorld(t, 1)
	w.repo.push("c1", zone(1, keeping(core("xss", "php"))))
	w.converge(sweep)
	w.repo.push("c2", zone(1, keeping(core("php"))))
	w.tamper.read = failZone(1, errDown)
	w.run(syncing)
	w.tamper.read = nil
	w.repo.push("c3", zone(1, keeping(core("php", "sqli"))))
	w.converge(syncing)
	if got := w.off(1); !slices.Equal(got, []string{"php", "sqli"}) {
		t.Errorf("off: %v", got)
	}
}

func TestUndecidedIsRefusedUntilDecided(t *testing.T) {
	for decision, c := range map[string]struct {
		decide func(desired.Deployment) desired.Deployment
		off    []string
	}{
		"keep":   {keeping, []string{"php", "xss"}},
		"remove": {removing, []string{"xss"}},
	} {
		t.Run(decision, func(t *testing.T) {
			w := newWorld(t, 1)
			w.click(1, func(o *edge.Overrides) {
				o.Categories = []edge.CategoryOverride{{Category: "php", Enabled: new(false)}}
			})
			w.repo.push("c1", zone(1, core("xss")))
			for range 2 {
				report, calls := w.run(sweep)
				if writes(calls) != 0 || !slices.Equal(refusals(report), []string{"unmanaged"}) || report.Converged() {
					t.Fatalf("calls %v, refused %v", calls, refusals(report))
				}
			}
			w.repo.push("c2", zone(1, c.decide(core("xss"))))
			w.converge(syncing)
			if got := w.off(1); !slices.Equal(got, c.off) {
				t.Errorf("off: %v", got)
			}
		})
	}
}

// A deployment that left the repository is forgotten: when it comes back, what
// hands have put there meanwhile does not pass for ours.
func TestDeploymentThatLeftIsForgotten(t *testing.T) {
	for name, c := range map[string]struct {
		without []desired.Zone
		order   Order
	}{
		"its zone, seen by a sweep": {[]desired.Zone{zone(2, core())}, sweep},
		"its zone, seen by a sync":  {[]desired.Zone{zone(2, core())}, syncing},
		"only it, seen by a sweep":  {[]desired.Zone{zone(1), zone(2, core())}, sweep},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2)
			w.repo.push("c1", zone(1, keeping(core("xss", "php"))))
			w.converge(sweep)
			gone := diff.DeploymentID{Zone: mem.FleetZone(1), Ruleset: mem.CredentialsRuleset} // never settled
			if err := w.memory.NonConvergent(t.Context(), gone, "f"); err != nil {
				t.Fatal(err)
			}
			w.repo.push("c2", c.without...)
			w.converge(c.order)
			if got := w.recall(); got.Applied[deploymentID(1)] != nil || len(got.NonConvergent) != 0 {
				t.Fatalf("still remembered: %v", got)
			}
			w.repo.push("c3", zone(1, keeping(core("xss"))))
			w.converge(sweep)
			if got := w.off(1); !slices.Equal(got, []string{"php", "xss"}) {
				t.Errorf("off: %v", got)
			}
		})
	}
}

// What cannot be told to be gone is not forgotten.
func TestDeploymentThatCannotBeToldIsKept(t *testing.T) {
	renamed := func(w *world) {
		c := w.repo.commits["c2"]
		c.state.Accounts[0].Rulesets[0].Name = "Core Rulesets"
	}
	for name, spoil := range map[string]func(*world){
		"the list cannot be read": func(w *world) { w.tamper.list = func(edge.AccountID) error { return errDown } },
		"the name is wrong":       renamed,
		"a run over other zones":  func(w *world) {},
		"the commit is held":      func(w *world) { w.repo.pushInvalid("c3", mistake("no")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2)
			w.repo.push("c1", zones(2, core("xss"))...)
			w.converge(sweep)
			if err := w.memory.NonConvergent(t.Context(), deploymentID(2), "f"); err != nil {
				t.Fatal(err)
			}
			w.repo.push("c2", zone(1, core("php")), zone(2, core("xss")))
			spoil(w)
			w.run(syncing)
			memory := w.recall()
			if _, ok := memory.Applied[deploymentID(2)]; !ok || memory.NonConvergent[deploymentID(2)] != "f" {
				t.Errorf("remembered %+v", memory)
			}
		})
	}
}

func TestRecallIsTheCallersOwn(t *testing.T) {
	f := &Forgetful{}
	if err := f.Settle(t.Context(), "c1", []diff.Settled{{ID: deploymentID(1)}}); err != nil {
		t.Fatal(err)
	}
	got, _ := f.Recall(t.Context())
	delete(got.Applied, deploymentID(1))
	if got, _ = f.Recall(t.Context()); len(got.Applied) != 1 {
		t.Error("a recollection shares memory")
	}
}
