package once

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/revert"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// onLedger has every run of a fixture on one ledger.
func onLedger(f *fixture, dir string) *ledger.Ledger {
	memory, err := ledger.Open(filepath.Join(dir, "ledger.db"))
	must.Do(f.t, err)
	memory.Now = f.Now
	f.adjust = func(r *Run) { r.Records = memory }
	return memory
}

// chronicle is records with a history, in memory: laws run on it, because a ledger waits for
// the disk.
type chronicle struct {
	reconcile.Forgetful
	entries []reconcile.Entry
}

// inMemory has every run of a fixture on one chronicle.
func inMemory(f *fixture) *chronicle {
	c := &chronicle{}
	f.adjust = func(r *Run) { r.Records = c }
	return c
}

func (c *chronicle) RecordWrite(ctx context.Context, write reconcile.Entry, owned []diff.Settled) (int64, error) {
	return int64(len(c.entries)) + 1, errors.Join(c.Record(ctx, write), c.Widen(ctx, owned))
}

func (c *chronicle) Record(_ context.Context, entries ...reconcile.Entry) error {
	for _, e := range entries {
		e.Number = int64(len(c.entries)) + 1
		c.entries = append(c.entries, e)
		if e.Kind == reconcile.EntryResult {
			c.entries[e.Result.Write-1].Result = e.Result
		}
	}
	return nil
}

func (c *chronicle) Prove(ctx context.Context, commit string, proofs []reconcile.Proof, settled []diff.Settled, results ...reconcile.Entry) error {
	return errors.Join(c.Record(ctx, results...), c.Forgetful.Prove(ctx, commit, proofs, settled))
}

func (c *chronicle) History(_ context.Context, _ reconcile.HistoryFilter, yield func(reconcile.Entry) error) (int64, error) {
	for _, e := range c.entries {
		if err := yield(e); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

func (c *chronicle) RecordRevert(ctx context.Context, hold diff.Hold, write reconcile.Entry, owned []diff.Settled) (int64, error) {
	c.Hold(hold)
	return c.RecordWrite(ctx, write, owned)
}

func (c *chronicle) Given(context.Context) (map[edge.Scope]reconcile.Given, error) { return nil, nil }

func (c *chronicle) Stop(_ context.Context, _ string, holds []diff.Hold, _ func(reconcile.Approval) bool, _ reconcile.Entry) error {
	for _, h := range holds {
		c.Hold(h)
	}
	return nil
}

func (c *chronicle) DropRevert(context.Context, []edge.Scope) error { return nil }

// written are the writes that the history has.
func written(f *fixture, memory reconcile.History) (writes []reconcile.Entry) {
	_, err := memory.History(f.t.Context(), reconcile.HistoryFilter{}, func(e reconcile.Entry) error {
		if e.Kind == reconcile.EntryWrite {
			writes = append(writes, e)
		}
		return nil
	})
	must.Do(f.t, err)
	return writes
}

func wantWhole(f *fixture, memory *ledger.Ledger) {
	f.t.Helper()
	report, err := memory.VerifyHistory(f.t.Context())
	must.Do(f.t, err)
	if len(report.Findings) > 0 {
		f.t.Fatalf("the history is not whole: %v", report.Findings)
	}
}

// alsoOff is the click that switches tags off beside what is there: no apply leaves that.
func alsoOff(tags ...string) func(*edge.Overrides) {
	return func(o *edge.Overrides) {
		o.Categories = slices.DeleteFunc(slices.Clone(o.Categories), func(c edge.CategoryOverride) bool { return slices.Contains(tags, c.Category) })
		for _, tag := range tags {
			o.Categories = append(o.Categories, edge.CategoryOverride{Category: tag, Enabled: new(false)})
		}
	}
}

// Once all agrees, the last value that the history has of each member is the live one,
// whatever was pushed and changed by hand before.
func TestHistoryReplaysToWhatIsLive(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newFixture(rt, 2)
		memory := inMemory(f)
		for i := range rapid.IntRange(1, 5).Draw(rt, "commits") {
			f.repo.Push(fmt.Sprint("c", i), declare(1, removing(core(genTags(rt, "one")...))), declare(2, removing(core(genTags(rt, "two")...))))
			f.converge(Order{Who: "kim"})
			if rapid.Bool().Draw(rt, "by hand") {
				f.Click(1, alsoOff(genTags(rt, "clicked")...))
				f.converge(Order{Who: "kim"})
			}
		}
		last := map[diff.ID]*diff.Restoration{}
		for _, e := range written(f, memory) {
			r := last[e.Subject.ID()]
			if r == nil {
				r = &diff.Restoration{ID: e.Subject.ID(), AccountID: f.state().Accounts[0].ID}
				last[e.Subject.ID()] = r
			}
			for _, m := range e.Members {
				r.Members = append(r.Members, diff.Restored{Path: m.Path, Before: m.New, Written: m.New})
			}
			if e.Result == nil || e.Result.Outcome != reconcile.Converged || e.Asked.User != "kim" || e.Asked.Commit == "" {
				rt.Fatalf("a write is on record as %+v with result %+v", e, e.Result)
			}
		}
		seen, err := zone.Many{Lanes: reconcile.OneLane(reconcile.Lane{Reader: edge.ReadOnly(f.Platform), Concurrency: 1}), Now: f.Now}.Read(rt.Context(), f.state())
		must.Do(f.t, err)
		var all []diff.Restoration
		for _, r := range last {
			all = append(all, *r)
		}
		if p := planner.Restore(all, seen.Live); len(p.Changes)+len(p.Problems) > 0 {
			rt.Fatalf("replayed, it is not what is live: changes %+v, problems %+v", p.Changes, p.Problems)
		}
	})
}

