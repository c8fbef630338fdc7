package reconcile

import (
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

var manual = Order{Trigger: TriggerManual, Retry: true}

func TestRunSendsTheLeast(t *testing.T) {
	w := newWorld(t, 5)
	w.repo.push("c1", zone(1, core()), zone(2, core("xss")), zone(3, core()), zone(4, core("sqli", "php")), zone(5, core()))

	report, calls := w.converge(manual)
	w.wantCalls(calls, "list", "managed core", "read 1", "read 2", "read 3", "read 4", "read 5",
		"write 2", "read 2", "write 4", "read 4")
	wantOutcomes(t, report, "2 converged", "4 converged")
	if !report.Full || report.Commit != "c1" || report.Plan.Requests.ToApply != 4 {
		t.Errorf("full %v, commit %q, to apply %d", report.Full, report.Commit, report.Plan.Requests.ToApply)
	}
	if got := w.off(4); !slices.Equal(got, []string{"php", "sqli"}) {
		t.Errorf("off in zone 4: %v", got)
	}

	report, calls = w.converge(manual)
	w.wantCalls(calls, "list", "read 1", "read 2", "read 3", "read 4", "read 5")
	if len(report.Plan.Changes) != 0 || report.Plan.Summary.InSync != 5 {
		t.Errorf("a second plan has %d changes, %d zones in sync", len(report.Plan.Changes), report.Plan.Summary.InSync)
	}
}

// Side by side the order between zones is free; within a zone it is not.
func TestRunSendsTheLeastSideBySide(t *testing.T) {
	w := newWorld(t, 30)
	w.Concurrency = 8
	steps := map[string]int{}
	w.Progress = func(stage string, done, total int) {
		if total == 0 {
			return // a stage of unknown length
		}
		if steps[stage]++; done != steps[stage] || total != 30 {
			t.Errorf("%s: %d of %d at step %d", stage, done, total, steps[stage])
		}
	}
	w.repo.push("c1", zones(30, core("xss"))...)
	report, calls := w.converge(manual)
	if len(calls) != 2+30+30+30 || writes(calls) != 30 {
		t.Errorf("%d calls, %d writes", len(calls), writes(calls))
	}
	for _, id := range []string{"1", "30"} {
		var of []string
		for _, call := range calls {
			if call == "read "+id || call == "write "+id {
				of = append(of, call)
			}
		}
		w.wantCalls(of, "read "+id, "write "+id, "read "+id)
	}
	for i, result := range report.Results {
		if result.Change.Zone != zoneKey(i+1) {
			t.Fatalf("result %d is about %s", i, result.Change.Zone)
		}
	}
	if steps["observing zones"] != 30 || steps["applying changes"] != 30 {
		t.Errorf("progress was told %v", steps)
	}
}

func TestRunStrengthensFirst(t *testing.T) {
	w := newWorld(t, 3)
	for _, i := range []int{2, 3} {
		w.click(i, func(o *edge.Overrides) {
			o.Categories = []edge.CategoryOverride{{Category: "sqli", Enabled: new(false)}}
		})
	}
	w.repo.push("c1", zone(1, core("xss")), zone(2, removing(core("xss"))), zone(3, removing(core())))
	_, calls := w.converge(manual)
	w.wantCalls(calls[5:], "write 3", "read 3", "write 1", "read 1", "write 2", "read 2")
}

func TestManagedRulesetIsReadOncePerVersion(t *testing.T) {
	w := newWorld(t, 1)
	w.repo.push("c1", zone(1, core()))
	w.converge(manual)

	for _, a := range w.platform.State().Accounts {
		for _, r := range a.Rulesets {
			if r.ID != mem.CoreRuleset {
				continue
			}
			if err := w.platform.SetRuleset(a.ID, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, calls := w.converge(manual)
	w.wantCalls(calls, "list", "managed core", "read 1")
	_, calls = w.converge(manual)
	w.wantCalls(calls, "list", "read 1")

	w.repo.push("c2", zone(1))
	w.converge(Order{Trigger: TriggerManual, AllowShrink: true})
	if len(w.rulesets) != 0 {
		t.Errorf("%d managed rulesets are kept that no zone deploys", len(w.rulesets))
	}
}

// twoAccounts has a fleet of two zones and another account with zone 3.
func twoAccounts() mem.Seed {
	seed := mem.Fleet(3)
	seed.Accounts = append(seed.Accounts, mem.SeedAccount{ID: otherAccount, Rulesets: seed.Accounts[0].Rulesets})
	seed.Zones[2].AccountID = otherAccount
	return seed
}

const otherAccount edge.AccountID = "fedcba9876543210fedcba9876543210"

func TestAccountThatCannotBeListedReadsNoZone(t *testing.T) {
	w := seededWorld(t, twoAccounts())
	w.repo.push("c1", zones(2, core("xss"))...)
	c := w.repo.commits["c1"]
	other := stateOf("c1", zone(3, core("xss"))).Accounts[0]
	other.ID, other.Key = otherAccount, "other"
	c.state.Accounts = append(c.state.Accounts, other)
	w.repo.commits["c1"] = c
	w.tamper.list = func(account edge.AccountID) error {
		if account == mem.Account {
			return errForbidden
		}
		return nil
	}
	report, calls := w.run(manual)
	w.wantCalls(calls, "list", "list "+string(otherAccount), "managed core", "read 3", "write 3", "read 3")
	wantOutcomes(t, report, "3 converged")
	if s := report.Plan.Summary; s.Forbidden != 2 || s.Unknown != 0 || s.Zones != 3 || report.Converged() || report.Err != nil {
		t.Errorf("summary %+v, error %v", s, report.Err)
	}
	if !report.Full {
		t.Error("zones that could not be read were in scope all the same")
	}
}

func TestManagedRulesetThatCannotBeReadIsUnknown(t *testing.T) {
	w := newWorld(t, 1)
	w.repo.push("c1", zone(1, core("xss")))
	w.tamper.managed = func() error { return errDown }
	report, calls := w.run(manual)
	w.wantCalls(calls, "list", "managed core", "read 1")
	if report.Plan.Summary.Unknown != 1 || report.Converged() {
		t.Errorf("summary %+v", report.Plan.Summary)
	}
	w.tamper.managed = nil
	report, _ = w.converge(syncing)
	wantOutcomes(t, report, "1 converged")
}

func TestPlanWritesAndRemembersNothing(t *testing.T) {
	for name, prepare := range map[string]func(*world) Order{
		"plan only": func(*world) Order { return Order{Trigger: TriggerManual, PlanOnly: true} },
		"no writer": func(w *world) Order { w.Writer = nil; return manual },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.repo.push("c1", zone(1, core("xss")))
			report, calls := w.run(prepare(w))
			w.wantCalls(calls, "list", "managed core", "read 1")
			if len(report.Plan.Changes) != 1 || report.Err != nil || report.Results != nil {
				t.Errorf("report %+v", report)
			}
			if memory := w.recall(); memory.Applied != nil || memory.Size != (diff.Size{}) || w.good.set != 0 {
				t.Errorf("remembered %+v", memory)
			}
		})
	}
}

func TestRunCountsItsOwnRequests(t *testing.T) {
	w := newWorld(t, 2)
	sent := int64(100)
	w.Requests = func() int64 { sent += 7; return sent }
	w.repo.push("c1", zones(2, core())...)
	if report, _ := w.run(manual); report.Requests != 7 || report.Plan.Requests.Used != 7 {
		t.Errorf("requests %d, in the plan %d", report.Requests, report.Plan.Requests.Used)
	}
}
