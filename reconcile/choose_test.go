package reconcile

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

var syncing = Order{Trigger: TriggerSync, FallBack: true, ChangedOnly: true}

func mistake(message string) desired.Problem {
	return desired.Problem{Origin: desired.Origin{File: "zones/shop.cue", Line: 4, Column: 10}, Path: "account.prod", Message: message}
}

func TestInvalidCommitIsHeld(t *testing.T) {
	w := newWorld(t, 2)
	w.repo.push("c1", zones(2, core("xss"))...)
	w.converge(sweep)
	warning := desired.Problem{Message: "odd", Warning: true}
	w.repo.pushInvalid("c2", warning, mistake("blok is no action"))
	w.click(2, func(o *edge.Overrides) { o.Categories = nil })

	for i := range 3 {
		report, calls := w.run(syncing)
		held := report.Held
		if held == nil || held.Commit != "c2" || !slices.Equal(held.Problems, []desired.Problem{mistake("blok is no action")}) ||
			report.Commit != "c1" || report.Err != nil || len(report.Problems) != 0 || report.Converged() {
			t.Fatalf("sync %d: held %+v, commit %q, error %v", i, held, report.Commit, report.Err)
		}
		if held.Again != (i > 0) {
			t.Errorf("sync %d: held again: %v", i, held.Again)
		}
		w.wantCalls(calls)
	}
	if n := w.repo.compiled["c2"]; n != 1 {
		t.Errorf("three syncs compiled it %d times", n)
	}
	report, calls := w.run(sweep)
	w.wantCalls(calls, "list", "read 1", "read 2", "write 2", "read 2")
	if w.repo.compiled["c2"] != 2 || w.repo.compiled["c1"] != 1 || !report.Full {
		t.Errorf("a sweep looks again: compiled %v", w.repo.compiled)
	}
	w.run(syncing)
	if w.repo.compiled["c2"] != 2 {
		t.Errorf("compiled %v", w.repo.compiled)
	}
	if w.good.commit != "c1" || w.good.set != 1 {
		t.Errorf("good is %q, set %d times", w.good.commit, w.good.set)
	}

	w.repo.push("c3", zones(2, core("php"))...)
	if report, _ := w.run(syncing); report.Held != nil || report.Commit != "c3" || len(report.Problems) != 0 {
		t.Errorf("held %+v, commit %q", report.Held, report.Commit)
	}
	w.repo.head = "c2"
	if report, _ := w.run(syncing); report.Held == nil || report.Held.Again || report.Commit != "c3" {
		t.Errorf("held %+v, commit %q", report.Held, report.Commit)
	}
}

func TestHeldCommitThatWasTakenBack(t *testing.T) {
	w := newWorld(t, 1)
	w.repo.push("c1", zone(1, core("xss")))
	w.converge(sweep)
	w.repo.pushInvalid("c2", mistake("no"))
	w.run(syncing)
	w.repo.head = "c1"
	report, calls := w.run(syncing)
	w.wantCalls(calls)
	if report.Held != nil || report.Commit != "c1" || !report.Converged() {
		t.Errorf("held %+v, commit %q", report.Held, report.Commit)
	}
}

