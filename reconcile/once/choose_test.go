package once

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// What cannot be taken fails, and nothing is looked at.
func TestCommitThatIsNotTaken(t *testing.T) {
	offline, unsigned := errors.New("no route to host"), errors.New("it is not signed")
	warning := desired.Problem{Message: "odd", Warning: true}
	for name, c := range map[string]struct {
		spoil    func(*reconciletest.Repo)
		err      error
		text     string
		problems []desired.Problem
	}{
		"fetching fails": {
			func(r *reconciletest.Repo) { r.Head, r.FetchErr = "", offline }, offline, "fetching desired state: no route to host", nil,
		},
		"not signed": {
			func(r *reconciletest.Repo) { r.Head, r.FetchErr = "c2", unsigned }, unsigned, "fetching desired state: it is not signed", nil,
		},
		"compiling fails": {
			func(r *reconciletest.Repo) { r.Commit("c2", commit{Err: offline}) }, offline, "compiling desired state: no route to host", nil,
		},
		"invalid": {
			func(r *reconciletest.Repo) {
				r.Commit("c2", commit{Problems: []desired.Problem{warning, mistake("blok is no action")}})
			}, reconcile.ErrInvalid,
			reconcile.ErrInvalid.Error(),
			[]desired.Problem{mistake("blok is no action")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 1)
			f.repo.Push("c1", declare(1, core("xss")))
			f.converge(Order{})
			f.Click(1, switchedOff())
			c.spoil(f.repo)
			f.records.Made = nil
			for _, do := range []func(Order) (reconcile.Report, []string){f.plan, f.apply} {
				report, calls := do(Order{})
				f.wantCalls(calls)
				if !errors.Is(report.Err, c.err) || report.Err.Error() != c.text || report.Held != nil || report.Converged() {
					t.Errorf("error %v, held %v", report.Err, report.Held)
				}
				if !slices.Equal(report.Problems, c.problems) {
					t.Errorf("problems %v", report.Problems)
				}
			}
			if len(f.records.Made) != 0 || f.good.commit != "c1" {
				t.Errorf("records %v, good %q", f.records.Made, f.good.commit)
			}
		})
	}
}

func TestWarningsDoNotHold(t *testing.T) {
	f := newFixture(t, 1)
	f.repo.Push("c1", declare(1, core("xss")))
	c := f.repo.Commits["c1"]
	c.Problems = []desired.Problem{{Message: "odd", Warning: true}}
	f.repo.Commits["c1"] = c
	if report, _ := f.converge(Order{}); len(report.Problems) != 1 {
		t.Errorf("problems %v", report.Problems)
	}
}

