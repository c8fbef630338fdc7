package zone

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// fixture is a worker over a platform in memory: calls are recorded, then may be
// tampered with, then reach the platform.
type fixture struct {
	reconciletest.Fleet
	t        testT
	tamper   *reconciletest.Tamper
	recorder *reconciletest.Recorder
	gate     *gate
	clock    *reconciletest.Clock
	*Worker

	between func() // between plan and apply; nil does nothing
}

// testT is what *testing.T and *rapid.T have in common.
type testT interface {
	reconciletest.T
	Context() context.Context
}

// What tests declare, and what a platform answers that does not do what it is asked.
var (
	declare, declareAll, core, keeping, removing = reconciletest.Zone, reconciletest.Zones, reconciletest.Core, reconciletest.Keeping, reconciletest.Removing
	switchedOff, writes, failZone, deploymentID  = reconciletest.SwitchedOff, reconciletest.Writes, reconciletest.FailZone, reconciletest.ID

	errUnauthenticated, errForbidden = reconciletest.ErrUnauthenticated, reconciletest.ErrForbidden
	errDown, errLost                 = reconciletest.ErrDown, reconciletest.ErrLost
)

type send = reconciletest.Send

func stateOf(zones ...desired.Zone) desired.State { return reconciletest.State("c1", zones...) }

// calls are the recorded calls in short; see [reconciletest.Calls].
func (f *fixture) calls() []string { return reconciletest.Calls(f.recorder) }

// newFixture has n zones that all run the core ruleset, untuned.
func newFixture(t testT, n int, quirks ...string) *fixture {
	t.Helper()
	return seeded(t, mem.Fleet(n), quirks...)
}

func seeded(t testT, seed mem.Seed, quirks ...string) *fixture {
	t.Helper()
	return fixtureOn(t, mem.Config{Seed: seed, Quirks: quirks})
}

func fixtureOn(t testT, c mem.Config) *fixture {
	t.Helper()
	fleet := reconciletest.NewFleet(t, c)
	f := &fixture{
		Fleet: fleet, t: t, tamper: &reconciletest.Tamper{Platform: fleet.Platform}, gate: &gate{}, clock: reconciletest.NewClock(),
	}
	f.recorder = reconciletest.Record(f.tamper)
	f.Worker = &Worker{
		Reader: f.recorder, Writer: f.recorder, Accounts: NewAccounts(f.recorder, f.clock.Now), Gate: f.gate,
		Indexes: &diff.Indexes{}, Now: f.clock.Now,
	}
	return f
}

// task is a zone that a commit declares.
func (f *fixture) task(z desired.Zone) Task {
	state := stateOf(z)
	return Task{State: Of(state, 0, 0), Fingerprint: z.Fingerprint(state.Accounts[0]), Applied: maps.Clone(f.gate.applied), Prunable: maps.Clone(f.gate.prunable)}
}

// plan reads and plans, through the guards that ask nothing of anyone.
func (f *fixture) plan(ctx context.Context, t Task) (Sight, diff.Plan) {
	f.t.Helper()
	s, err := f.Read(ctx, t)
	must.Do(f.t, err)
	return s, guard.Check(f.Plan(t, s), guard.Facts{NonConvergent: f.gate.unkept})
}

// done is what became of a zone.
type done struct {
	plan    diff.Plan
	results []reconcile.Result
	sight   Sight
	calls   []string // since the plan
}

// work goes through all stages of a zone.
func (f *fixture) work(z desired.Zone) done {
	f.t.Helper()
	return f.workUntil(f.t.Context(), z)
}

func (f *fixture) workUntil(ctx context.Context, z desired.Zone) (d done) {
	f.t.Helper()
	t := f.task(z)
	sight, plan := f.plan(context.WithoutCancel(ctx), t)
	f.recorder.Reset()
	if f.between != nil {
		f.between()
	}
	d.plan = plan
	d.results, d.sight = f.Apply(ctx, t, sight, plan)
	d.calls = f.calls()
	return d
}

