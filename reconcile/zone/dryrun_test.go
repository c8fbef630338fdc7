package zone

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// asked is a platform that is asked about writes, and answers as it is told.
type asked struct {
	edge.DryRunner
	mu     sync.Mutex
	calls  []string
	answer func(call string) error // nil: as the platform
}

func (a *asked) ask(call string, platform func() error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, call)
	if a.answer != nil {
		if err := a.answer(call); err != nil {
			return err
		}
	}
	return platform()
}

func (a *asked) Try(ctx context.Context, w edge.Write) error {
	return a.ask(reconciletest.Shorten(w.String()), func() error { return a.DryRunner.Try(ctx, w) })
}

// dryFixture has two zones whose deployments are to be updated, one in which one is to be
// added, and one without an entry point; and the plan of them.
func dryFixture(t *testing.T) (*fixture, *asked, diff.Plan, diff.Live) {
	t.Helper()
	seed := mem.Fleet(4)
	seed.Zones[3].EntryPoint = nil
	platform, err := mem.New(mem.Config{Seed: seed, Profile: mem.Extended})
	must.Do(t, err)
	f := newDeployFixture(t, 0)
	f.Platform, f.tamper.Platform = platform, platform
	zones := declareAll(4, deployed1(core("xss")))
	zones[2].Deployments = append(zones[2].Deployments, credentials())
	zones[2].Deployments[0] = core()
	all, err := Many{Lanes: reconcile.OneLane(reconcile.Lane{Reader: f.tamper, Concurrency: 1}), Now: f.Now}.Read(t.Context(), stateOf(zones...))
	must.Do(t, err)
	plan := diff.NewPlan("c1")
	for i := range zones {
		sight := Sight{Account: all.Live.Accounts[mem.Account], Places: Places{{Phase: edge.PhaseFirewallManaged, Observed: all.Live.EntryPoints[mem.FleetZone(i+1).At(edge.PhaseFirewallManaged)]}}}
		plan.Changes = append(plan.Changes, f.Plan(f.task(zones[i]), sight).Changes...)
	}
	return f, &asked{DryRunner: platform}, plan.Sealed(), all.Live
}

// dryLanes try one change after the other.
func dryLanes(r edge.DryRunner) reconcile.Lanes {
	return reconcile.OneLane(reconcile.Lane{DryRunner: r, Concurrency: 1})
}

func namesRefused(p diff.Plan) (names []string) {
	for _, c := range p.Changes {
		if c.Refused != nil && c.Refused.Guard == diff.GuardDryRun {
			names = append(names, c.Zone)
		}
	}
	return names
}

func TestDryRuns(t *testing.T) {
	name := func(i int, deployment string) string {
		return fmt.Sprintf("prod / zone-%05d.example / %s", i, deployment)
	}
	everything := []string{"write 3", "add 3", "create 4", "write 1", "write 2"}
	entitled := &edge.Error{Status: 400, Details: []edge.ErrorDetail{{Code: edge.CodeNotEntitled, Message: "not entitled"}}}
	only := func(call string, err error) func(string) error {
		return func(c string) error {
			if c == call {
				return err
			}
			return nil
		}
	}
	for title, c := range map[string]struct {
		runs    DryRuns
		answer  func(string) error
		calls   []string
		refused []string
		want    diff.DryRun
	}{
		"all would be accepted": {calls: everything, want: diff.DryRun{Tried: 4}},
		"as many as it may try": {
			runs: DryRuns{Limit: 3}, calls: everything[:4],
			want: diff.DryRun{Tried: 3, NotTried: []string{name(2, "core")}, Reason: "a plan tries at most 3"},
		},
		"one is not entitled": {
			answer: only("create 4", entitled), calls: everything, refused: []string{"zone-00004.example"}, want: diff.DryRun{Tried: 4},
		},
		"one is not permitted": {
			answer: only("add 3", errForbidden), calls: everything,
			want: diff.DryRun{Tried: 3, NotTried: []string{name(3, "credentials")}, Reason: errForbidden.Error()},
		},
		"it may have written": {
			answer: only("add 3", edge.ErrNotDry), calls: everything[:2],
			want: diff.DryRun{NotTried: []string{name(3, "credentials"), name(4, "core"), name(1, "core"), name(2, "core")}, Reason: edge.ErrNotDry.Error()},
		},
		"it has no dry run": {
			answer: only("write 3", edge.ErrNotOffered), calls: everything[:1],
			want: diff.DryRun{
				NotTried: []string{name(3, "credentials"), name(4, "core"), name(1, "core"), name(2, "core")},
				Reason:   "a dry run that changes nothing did not pass: " + edge.ErrNotOffered.Error(),
			},
		},
	} {
		t.Run(title, func(t *testing.T) {
			f, runner, plan, live := dryFixture(t)
			before := f.Platform.State()
			runner.answer = c.answer
			c.runs.Lanes = dryLanes(runner)
			got := c.runs.Check(t.Context(), plan, live)
			if d := cmp.Diff(c.calls, runner.calls); d != "" {
				t.Errorf("calls (-want +got):\n%s", d)
			}
			if !slices.Equal(namesRefused(got), c.refused) {
				t.Errorf("refused %v", namesRefused(got))
			}
			if d := cmp.Diff(&c.want, got.DryRun); d != "" {
				t.Errorf("dry run (-want +got):\n%s", d)
			}
			if got.ApprovalDigest() != plan.ApprovalDigest() || namesRefused(plan) != nil {
				t.Error("what people agree to has changed, or the plan it was given")
			}
			if d := cmp.Diff(before, f.Platform.State()); d != "" {
				t.Errorf("it writes (-want +got):\n%s", d)
			}
		})
	}
}