// Reverting all writes brings back what was there before the first, and an apply of another
// commit works from there as if nothing had been.
func TestRevertOfEverythingIsTheBeginning(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newFixture(rt, 1)
		memory := inMemory(f)
		f.Click(1, switchedOff(genTags(rt, "before")...))
		before := f.Off(1)
		for i := range rapid.IntRange(1, 4).Draw(rt, "commits") {
			f.repo.Push(fmt.Sprint("c", i), declare(1, removing(core(genTags(rt, "declared")...))))
			f.converge(Order{Who: "kim"})
		}
		run := f.reverting(memory)
		planned, err := run.Plan(rt.Context(), revert.Order{Filter: reconcile.HistoryFilter{Since: f.Now().Add(-1)}, Who: "lee"})
		must.Do(f.t, err)
		report := run.Apply(rt.Context(), planned)
		if !report.Converged() {
			rt.Fatalf("not converged: %v, %v, %+v", report.Err, outcomes(report), report.Plan.Problems)
		}
		f.wantOff(1, before...)
		record, err := memory.Restore(rt.Context())
		must.Do(f.t, err)
		changed := len(planned.Plan.Changes) > 0
		if held := len(record.Holds) == 1 && record.Holds[0].Reverted(); held != changed {
			rt.Fatalf("changes %+v: holds %+v", planned.Plan.Changes, record.Holds)
		}
		if planned, _ := f.plan(Order{}); changed && planned.Plan.Requests.ToApply > 0 {
			rt.Fatalf("the hold refuses nothing: %+v", planned.Plan.Changes)
		}
		last := genTags(rt, "last")
		f.repo.Push("last", declare(1, removing(core(append(last, "wordpress")...))))
		f.converge(Order{})
		if record, err = memory.Restore(rt.Context()); err != nil || len(record.Holds) != 0 {
			rt.Fatalf("holds that are left: %+v, %v", record.Holds, err)
		}
	})
}

// state is what the newest commit declares.
func (f *fixture) state() desired.State { return f.repo.Commits[f.repo.Head].State }

func (f *fixture) reverting(memory revert.Records) *revert.Run {
	return &revert.Run{Records: memory, Guards: f.guards, Lanes: reconcile.OneLane(reconcile.Lane{Reader: edge.ReadOnly(f.recorder), Writer: f.recorder, Concurrency: 1}), Now: f.Now}
}

// What a revert restores as Seawall's own is Seawall's own again: a later commit that does
// not declare it takes it back under keep.
func TestRevertBringsOwnershipBack(t *testing.T) {
	f := newFixture(t, 1)
	memory := onLedger(f, t.TempDir())
	defer memory.Close()
	f.Click(1, switchedOff("wordpress"))
	f.repo.Push("c1", declare(1, keeping(core("xss"))))
	f.converge(Order{})
	f.repo.Push("c2", declare(1, keeping(core("php"))))
	f.converge(Order{})
	f.wantOff(1, "php", "wordpress")
	run := f.reverting(memory)
	planned, err := run.Plan(t.Context(), revert.Order{Filter: reconcile.HistoryFilter{Commit: "c2"}, Who: "lee"})
	must.Do(f.t, err)
	if report := run.Apply(t.Context(), planned); !report.Converged() {
		t.Fatalf("%v %v", report.Err, outcomes(report))
	}
	f.wantOff(1, "wordpress", "xss")
	f.repo.Push("c3", declare(1, keeping(core("sqli"))))
	f.converge(Order{})
	f.wantOff(1, "sqli", "wordpress")
}

