package once

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planfile"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// After an apply the plan is empty, and another apply writes nothing: on a platform of
// any manners that replaces what it is sent.
func TestApplyThenPlanIsEmpty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		quirks := []string{"patch=replace"}
		for _, q := range []string{"reorder", "defaults", "omit-empty-rules", "ruleset-bump=1"} {
			if rapid.Bool().Draw(rt, q) {
				quirks = append(quirks, q)
			}
		}
		const n = 3
		f := newFixture(rt, n, quirks...)
		for i := range rapid.IntRange(1, 3).Draw(rt, "commits") {
			var zones []desired.Zone
			for z := range n {
				if rapid.Bool().Draw(rt, "clicked") {
					f.Click(z+1, switchedOff(genTags(rt, "by hand")...))
				}
				decide := rapid.SampledFrom([]func(desired.Deployment) desired.Deployment{keeping, removing}).Draw(rt, "decision")
				zones = append(zones, declare(z+1, decide(core(genTags(rt, "declared")...))))
			}
			f.repo.Push(fmt.Sprint("c", i), zones...)
			planned, _ := f.plan(Order{})
			_, calls := f.converge(Order{})
			if writes(calls) != len(planned.Plan.Changes) {
				rt.Fatalf("%d changes were planned; calls %v", len(planned.Plan.Changes), calls)
			}
			if again, _ := f.plan(Order{}); len(again.Plan.Changes) != 0 || again.Plan.Attention() || again.Plan.Summary.InSync != n {
				rt.Fatalf("planned again: %+v", again.Plan)
			}
			made := len(f.records.Made)
			if _, calls = f.converge(Order{}); writes(calls) != 0 || slices.Contains(f.records.Made[made:], "widen") {
				rt.Fatalf("applied again: %v, records %v", calls, f.records.Made[made:])
			}
			if got := f.recall(); len(got.Proofs) != n || len(got.Applied) != n {
				rt.Fatalf("on record %+v", got)
			}
		}
	})
}

func genTags(t *rapid.T, label string) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"sqli", "xss", "php"}), 0, 3, rapid.ID).Draw(t, label)
}

// cut ends a process: after so many steps (calls, and records made) nothing works any
// more. The last step may take effect without anybody knowing.
type cut struct {
	after int
	takes bool
	step  int
}

// goes reports whether a step takes effect, and whether its maker lives to know.
func (c *cut) goes() (effect, known bool) {
	c.step++
	return c.step < c.after || c.step == c.after && c.takes, c.step < c.after
}

// stand has a cut in the way of every step.
func (c *cut) stand(f *fixture) {
	dead := func() error {
		if _, known := c.goes(); !known {
			return errDown
		}
		return nil
	}
	f.tamper.List = func(edge.AccountID) error { return dead() }
	f.tamper.Managed = dead
	f.tamper.Read = func(edge.Scope) error { return dead() }
	f.tamper.Write = func(_ context.Context, _ edge.Scope, send send) (*edge.Ruleset, error) {
		effect, known := c.goes()
		if !effect {
			return nil, errLost
		}
		answer, err := send()
		if !known {
			return nil, errLost
		}
		return answer, err
	}
	f.adjust = func(r *Run) { r.Records = dying{f.records, c} }
}

func (f *fixture) revive() {
	f.tamper.List, f.tamper.Managed, f.tamper.Read, f.tamper.Write, f.adjust = nil, nil, nil, nil, nil
}

// dying are records of a process that ends.
type dying struct {
	*reconciletest.Records
	cut *cut
}

func (d dying) do(write func() error) error {
	effect, known := d.cut.goes()
	if !effect {
		return errFull
	}
	if err := write(); err != nil || known {
		return err
	}
	return errFull
}

func (d dying) AcceptCommit(ctx context.Context, a reconcile.Acceptance) error {
	return d.do(func() error { return d.Records.AcceptCommit(ctx, a) })
}

func (d dying) Prove(ctx context.Context, commit string, proofs []reconcile.Proof, settled []diff.Settled, results ...reconcile.Entry) error {
	return d.do(func() error { return d.Records.Prove(ctx, commit, proofs, settled, results...) })
}

func (d dying) Widen(ctx context.Context, owned []diff.Settled) error {
	return d.do(func() error { return d.Records.Widen(ctx, owned) })
}

func (d dying) RecordWrite(ctx context.Context, write reconcile.Entry, owned []diff.Settled) (number int64, err error) {
	if len(owned) == 0 {
		return 0, nil
	}
	return 0, d.do(func() error { number, err = d.Records.RecordWrite(ctx, write, owned); return err })
}

func (d dying) NonConvergent(ctx context.Context, id diff.ID, fingerprint string) error {
	return d.do(func() error { return d.Records.NonConvergent(ctx, id, fingerprint) })
}

func (d dying) Forget(ctx context.Context, ids []diff.ID) error {
	return d.do(func() error { return d.Records.Forget(ctx, ids) })
}

// A process that ends at any step, again and again, never loses what it owns under keep,
// and never takes what others have put there for its own.
func TestCrashNeverLosesOwnership(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newFixture(rt, 1)
		f.Click(1, switchedOff("wordpress"))
		for i := range rapid.IntRange(1, 5).Draw(rt, "commits") {
			f.repo.Push(fmt.Sprint("c", i), declare(1, keeping(core(genTags(rt, "declared")...))))
			(&cut{after: rapid.IntRange(0, 12).Draw(rt, "cut after"), takes: rapid.Bool().Draw(rt, "takes effect")}).stand(f)
			f.apply(Order{})
			f.revive()
		}
		last := genTags(rt, "declared at last")
		f.repo.Push("last", declare(1, keeping(core(last...))))
		f.converge(Order{})
		want := append(slices.Clone(last), "wordpress")
		slices.Sort(want)
		if got := f.Off(1); !slices.Equal(got, want) {
			rt.Fatalf("off %v, want %v", got, want)
		}
	})
}

