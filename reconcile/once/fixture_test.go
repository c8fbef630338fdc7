package once

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
	"github.com/seawall-dev/seawall/reconcile/source"
)

func TestMain(m *testing.M) { os.Exit(soak.Main(m, 0)) }

// fixture is a platform in memory, a repository, and what is on record. Each plan and
// each apply over them is a process of its own. Calls are recorded, then may be tampered
// with, then reach the platform.
type fixture struct {
	reconciletest.Fleet
	*reconciletest.Clock
	t        testT
	tamper   *reconciletest.Tamper
	recorder *reconciletest.Recorder
	repo     *reconciletest.Repo
	good     *goodCommit
	records  *reconciletest.Records

	guards reconcile.Guards
	adjust func(*Run) // has the last word on each run; nil has none
	agreed func(ctx context.Context, commit string) ([]reconcile.Approval, error)
}

// testT is what *testing.T and *rapid.T have in common.
type testT interface {
	reconciletest.T
	Context() context.Context
}

// What tests declare, and what a platform answers that does not do what it is asked.
var (
	stateOf, zoneKey, declare, declareAll, core = reconciletest.State, reconciletest.ZoneKey, reconciletest.Zone, reconciletest.Zones, reconciletest.Core
	keeping, removing, switchedOff, writes      = reconciletest.Keeping, reconciletest.Removing, reconciletest.SwitchedOff, reconciletest.Writes
	failZone, deploymentID                      = reconciletest.FailZone, reconciletest.ID

	errUnauthenticated, errForbidden = reconciletest.ErrUnauthenticated, reconciletest.ErrForbidden
	errDown, errLost                 = reconciletest.ErrDown, reconciletest.ErrLost
	errFull                          = errors.New("disk is full")
)

type (
	send   = reconciletest.Send
	commit = reconciletest.Commit
)

// calls are the recorded calls in short; see [reconciletest.Calls].
func (f *fixture) calls() []string { return reconciletest.Calls(f.recorder) }

// pushTokens makes a commit the head that declares tokens, and zone 1.
func (f *fixture) pushTokens(name string, tokens ...desired.Token) {
	state := stateOf(name, declare(1, core("xss")))
	state.Tokens = tokens
	f.repo.Commit(name, commit{State: state})
}

// newFixture is a platform with n zones that all run the core ruleset, untuned, and a
// repository that is empty. Everything happens one by one.
func newFixture(t testT, n int, quirks ...string) *fixture {
	t.Helper()
	return seeded(t, mem.Fleet(n), quirks...)
}

func seeded(t testT, seed mem.Seed, quirks ...string) *fixture {
	t.Helper()
	fleet := reconciletest.NewFleet(t, mem.Config{Seed: seed, Quirks: quirks})
	f := &fixture{
		Fleet: fleet, Clock: reconciletest.NewClock(), t: t, tamper: &reconciletest.Tamper{Platform: fleet.Platform}, good: &goodCommit{},
		records: &reconciletest.Records{}, repo: reconciletest.NewRepo(),
	}
	f.recorder = reconciletest.Record(f.tamper)
	f.records.Now = f.Now
	return f
}

// run is a new process.
func (f *fixture) run() *Run {
	r := &Run{
		Source: source.New(source.Config{Source: f.repo, Compiler: f.repo, Agreed: f.agreed, Now: f.Now}),
		Good:   f.good, Records: f.records, Guards: f.guards,
		Lanes: reconcile.OneLane(reconcile.Lane{Reader: edge.ReadOnly(f.recorder), Writer: f.recorder, Concurrency: 1}), Now: f.Now,
	}
	if f.adjust != nil {
		f.adjust(r)
	}
	return r
}

// plan makes a plan and returns the report and the calls it took.
func (f *fixture) plan(order Order) (reconcile.Report, []string) {
	f.t.Helper()
	f.recorder.Reset()
	r := f.run()
	r.Lanes.All[0].Writer = nil
	report := r.Plan(f.t.Context(), order)
	return report, f.calls()
}

// apply makes an apply and returns the report and the calls it took.
func (f *fixture) apply(order Order) (reconcile.Report, []string) {
	f.t.Helper()
	return f.applyUntil(f.t.Context(), order)
}