func TestFallingBack(t *testing.T) {
	offline, unsigned := errors.New("no route to host"), errors.New("it is not signed")
	for name, c := range map[string]struct {
		spoil  func(*repo)
		commit string
		reason string
	}{
		"fetching fails":  {func(r *repo) { r.head, r.fetchErr = "", offline }, "", "fetching desired state: no route to host"},
		"not signed":      {func(r *repo) { r.head, r.fetchErr = "c2", unsigned }, "c2", "fetching desired state: it is not signed"},
		"compiling fails": {func(r *repo) { r.head, r.commits["c2"] = "c2", commit{err: offline} }, "c2", "compiling desired state: no route to host"},
		"invalid":         {func(r *repo) { r.pushInvalid("c2", mistake("no")) }, "c2", ErrInvalid.Error()},
	} {
		prepare := func(t *testing.T) *world {
			w := newWorld(t, 1)
			w.repo.push("c1", zone(1, core("xss")))
			w.converge(sweep)
			w.click(1, func(o *edge.Overrides) { o.Categories = nil })
			c.spoil(w.repo)
			return w
		}
		want := func(t *testing.T, report Report) {
			t.Helper()
			if report.Held == nil || report.Held.Commit != c.commit || report.Held.Reason != c.reason || report.Commit != "c1" {
				t.Errorf("held %+v, commit %q, error %v", report.Held, report.Commit, report.Err)
			}
			wantOutcomes(t, report, "1 converged")
		}
		t.Run(name+"/good one stays", func(t *testing.T) {
			w := prepare(t)
			report, _ := w.run(sweep)
			want(t, report)
			if w.repo.compiled["c1"] != 1 {
				t.Errorf("compiled %v", w.repo.compiled)
			}
		})
		t.Run(name+"/over a restart", func(t *testing.T) {
			w := prepare(t)
			w.restart()
			report, _ := w.run(sweep)
			want(t, report)
			w.run(syncing)
			if w.repo.compiled["c1"] != 2 {
				t.Errorf("compiled %v", w.repo.compiled)
			}
		})
		t.Run(name+"/nobody wants it", func(t *testing.T) {
			w := prepare(t)
			report, calls := w.run(manual)
			w.wantCalls(calls)
			if report.Err == nil || report.Held != nil || report.Converged() {
				t.Errorf("error %v", report.Err)
			}
		})
		t.Run(name+"/there is none", func(t *testing.T) {
			for _, forget := range []func(*world){
				func(w *world) { w.good.commit = "" },
				func(w *world) { w.Good = nil },
				func(w *world) { w.good.err = errors.New("store is damaged") },
				func(w *world) { w.repo.commits["c1"] = commit{err: errors.New("object not found")} },
				func(w *world) { w.repo.commits["c1"] = commit{problems: []desired.Problem{mistake("stricter now")}} },
			} {
				w := prepare(t)
				w.restart()
				forget(w)
				report, calls := w.run(sweep)
				w.wantCalls(calls)
				if report.Err == nil || report.Held != nil || !strings.Contains(report.Err.Error(), "good commit") {
					t.Errorf("held %+v, error %v", report.Held, report.Err)
				}
				if c.commit == "c2" && name == "invalid" && (len(report.Problems) != 1 || !errors.Is(report.Err, ErrInvalid)) {
					t.Errorf("error %v, problems %v", report.Err, report.Problems)
				}
			}
		})
	}
}

func TestInvalidWithoutFallingBackNamesTheMistakes(t *testing.T) {
	w := newWorld(t, 1)
	w.repo.pushInvalid("c1", mistake("no"))
	report, _ := w.run(Order{Trigger: TriggerManual, PlanOnly: true})
	if !errors.Is(report.Err, ErrInvalid) || len(report.Problems) != 1 {
		t.Errorf("error %v, problems %v", report.Err, report.Problems)
	}
}

func TestWarningsDoNotHold(t *testing.T) {
	w := newWorld(t, 1)
	w.repo.push("c1", zone(1, core("xss")))
	c := w.repo.commits["c1"]
	c.problems = []desired.Problem{{Message: "odd", Warning: true}}
	w.repo.commits["c1"] = c
	report, _ := w.converge(sweep)
	if len(report.Problems) != 1 || report.Held != nil {
		t.Errorf("problems %v, held %v", report.Problems, report.Held)
	}
}

// shrunk is a fleet whose newest commit declares a quarter of it.
func shrunk(t *testing.T) *world {
	w := newWorld(t, 4)
	w.repo.push("c1", zones(4, core("xss"))...)
	w.converge(sweep)
	w.repo.push("c2", zone(1, core("php")))
	return w
}