// A hold of a person, a freeze and an approval that is missing hold a revert back as they do
// any change; and nothing is held where nothing was written.
func TestRevertIsGuarded(t *testing.T) {
	f := newFixture(t, 1)
	memory := onLedger(f, t.TempDir())
	defer memory.Close()
	f.repo.Push("c1", declare(1, removing(core("xss", "php"))))
	f.converge(Order{})
	f.repo.Push("c2", declare(1, removing(core("xss"))))
	f.converge(Order{})
	order := revert.Order{Filter: reconcile.HistoryFilter{Commit: "c2"}, Who: "lee"}
	apply := func(order revert.Order) (reconcile.Report, *revert.Planned) {
		t.Helper()
		run := f.reverting(memory)
		planned, err := run.Plan(t.Context(), order)
		must.Do(f.t, err)
		return run.Apply(t.Context(), planned), planned
	}
	must.Do(f.t, memory.Hold(t.Context(), diff.Hold{Zone: zoneKey(1), Until: f.Now().Add(1e12), Reason: "by hand"}, "kim"))
	report, _ := apply(order)
	f.wantRefused(report, "hold")
	_, err := memory.Release(t.Context(), zoneKey(1), f.Now())
	must.Do(f.t, err)
	f.guards.Rules = []guard.Rule{{Name: "all", Approve: guard.ApproveAll}}
	report, planned := apply(order)
	f.wantRefused(report, "approval")
	if record, err := memory.Restore(t.Context()); err != nil || len(record.Holds) != 0 {
		t.Errorf("holds %+v, %v", record.Holds, err)
	}
	f.wantOff(1, "xss")
	order.Approve = []string{planned.Plan.Changes[0].Refused.Digest}
	f.tamper.Write = failWrite(1, errors.New("refused"))
	if report, _ = apply(order); report.Converged() {
		t.Error("converged")
	}
	if record, err := memory.Restore(t.Context()); err != nil || len(record.Holds) != 0 {
		t.Errorf("nothing was written, and it is held: %+v, %v", record.Holds, err)
	}
	f.tamper.Write = nil
	report, _ = apply(order)
	f.wantOutcomes(report, "1 converged")
	f.wantOff(1, "php", "xss")
	writes := written(f, memory)
	if got := writes[len(writes)-1]; got.Asked.Approver != "lee" || got.Trigger != reconcile.TriggerRevert {
		t.Errorf("the last write is on record as %+v", got)
	}
	if got := writes[len(writes)-2].Result; got == nil || got.Outcome != reconcile.Failed || got.Reason != "refused" {
		t.Errorf("the one that failed has the result %+v", got)
	}
}

// A process that ends between a write and its record leaves the write in the history, and
// that it was not proved.
func TestWriteThatWasNotProved(t *testing.T) {
	f := newFixture(t, 1)
	memory := onLedger(f, t.TempDir())
	defer memory.Close()
	f.repo.Push("c1", declare(1, core("xss")))
	f.tamper.Read = func(edge.Scope) error {
		if f.Off(1) != nil { // it was written
			return errors.New("the process ends here")
		}
		return nil
	}
	f.apply(Order{Who: "kim"})
	writes := written(f, memory)
	if len(writes) != 1 || writes[0].Result != nil {
		t.Fatalf("%+v", writes)
	}
	want := reconcile.MemberChange{Path: `overrides.categories["xss"].enabled`, New: json.RawMessage("false")}
	if got := writes[0].Members; len(got) != 1 || got[0].Path != want.Path || string(got[0].New) != "false" || got[0].Old != nil {
		t.Errorf("members %+v, want %+v", got, want)
	}
	f.tamper.Read = nil
	f.apply(Order{Who: "kim"}) // the next process finds the zone as declared
	if writes = written(f, memory); len(writes) != 1 || writes[0].Result == nil || writes[0].Result.Outcome != reconcile.Converged {
		t.Errorf("after the next run: %+v", writes)
	}
	wantWhole(f, memory)
}