// A refusal by the platform stands before one that only waits; what is refused for good is
// not tried.
func TestDryRunsOfRefusedChanges(t *testing.T) {
	_, runner, plan, live := dryFixture(t)
	calm := guard.Facts{Rules: []guard.Rule{{Name: "calm", Approve: guard.ApproveAll}}, NonConvergent: map[diff.ID]string{}}
	for _, c := range plan.Changes {
		if c.Zone == "zone-00001.example" {
			calm.NonConvergent[c.ID()] = c.Fingerprint()
		}
	}
	runner.answer = func(call string) error {
		if call == "add 3" {
			return &edge.Error{Status: 400, Details: []edge.ErrorDetail{{Message: "no such field"}}}
		}
		return nil
	}
	got := DryRuns{Lanes: dryLanes(runner)}.Check(t.Context(), guard.Check(plan, calm), live)
	if d := cmp.Diff([]string{"write 3", "add 3", "create 4", "write 2"}, runner.calls); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	guards := []string{}
	for _, c := range got.Changes {
		guards = append(guards, string(c.Refused.Guard))
	}
	if want := []string{"non_convergent", "approval", "dry_run", "approval"}; !slices.Equal(guards, want) {
		t.Errorf("guards %v, want %v", guards, want)
	}
	if r := got.Changes[2].Refused; !strings.Contains(r.Reason, "no such field") || r.Digest != "" {
		t.Errorf("refusal %+v", r)
	}
}

// What waits until git was looked at is tried as what waits for a person is.
func TestDryRunsWhileGitWasNotLookedAt(t *testing.T) {
	_, runner, plan, live := dryFixture(t)
	got := DryRuns{Lanes: dryLanes(runner)}.Check(t.Context(), guard.Check(plan, guard.Facts{PutBack: true}), live)
	if got.DryRun == nil || got.DryRun.Tried != len(plan.Changes) {
		t.Errorf("of %d changes are tried: %+v", len(plan.Changes), got.DryRun)
	}
}

// Who asks for a stranger asks nothing of a platform that has not shown that it knows dry
// runs.
func TestCarefulDryRuns(t *testing.T) {
	_, runner, plan, live := dryFixture(t)
	for place := range live.EntryPoints {
		if place.Scope != mem.FleetZone(4) {
			delete(live.EntryPoints, place)
		}
	}
	plan.Changes = slices.DeleteFunc(plan.Changes, func(c diff.Change) bool { return c.Scope != mem.FleetZone(4) })
	got := DryRuns{Lanes: dryLanes(runner), Careful: true}.Check(t.Context(), plan, live)
	if len(runner.calls) != 0 || got.DryRun.Tried != 0 || len(got.DryRun.NotTried) != 1 {
		t.Errorf("calls %v, %+v", runner.calls, got.DryRun)
	}
	got = DryRuns{Lanes: dryLanes(runner)}.Check(t.Context(), plan, live)
	if !slices.Equal(runner.calls, []string{"create 4"}) || got.DryRun.Tried != 1 {
		t.Errorf("calls %v, %+v", runner.calls, got.DryRun)
	}
	if got := (DryRuns{}).Check(t.Context(), plan, live); got.DryRun != nil {
		t.Errorf("asked without a platform: %+v", got.DryRun)
	}
}