func TestShrunkCommitIsHeld(t *testing.T) {
	w := shrunk(t)
	for range 3 {
		report, calls := w.run(syncing)
		w.wantCalls(calls)
		if report.Held == nil || report.Held.Commit != "c2" || !strings.Contains(report.Held.Reason, "1 zone ") || report.Commit != "c1" {
			t.Fatalf("held %+v", report.Held)
		}
	}
	if w.repo.compiled["c2"] != 1 {
		t.Errorf("three syncs compiled it %d times", w.repo.compiled["c2"])
	}
	w.restart()
	if report, _ := w.run(sweep); report.Held == nil || report.Commit != "c1" {
		t.Errorf("after a restart: held %+v", report.Held)
	}
	if got := w.recall(); got.Size != (diff.Size{Zones: 4, Deployments: 4}) || len(got.Applied) != 4 {
		t.Errorf("remembered %+v", got)
	}
	// Somebody accepts it with another process that shares the ledger.
	if err := w.memory.Accept(t.Context(), "c2", diff.Size{Zones: 1, Deployments: 1}); err != nil {
		t.Fatal(err)
	}
	report, _ := w.converge(syncing)
	wantOutcomes(t, report, "1 converged")
}

func TestShrunkCommitWithoutAGoodOne(t *testing.T) {
	w := shrunk(t)
	w.restart()
	w.Good = nil
	report, calls := w.run(sweep)
	w.wantCalls(calls)
	if !errors.Is(report.Err, ErrShrunk) || errors.Is(report.Err, ErrInvalid) {
		t.Errorf("error %v", report.Err)
	}
}

func TestShrunkCommitIsRefusedByHand(t *testing.T) {
	for name, order := range map[string]Order{"plan": {Trigger: TriggerManual, PlanOnly: true}, "apply": manual} {
		t.Run(name, func(t *testing.T) {
			w := shrunk(t)
			report, calls := w.run(order)
			w.wantCalls(calls, "list", "read 1")
			if report.Err != nil || report.Commit != "c2" || !slices.Equal(refusals(report), []string{"shrink"}) || report.Converged() {
				t.Errorf("error %v, refused %v", report.Err, refusals(report))
			}
			if got := w.recall(); w.good.commit != "c1" || got.Size.Zones != 4 || len(got.Applied) != 4 {
				t.Errorf("good %q, remembered %+v", w.good.commit, got)
			}
		})
	}
}

func TestShrunkCommitIsAccepted(t *testing.T) {
	w := shrunk(t)
	report, _ := w.converge(Order{Trigger: TriggerManual, AllowShrink: true})
	wantOutcomes(t, report, "1 converged")
	if got := w.recall(); w.good.commit != "c2" || got.Size != (diff.Size{Zones: 1, Deployments: 1}) || len(got.Applied) != 1 {
		t.Errorf("good %q, remembered %+v", w.good.commit, got)
	}
	w.restart()
	w.converge(sweep)
}

// A commit is in force only once that is remembered: else a sync would take its
// zones for done.
func TestCommitThatCannotBeRememberedIsTriedAgain(t *testing.T) {
	w := newWorld(t, 1)
	w.repo.push("c1", zone(1, core("xss")))
	w.converge(sweep)
	w.repo.push("c2", zone(1, core("php")))
	w.good.err = errors.New("read-only file system")
	report, calls := w.run(syncing)
	if !errors.Is(report.Err, w.good.err) || writes(calls) != 0 {
		t.Errorf("error %v, calls %v", report.Err, calls)
	}
	w.good.err = nil
	report, _ = w.converge(syncing)
	wantOutcomes(t, report, "1 converged")
	if w.repo.compiled["c2"] != 1 {
		t.Errorf("compiled %v", w.repo.compiled)
	}
}

// A folder has no commits: it is compiled every time.
func TestFolder(t *testing.T) {
	w := newWorld(t, 1)
	w.repo.push("", zone(1, core("xss")))
	w.converge(manual)
	w.repo.push("", zone(1, core("php")))
	report, _ := w.converge(Order{Trigger: TriggerSync, ChangedOnly: true})
	wantOutcomes(t, report, "1 converged")
	if w.good.set != 0 || w.recall().Size.Zones != 1 {
		t.Errorf("good set %d times", w.good.set)
	}
}