// At each single step, so that none is missed by chance.
func TestCrashAtEachStep(t *testing.T) {
	const steps = 12
	for after := range steps {
		for _, takes := range []bool{false, true} {
			f := newFixture(t, 1)
			f.Click(1, switchedOff("wordpress"))
			f.repo.Push("c1", declare(1, keeping(core("xss", "php"))))
			f.converge(Order{})
			f.repo.Push("c2", declare(1, keeping(core("php", "sqli"))))
			c := &cut{after: after, takes: takes}
			c.stand(f)
			f.apply(Order{})
			f.revive()
			if after == steps-1 && c.step >= after {
				t.Errorf("there are %d steps: the test does not come to all of them", c.step)
			}
			f.repo.Push("c3", declare(1, keeping(core("php"))))
			f.converge(Order{})
			f.wantOff(1, "php", "wordpress")
		}
	}
}

// stubborn is a zone of a merging platform from which the only override, which
// changes an action, cannot be taken away.
func stubborn(t *testing.T) *fixture {
	f := newFixture(t, 1, "patch=merge")
	f.mixActions()
	f.Click(1, func(o *edge.Overrides) { o.Action = new(edge.ActionLog) })
	f.repo.Push("c1", declare(1, removing(core("xss"))))
	return f
}

// mixActions gives a rule another action by default, so that no action over all rules says
// nothing.
func (f *fixture) mixActions() {
	f.t.Helper()
	for _, r := range f.Platform.State().Accounts[0].Rulesets {
		if r.ID == mem.CoreRuleset {
			r.Rules[0].Action = edge.ActionLog
			must.Do(f.t, f.Platform.SetRuleset(mem.Account, r))
		}
	}
}

// A plan shows what was not kept as refused; an apply is a person's word to try it once
// more.
func TestChangeThatIsNotKept(t *testing.T) {
	f := stubborn(t)
	report, calls := f.apply(Order{})
	f.wantCalls(calls[3:], "write 1", "read 1")
	f.wantOutcomes(report, "1 non_convergent")
	result := report.Results[0]
	if len(result.Left) != 1 || result.Left[0].Path != "overrides.action" || result.Concurrent || len(f.recall().Proofs) != 0 {
		t.Errorf("left %+v, concurrent %v", result.Left, result.Concurrent)
	}
	for range 2 {
		report, _ = f.plan(Order{})
		f.wantRefused(report, "non_convergent")
		if report.Converged() {
			t.Error("converged")
		}
	}
	report, calls = f.apply(Order{})
	f.wantOutcomes(report, "1 non_convergent")
	f.wantCalls(calls[3:], "write 1", "read 1")
}

func TestChangeThatWasNotKeptIsLifted(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*fixture)
		outcome string // of the next apply; empty for nothing to do
	}{
		"by a platform that was mended": {func(f *fixture) { must.Do(f.t, f.Platform.SetQuirks(nil)) }, "1 converged"},
		"by another declaration":        {func(f *fixture) { f.repo.Push("c2", declare(1, removing(core("xss", "php")))) }, "1 non_convergent"},
		"by live": {func(f *fixture) {
			f.Click(1, func(o *edge.Overrides) {
				o.Action, o.Categories = nil, []edge.CategoryOverride{{Category: "php", Enabled: new(false)}}
			})
		}, "1 converged"},
		"by hand": {func(f *fixture) { f.Click(1, func(o *edge.Overrides) { o.Action = nil }) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := stubborn(t)
			f.apply(Order{})
			c.change(f)
			if plan, _ := f.plan(Order{}); name != "by a platform that was mended" && len(refusals(plan)) != 0 {
				t.Errorf("refused %v", refusals(plan))
			}
			report, _ := f.apply(Order{})
			var want []string
			if c.outcome != "" {
				want = []string{c.outcome}
			}
			f.wantOutcomes(report, want...)
			if _, held := f.recall().NonConvergent[deploymentID(1)]; held != (c.outcome == "1 non_convergent") {
				t.Errorf("still held: %v", held)
			}
		})
	}
}

// A saved plan does not have what was not kept, and an apply of it does not try that.
func TestSavedPlanLeavesOutWhatWasNotKept(t *testing.T) {
	f := newFixture(t, 2, "patch=merge")
	f.mixActions()
	f.Click(1, func(o *edge.Overrides) { o.Action = new(edge.ActionLog) })
	f.repo.Push("c1", declare(1, removing(core("xss"))), declare(2, core()))
	f.apply(Order{})
	f.repo.Push("c2", declare(1, removing(core("xss"))), declare(2, core("php")))
	planned, _ := f.plan(Order{})
	saved, err := planfile.Save(planned.Plan, f.Now(), time.Hour)
	must.Do(f.t, err)
	report, calls := f.apply(Order{Expect: func(now diff.Plan) error {
		if lines := saved.Differences(now); len(lines) > 0 {
			return errors.New(lines[0])
		}
		return nil
	}})
	f.wantOutcomes(report, "2 converged")
	f.wantRefused(report, "non_convergent")
	if report.Err != nil || writes(calls) != 1 {
		t.Errorf("error %v, calls %v", report.Err, calls)
	}
}

// What could not be remembered to be unkept is not kept all the same.
func TestUnkeptThatCannotBeRemembered(t *testing.T) {
	f := stubborn(t)
	f.records.Fails = func(call string) error { return map[string]error{"not kept": errFull}[call] }
	report, _ := f.apply(Order{})
	if report.Count(reconcile.NonConvergent) != 1 || report.Results[0].Err == nil {
		t.Errorf("results %v", outcomes(report))
	}
}