func (f *fixture) applyUntil(ctx context.Context, order Order) (reconcile.Report, []string) {
	f.t.Helper()
	f.recorder.Reset()
	report := f.run().Apply(ctx, order)
	return report, f.calls()
}

// converge makes an apply that must leave nothing to do.
func (f *fixture) converge(order Order) (reconcile.Report, []string) {
	f.t.Helper()
	report, calls := f.apply(order)
	if !report.Converged() {
		f.t.Fatalf("not converged: error %v; results %v; refused %v; problems %+v",
			report.Err, outcomes(report), refusals(report), report.Plan.Problems)
	}
	return report, calls
}

func (f *fixture) wantCalls(got []string, want ...string) {
	f.t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		f.t.Errorf("calls (-want +got):\n%s", d)
	}
}

func (f *fixture) wantOff(zone int, tags ...string) {
	f.t.Helper()
	if got := f.Off(zone); !slices.Equal(got, tags) {
		f.t.Errorf("off in zone %d: %v, want %v", zone, got, tags)
	}
}

func mistake(message string) desired.Problem {
	return desired.Problem{Origin: desired.Origin{File: "zones/shop.cue", Line: 4, Column: 10}, Path: "account.prod", Message: message}
}

// goodCommit remembers a commit as the local store does.
type goodCommit struct {
	commit string
	err    error
}

func (g *goodCommit) SetGood(_ context.Context, commit string) error {
	if g.err == nil {
		g.commit = commit
	}
	return g.err
}

// recall returns everything on record.
func (f *fixture) recall() reconcile.Record {
	f.t.Helper()
	record, err := f.records.Forgetful.Restore(f.t.Context())
	must.Do(f.t, err)
	return record
}

// failWrite makes writes of one zone fail.
func failWrite(i int, err error) func(context.Context, edge.Scope, send) (*edge.Ruleset, error) {
	return func(_ context.Context, zone edge.Scope, send send) (*edge.Ruleset, error) {
		if zone == mem.FleetZone(i) {
			return nil, err
		}
		return send()
	}
}

// outcomes are the results in short: "zone-00001.example converged".
func outcomes(r reconcile.Report) []string {
	list := []string{}
	for _, result := range r.Results {
		text := result.Change.Zone + result.Change.Token + " " + string(result.Outcome)
		if result.Err != nil {
			text += ": " + result.Err.Error()
		}
		list = append(list, text)
	}
	return list
}

// wantOutcomes are the results by the number of their zone, or the key of their token.
func (f *fixture) wantOutcomes(r reconcile.Report, want ...string) {
	f.t.Helper()
	got := make([]string, 0, len(r.Results))
	for _, result := range r.Results {
		got = append(got, number(result.Change.Zone)+result.Change.Token+" "+string(result.Outcome))
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		f.t.Errorf("results (-want +got):\n%s\n%v", d, outcomes(r))
	}
}

// number is that of a zone of the fleet.
func number(key string) string {
	return strings.TrimLeft(strings.TrimSuffix(strings.TrimPrefix(key, "zone-"), ".example"), "0")
}

// refusals are the guards that refused.
func refusals(r reconcile.Report) (guards []string) {
	for _, c := range r.Plan.Changes {
		if c.Refused != nil {
			guards = append(guards, string(c.Refused.Guard))
		}
	}
	return guards
}

func (f *fixture) wantRefused(r reconcile.Report, guards ...string) {
	f.t.Helper()
	if got := refusals(r); !slices.Equal(got, guards) {
		f.t.Errorf("refused %v, want %v", got, guards)
	}
}

// failEach makes those writes fail of which fails says so.
func failEach(fails func() bool, err error) func(context.Context, edge.Scope, send) (*edge.Ruleset, error) {
	return func(_ context.Context, _ edge.Scope, send send) (*edge.Ruleset, error) {
		if fails() {
			return nil, err
		}
		return send()
	}
}

// commitSays are approvals that each commit carries.
func commitSays(said ...reconcile.Approval) func(context.Context, string) ([]reconcile.Approval, error) {
	return func(context.Context, string) ([]reconcile.Approval, error) { return said, nil }
}