func TestStoppedWhileFetching(t *testing.T) {
	f := newFixture(t, 1)
	f.repo.Push("c1", declare(1, core("xss")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f.repo.FetchErr = context.Canceled
	report, calls := f.applyUntil(ctx, Order{})
	f.wantCalls(calls)
	if report.Err == nil || report.Err.Error() != "context canceled" {
		t.Errorf("error %v", report.Err)
	}
}

func TestRecordThatCannotBeRead(t *testing.T) {
	f := newFixture(t, 1)
	f.repo.Push("c1", declare(1, core("xss")))
	f.adjust = func(r *Run) { r.Records = unreadable{f.records} }
	report, calls := f.apply(Order{})
	f.wantCalls(calls)
	if !errors.Is(report.Err, errFull) {
		t.Errorf("error %v", report.Err)
	}
}

type unreadable struct{ *reconciletest.Records }

func (unreadable) Restore(context.Context) (reconcile.Record, error) {
	return reconcile.Record{}, errFull
}

// shrunk is a fleet whose newest commit declares a quarter of it.
func shrunk(t *testing.T) *fixture {
	f := newFixture(t, 4)
	f.repo.Push("c1", declareAll(4, core("xss"))...)
	f.converge(Order{})
	f.repo.Push("c2", declare(1, core("php")))
	return f
}

func TestShrunkCommitIsRefused(t *testing.T) {
	f := shrunk(t)
	f.records.Made = nil
	for _, do := range []func(Order) (reconcile.Report, []string){f.plan, f.apply} {
		report, calls := do(Order{})
		f.wantCalls(calls, "list", "managed core", "read 1")
		f.wantRefused(report, "shrink")
		if report.Err != nil || report.Commit != "c2" || report.Converged() {
			t.Errorf("error %v, commit %q", report.Err, report.Commit)
		}
		if p := report.Plan.Problems; len(p) != 1 || !strings.Contains(p[0].Reason, "3 of 4 zones and 3 of 4 deployments of the last accepted commit: prod / zone-00002.example") {
			t.Errorf("problems %+v", p)
		}
	}
	if got := f.recall(); f.good.commit != "c1" || got.Accepted.Commit != "c1" || got.Accepted.Size.Zones != 4 || len(got.Applied) != 4 || len(got.Proofs) != 4 || len(f.records.Made) != 0 {
		t.Errorf("good %q, records %v, on record %+v", f.good.commit, f.records.Made, got)
	}
}

func TestShrunkCommitIsAccepted(t *testing.T) {
	f := shrunk(t)
	report, _ := f.converge(Order{AllowShrink: true})
	f.wantOutcomes(report, "1 converged")
	if got := f.recall(); f.good.commit != "c2" || got.Accepted.Size != (guard.Size{Zones: 1, Deployments: 1}) || len(got.Applied) != 1 || len(got.Proofs) != 1 {
		t.Errorf("good %q, on record %+v", f.good.commit, got)
	}
	f.converge(Order{})
}

// How much a commit may shrink is of the configuration.
func TestShrinkIsConfigured(t *testing.T) {
	f := shrunk(t)
	f.guards.Shrink = guard.Shrink{Percent: 90}
	f.converge(Order{})
}

// Nothing is written under a commit that could not be put on record.
func TestCommitThatCannotBeRemembered(t *testing.T) {
	for name, spoil := range map[string]func(*fixture){
		"in the ledger": func(f *fixture) {
			f.records.Fails = func(call string) error { return map[string]error{"accept": errFull}[call] }
		},
		"in the store of git": func(f *fixture) { f.good.err = errFull },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 1)
			f.repo.Push("c1", declare(1, removing(core("xss"))))
			f.converge(Order{})
			f.repo.Push("c2", declare(1, removing(core("php"))))
			spoil(f)
			report, calls := f.apply(Order{})
			if !errors.Is(report.Err, errFull) || writes(calls) != 0 {
				t.Errorf("error %v, calls %v", report.Err, calls)
			}
			f.records.Fails, f.good.err = nil, nil
			report, _ = f.converge(Order{})
			f.wantOutcomes(report, "1 converged")
			if f.good.commit != "c2" {
				t.Errorf("good %q", f.good.commit)
			}
		})
	}
}

// A folder has no commits: there is nothing to take for good.
func TestFolder(t *testing.T) {
	f := newFixture(t, 1)
	f.good.err = errFull // nobody asks
	f.repo.Push("", declare(1, core("xss")))
	f.converge(Order{})
	f.repo.Push("", declare(1, core("php")))
	report, _ := f.converge(Order{})
	f.wantOutcomes(report, "1 converged")
	if f.recall().Accepted.Size.Zones != 1 {
		t.Errorf("on record %+v", f.recall())
	}
	f.adjust = func(r *Run) { r.Good = nil }
	f.repo.Push("c1", declare(1, core("xss")))
	f.converge(Order{})
}

// A saved plan is compared with before anything is sent, or written down.
func TestExpect(t *testing.T) {
	f := newFixture(t, 1)
	f.repo.Push("c1", declare(1, core("xss")))
	other := errors.New("the plan is another one")
	var shown diff.Plan
	report, calls := f.apply(Order{Expect: func(p diff.Plan) error { shown = p; return other }})
	f.wantCalls(calls, "list", "managed core", "read 1")
	if !errors.Is(report.Err, other) || len(shown.Changes) != 1 || len(report.Plan.Changes) != 1 || len(f.records.Made) != 0 {
		t.Errorf("error %v, shown %+v, records %v", report.Err, shown, f.records.Made)
	}
	f.converge(Order{Expect: func(p diff.Plan) error {
		if p.Digest != shown.Digest {
			t.Errorf("digests %s and %s", p.Digest, shown.Digest)
		}
		return nil
	}})
}