// converge is work that must leave nothing to do.
func (f *fixture) converge(z desired.Zone) done {
	f.t.Helper()
	d := f.work(z)
	for _, result := range d.results {
		if result.Outcome != reconcile.Converged {
			f.t.Fatalf("not converged: %v", outcomes(d))
		}
	}
	if d.plan.Attention() {
		f.t.Fatalf("not converged: refused %v; problems %+v", refusals(d.plan), d.plan.Problems)
	}
	return d
}

func (f *fixture) wantCalls(got []string, want ...string) {
	f.t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		f.t.Errorf("calls (-want +got):\n%s", d)
	}
}

// wantOutcomes: one outcome for each change that was to be applied.
func (f *fixture) wantOutcomes(d done, want ...reconcile.Outcome) {
	f.t.Helper()
	var got []reconcile.Outcome
	for _, result := range d.results {
		got = append(got, result.Outcome)
	}
	if !slices.Equal(got, want) {
		f.t.Errorf("results %v, want %v", outcomes(d), want)
	}
}

// outcomes are the results in short: "core converged".
func outcomes(d done) (list []string) {
	for _, result := range d.results {
		text := result.Change.Deployment + " " + string(result.Outcome)
		if result.Err != nil {
			text += ": " + result.Err.Error()
		}
		list = append(list, text)
	}
	return list
}

// refusals are the guards that refused.
func refusals(p diff.Plan) (guards []string) {
	for _, c := range p.Changes {
		if c.Refused != nil {
			guards = append(guards, string(c.Refused.Guard))
		}
	}
	return guards
}

// managed is a managed ruleset as the platform has it.
func (f *fixture) managed(id edge.RulesetID) edge.Ruleset {
	f.t.Helper()
	for _, r := range f.Platform.State().Accounts[0].Rulesets {
		if r.ID == id {
			return r
		}
	}
	f.t.Fatalf("no ruleset %s", id)
	return edge.Ruleset{}
}

// release puts out a new version of the core ruleset.
func (f *fixture) release() {
	f.t.Helper()
	must.Do(f.t, f.Platform.SetRuleset(mem.Account, f.managed(mem.CoreRuleset)))
}

// gate is a record in memory that lets everything pass.
type gate struct {
	applied  diff.Applied
	prunable diff.Pruning
	unkept   map[diff.ID]string
	permit   func(planned, now diff.Change) (*diff.Refusal, error) // nil agrees
	full     error                                                 // of Proved and NotKept
	widens   bool                                                  // what a change owns is on record before it is proved
	ended    int                                                   // how often a zone was given back
}

func (g *gate) Permit(_ context.Context, _ Task, planned, now diff.Change) (*diff.Refusal, error) {
	if g.permit != nil {
		if refusal, err := g.permit(planned, now); refusal != nil || err != nil {
			return refusal, err
		}
	}
	if g.widens { // as what is recorded before a write
		g.applied = maps.Clone(g.applied)
		if g.applied == nil {
			g.applied = diff.Applied{}
		}
		g.applied[now.ID()] = slices.Compact(slices.Sorted(slices.Values(slices.Concat(g.applied[now.ID()], now.Do().Owned()))))
	}
	return nil, nil
}

func (g *gate) Proved(ctx context.Context, _ Task, settled []diff.Settled) error {
	if err := errors.Join(ctx.Err(), g.full); err != nil {
		return err
	}
	if g.applied == nil {
		g.applied = diff.Applied{}
	}
	for _, s := range settled {
		g.applied[s.ID] = s.Owned
		delete(g.unkept, s.ID)
		delete(g.prunable, s.ID)
		switch {
		case s.Removed:
			delete(g.applied, s.ID)
		case s.Prune != nil && g.prunable == nil:
			g.prunable = diff.Pruning{s.ID: *s.Prune}
		case s.Prune != nil:
			g.prunable[s.ID] = *s.Prune
		}
	}
	return nil
}

func (g *gate) Ended(context.Context, Task, string) error { g.ended++; return nil }

func (g *gate) Recheck(context.Context, Task, diff.Change) error { return nil }

func (g *gate) NotKept(ctx context.Context, _ Task, left diff.Change) (news bool, err error) {
	if err := errors.Join(ctx.Err(), g.full); err != nil {
		return true, err
	}
	if g.unkept == nil {
		g.unkept = map[diff.ID]string{}
	}
	g.unkept[left.ID()] = left.Fingerprint()
	return true, nil
}
