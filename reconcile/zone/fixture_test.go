package zone

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
)

// fixture is a worker over a platform in memory: calls are recorded, then may be
// tampered with, then reach the platform.
type fixture struct {
	t        testT
	platform *mem.Platform
	tamper   *tamper
	recorder *edge.Recorder
	gate     *gate
	*clock
	*Worker

	between func() // between plan and apply; nil does nothing
}

// testT is what *testing.T and *rapid.T have in common.
type testT interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// newFixture has n zones that all run the core ruleset, untuned.
func newFixture(t testT, n int, quirks ...string) *fixture {
	t.Helper()
	return seeded(t, mem.Fleet(n), quirks...)
}

func seeded(t testT, seed mem.Seed, quirks ...string) *fixture {
	t.Helper()
	platform, err := mem.New(mem.Config{Seed: seed, Quirks: quirks})
	if err != nil {
		t.Fatalf("%v", err)
	}
	f := &fixture{
		t: t, platform: platform, tamper: &tamper{Platform: platform}, gate: &gate{},
		clock: &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
	f.recorder = edge.Record(f.tamper)
	f.Worker = &Worker{
		Reader: f.recorder, Writer: f.recorder, Accounts: NewAccounts(f.recorder, f.clock.Now), Gate: f.gate,
		Indexes: &diff.Indexes{}, Now: f.clock.Now,
	}
	return f
}

// Now resolves the name that the clock and the worker both have.
func (f *fixture) Now() time.Time { return f.clock.Now() }

// task is a zone that a commit declares.
func (f *fixture) task(z desired.Zone) Task {
	state := stateOf(z)
	return Task{State: Of(state, 0, 0), Fingerprint: z.Fingerprint(state.Accounts[0]), Applied: maps.Clone(f.gate.applied), Prunable: maps.Clone(f.gate.prunable)}
}

// plan reads and plans, through the guards that ask nothing of anyone.
func (f *fixture) plan(ctx context.Context, t Task) (Sight, diff.Plan) {
	f.t.Helper()
	s, err := f.Read(ctx, t)
	if err != nil {
		f.t.Fatalf("%v", err)
	}
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

// calls are the recorded calls in short: "list", "managed core", "read 3",
// "write 3" (zones of a fleet by number, other accounts by id).
func (f *fixture) calls() []string {
	calls := f.recorder.Calls()
	for i, call := range calls {
		calls[i] = shorten(call)
	}
	return calls
}

func shorten(call string) string {
	verb, path, _ := strings.Cut(call, " ")
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	who := strings.TrimLeft(strings.TrimPrefix(parts[1], "f1ee"), "0")
	if parts[0] == "accounts" && (verb != "GET" || len(parts) == 6) {
		who = "account"
	}
	switch {
	case verb == "PATCH":
		return "write " + who
	case verb == "DELETE":
		return "delete " + who
	case verb == "POST" && parts[len(parts)-1] == "rules":
		return "add " + who
	case verb == "POST":
		return "create " + who
	case parts[0] == "zones", len(parts) == 6:
		return "read " + who
	case len(parts) == 3 && parts[1] == string(mem.Account):
		return "list"
	case len(parts) == 3:
		return "list " + parts[1]
	case parts[3] == string(mem.CoreRuleset):
		return "managed core"
	}
	return "managed credentials"
}

func writes(calls []string) (n int) {
	for _, call := range calls {
		if strings.HasPrefix(call, "write") {
			n++
		}
	}
	return n
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

// entry returns the truth about a zone, whatever the platform answers.
func (f *fixture) entry(zone int) edge.Ruleset {
	f.t.Helper()
	for _, z := range f.platform.State().Zones {
		if edge.ZoneScope(z.ID) == mem.FleetZone(zone) {
			return *z.EntryPoint
		}
	}
	f.t.Fatalf("no zone %d", zone)
	return edge.Ruleset{}
}

// click changes the first rule of a zone the way a person in a dashboard does.
func (f *fixture) click(zone int, change func(*edge.Overrides)) {
	f.t.Helper()
	entry := f.entry(zone)
	o := edge.Overrides{}
	if live := entry.Rules[0].ActionParameters.Overrides; live != nil {
		o = *live
	}
	change(&o)
	entry.Rules[0].ActionParameters.Overrides = &o
	if err := f.platform.SetEntryPoint(mem.FleetZone(zone), entry); err != nil {
		f.t.Fatalf("%v", err)
	}
}

// switchedOff is the click that leaves exactly these tags off.
func switchedOff(tags ...string) func(*edge.Overrides) {
	return func(o *edge.Overrides) {
		o.Categories = nil
		for _, tag := range tags {
			o.Categories = append(o.Categories, edge.CategoryOverride{Category: tag, Enabled: new(false)})
		}
	}
}

// off returns the tags that are off in a zone.
func (f *fixture) off(zone int) (tags []string) {
	if o := f.entry(zone).Rules[0].ActionParameters.Overrides; o != nil {
		for _, c := range o.Categories {
			if c.Enabled != nil && !*c.Enabled {
				tags = append(tags, c.Category)
			}
		}
	}
	slices.Sort(tags)
	return tags
}

// managed is a managed ruleset as the platform has it.
func (f *fixture) managed(id edge.RulesetID) edge.Ruleset {
	f.t.Helper()
	for _, r := range f.platform.State().Accounts[0].Rulesets {
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
	if err := f.platform.SetRuleset(mem.Account, f.managed(mem.CoreRuleset)); err != nil {
		f.t.Fatalf("%v", err)
	}
}

// clock is a wall clock that moves when told to.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// stateOf declares zones of the fleet's account.
func stateOf(zones ...desired.Zone) desired.State {
	return desired.State{Commit: "c1", Accounts: []desired.Account{{
		Key: "prod", ID: mem.Account, Zones: zones,
		Rulesets: []desired.RulesetRef{{Key: "core", Name: "Core Ruleset"}, {Key: "credentials", ID: mem.CredentialsRuleset}},
	}}}
}

// declare declares a zone of the fleet.
func declare(i int, deployments ...desired.Deployment) desired.Zone {
	return desired.Zone{Key: fmt.Sprintf("zone-%05d.example", i), Scope: mem.FleetZone(i), Deployments: deployments}
}

// declareAll declares zones 1 to n alike.
func declareAll(n int, d desired.Deployment) []desired.Zone {
	all := make([]desired.Zone, n)
	for i := range all {
		all[i] = declare(i+1, d)
	}
	return all
}

// core declares a deployment of the core ruleset that switches tags off.
func core(tags ...string) desired.Deployment {
	d := desired.Deployment{Ruleset: "core", Enabled: desired.Declared[bool]{Value: true}}
	for _, tag := range tags {
		d.Disable.Tags = append(d.Disable.Tags, desired.Declared[string]{Value: tag})
	}
	return d
}

func keeping(d desired.Deployment) desired.Deployment {
	d.Unmanaged = &desired.Declared[desired.Unmanaged]{Value: desired.Keep}
	return d
}

func removing(d desired.Deployment) desired.Deployment {
	d.Unmanaged = &desired.Declared[desired.Unmanaged]{Value: desired.Remove}
	return d
}

// gate is a record in memory that lets everything pass.
type gate struct {
	applied  diff.Applied
	prunable diff.Pruning
	unkept   map[diff.DeploymentID]string
	permit   func(planned, now diff.Change) (*diff.Refusal, error) // nil agrees
	full     error                                                 // of Proved and NotKept
	ended    int                                                   // how often a zone was given back
}

func (g *gate) Permit(_ context.Context, _ Task, planned, now diff.Change) (*diff.Refusal, error) {
	if g.permit != nil {
		return g.permit(planned, now)
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

func (g *gate) NotKept(ctx context.Context, _ Task, left diff.Change) (news bool, err error) {
	if err := errors.Join(ctx.Err(), g.full); err != nil {
		return true, err
	}
	if g.unkept == nil {
		g.unkept = map[diff.DeploymentID]string{}
	}
	g.unkept[left.ID()] = left.Fingerprint()
	return true, nil
}

// send is what the platform would do with a write.
type send = func() (*edge.Ruleset, error)

// tamper stands between recorder and platform. A hook that is nil lets calls
// pass. Hooks see calls side by side where the worker makes them so.
type tamper struct {
	*mem.Platform
	list    func(edge.AccountID) error
	lists   func([]edge.Ruleset) []edge.Ruleset
	managed func() error
	read    func(edge.Scope) error
	write   func(ctx context.Context, send send) (*edge.Ruleset, error)
	deploy  func(send send) (*edge.Ruleset, error) // of calls that add and delete rules
}

func (p *tamper) Rulesets(ctx context.Context, scope edge.Scope) ([]edge.Ruleset, error) {
	if p.list != nil {
		if err := p.list(edge.AccountID(scope.ID)); err != nil {
			return nil, err
		}
	}
	all, err := p.Platform.Rulesets(ctx, scope)
	if p.lists != nil {
		all = p.lists(all)
	}
	return all, err
}

func (p *tamper) Ruleset(ctx context.Context, scope edge.Scope, id edge.RulesetID) (edge.Ruleset, error) {
	if p.managed != nil {
		if err := p.managed(); err != nil {
			return edge.Ruleset{}, err
		}
	}
	return p.Platform.Ruleset(ctx, scope, id)
}

func (p *tamper) EntryPoint(ctx context.Context, zone edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	if p.read != nil {
		if err := p.read(zone); err != nil {
			return edge.Ruleset{}, err
		}
	}
	return p.Platform.EntryPoint(ctx, zone, phase)
}

func (p *tamper) UpdateRule(ctx context.Context, zone edge.Scope, entryPoint edge.RulesetID, rule edge.RuleID, body edge.Rule) (*edge.Ruleset, error) {
	send := func() (*edge.Ruleset, error) { return p.Platform.UpdateRule(ctx, zone, entryPoint, rule, body) }
	if p.write == nil {
		return send()
	}
	if err := edge.Sending(ctx); err != nil {
		return nil, err
	}
	return p.write(ctx, send)
}

// failZone makes reads of one zone fail.
func failZone(i int, err error) func(edge.Scope) error {
	return func(zone edge.Scope) error {
		if zone == mem.FleetZone(i) {
			return err
		}
		return nil
	}
}

func deploymentID(zone int) diff.DeploymentID {
	return diff.DeploymentID{Scope: mem.FleetZone(zone), Ruleset: mem.CoreRuleset}
}

var (
	errUnauthenticated = &edge.Error{Status: 401, Details: []edge.ErrorDetail{{Code: edge.CodeInvalidToken, Message: "Invalid API Token"}}}
	errForbidden       = &edge.Error{Status: 403, Details: []edge.ErrorDetail{{Code: edge.CodeNotPermitted, Message: "Unauthorized to access requested resource"}}}
	errDown            = &edge.Error{Status: 503}
	errLost            = fmt.Errorf("reading the answer: %w: %w", edge.ErrOutcomeUnknown, errors.New("connection reset"))
)
