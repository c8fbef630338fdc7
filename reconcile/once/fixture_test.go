package once

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/source"
)

// fixture is a platform in memory, a repository, and what is on record. Each plan and
// each apply over them is a process of its own. Calls are recorded, then may be tampered
// with, then reach the platform.
type fixture struct {
	t        testT
	platform *mem.Platform
	tamper   *tamper
	recorder *edge.Recorder
	repo     *repo
	good     *goodCommit
	records  *records
	*clock

	guards reconcile.Guards
	adjust func(*Run) // has the last word on each run; nil has none
	agreed func(ctx context.Context, commit string) ([]reconcile.Approval, error)
}

// testT is what *testing.T and *rapid.T have in common.
type testT interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// newFixture is a platform with n zones that all run the core ruleset, untuned, and a
// repository that is empty. Everything happens one by one.
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
		t: t, platform: platform, tamper: &tamper{Platform: platform}, good: &goodCommit{}, records: &records{},
		repo:  &repo{commits: map[string]commit{}},
		clock: &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
	f.recorder = edge.Record(f.tamper)
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

// calls are the recorded calls in short: "list", "managed core", "read 3",
// "write 3" (zones of a fleet by number, other accounts and zones by id).
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
	switch {
	case verb == "PATCH":
		return "write " + who
	case parts[0] == "zones":
		return "read " + who
	case len(parts) == 3 && parts[1] == string(mem.Account):
		return "list"
	case len(parts) == 3:
		return "list " + parts[1]
	case parts[3] == string(mem.CoreRuleset):
		return "managed core"
	}
	return "managed " + parts[3]
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

func (f *fixture) wantOff(zone int, tags ...string) {
	f.t.Helper()
	if got := f.off(zone); !slices.Equal(got, tags) {
		f.t.Errorf("off in zone %d: %v, want %v", zone, got, tags)
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

// repo is git and the compiler in one: a head and what each commit says.
type repo struct {
	head     string
	fetchErr error
	commits  map[string]commit
}

type commit struct {
	state    desired.State
	problems []desired.Problem
	err      error
}

func (r *repo) Fetch(context.Context) (string, error) { return r.head, r.fetchErr }

func (r *repo) Compile(_ context.Context, name string) (desired.State, []desired.Problem, error) {
	c := r.commits[name]
	return c.state, c.problems, c.err
}

// push makes a commit the head.
func (r *repo) push(name string, zones ...desired.Zone) {
	r.head = name
	r.commits[name] = commit{state: stateOf(name, zones...)}
}

// pushTokens makes a commit the head that declares tokens, and zone 1.
func (r *repo) pushTokens(name string, tokens ...desired.Token) {
	r.push(name, declare(1, core("xss")))
	c := r.commits[name]
	c.state.Tokens = tokens
	r.commits[name] = c
}

func (r *repo) pushInvalid(name string, problems ...desired.Problem) {
	r.head = name
	r.commits[name] = commit{problems: problems}
}

func mistake(message string) desired.Problem {
	return desired.Problem{Origin: desired.Origin{File: "zones/shop.cue", Line: 4, Column: 10}, Path: "account.prod", Message: message}
}

// stateOf declares zones of the fleet's account.
func stateOf(commit string, zones ...desired.Zone) desired.State {
	return desired.State{Commit: commit, Accounts: []desired.Account{{
		Key: "prod", ID: mem.Account, Zones: zones,
		Rulesets: []desired.RulesetRef{{Key: "core", Name: "Core Ruleset"}, {Key: "credentials", ID: mem.CredentialsRuleset}},
	}}}
}

// declare declares a zone of the fleet.
func declare(i int, deployments ...desired.Deployment) desired.Zone {
	return desired.Zone{Key: zoneKey(i), Scope: mem.FleetZone(i), Deployments: deployments}
}

func zoneKey(i int) string { return fmt.Sprintf("zone-%05d.example", i) }

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
	d := desired.Deployment{
		Ruleset: "core", Enabled: desired.Declared[bool]{Value: true},
		Origin: desired.Origin{File: "zones/shop.cue", Line: 4, Column: 2},
	}
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

// goodCommit remembers a commit as the local store does.
type goodCommit struct {
	commit string
	err    error
}

func (g *goodCommit) Good(context.Context) (string, bool, error) {
	return g.commit, g.commit != "", g.err
}

func (g *goodCommit) SetGood(_ context.Context, commit string) error {
	if g.err == nil {
		g.commit = commit
	}
	return g.err
}

// records are in memory, mind their context as a database does, and may fail: fails is
// asked before each writing call, and before Standing.
type records struct {
	reconcile.Forgetful
	fails func(call string) error // nil: none does

	mu        sync.Mutex
	made      []string // the writing calls that were made
	overrides []reconcile.Approval
}

func (r *records) begin(ctx context.Context, call string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails != nil {
		if err := r.fails(call); err != nil {
			return err
		}
	}
	if ctx.Err() == nil && call != "standing" {
		r.made = append(r.made, call)
	}
	return ctx.Err()
}

func (r *records) Standing(ctx context.Context) (reconcile.Standing, error) {
	if err := r.begin(ctx, "standing"); err != nil {
		return reconcile.Standing{}, err
	}
	return r.Forgetful.Standing(ctx)
}

func (r *records) AcceptCommit(ctx context.Context, a reconcile.Acceptance) error {
	if err := r.begin(ctx, "accept"); err != nil {
		return err
	}
	return r.Forgetful.AcceptCommit(ctx, a)
}

func (r *records) Prove(ctx context.Context, commit string, proofs []reconcile.Proof, settled []diff.Settled, results ...reconcile.Entry) error {
	if err := r.begin(ctx, "prove"); err != nil {
		return err
	}
	return r.Forgetful.Prove(ctx, commit, proofs, settled, results...)
}

func (r *records) Widen(ctx context.Context, owned []diff.Settled) error {
	if err := r.begin(ctx, "widen"); err != nil {
		return err
	}
	return r.Forgetful.Widen(ctx, owned)
}

// RecordWrite counts as widening where that is to be done: the history costs nothing here.
func (r *records) RecordWrite(ctx context.Context, _ reconcile.Entry, owned []diff.Settled) (int64, error) {
	if len(owned) == 0 {
		return 0, nil
	}
	return 0, r.Widen(ctx, owned)
}

func (r *records) NonConvergent(ctx context.Context, id diff.DeploymentID, fingerprint string) error {
	if err := r.begin(ctx, "not kept"); err != nil {
		return err
	}
	return r.Forgetful.NonConvergent(ctx, id, fingerprint)
}

func (r *records) Forget(ctx context.Context, ids []diff.DeploymentID) error {
	if err := r.begin(ctx, "forget"); err != nil {
		return err
	}
	return r.Forgetful.Forget(ctx, ids)
}

func (r *records) Approve(ctx context.Context, approvals []reconcile.Approval) error {
	if err := r.begin(ctx, "approve"); err != nil {
		return err
	}
	for _, a := range approvals {
		if a.Kind == reconcile.Overridden {
			r.overrides = append(r.overrides, a)
		}
	}
	return r.Forgetful.Approve(ctx, approvals)
}

func (r *records) Spend(ctx context.Context, digests []string) error {
	if err := r.begin(ctx, "spend"); err != nil {
		return err
	}
	return r.Forgetful.Spend(ctx, digests)
}

func (r *records) Roll(ctx context.Context, change func(reconcile.Rollout) reconcile.Rollout) error {
	if err := r.begin(ctx, "roll"); err != nil {
		return err
	}
	return r.Forgetful.Roll(ctx, change)
}

// recall returns everything on record.
func (f *fixture) recall() reconcile.Record {
	f.t.Helper()
	record, err := f.records.Restore(f.t.Context())
	if err != nil {
		f.t.Fatalf("%v", err)
	}
	return record
}

// send is what the platform would do with a write.
type send = func() (*edge.Ruleset, error)

// tamper stands between recorder and platform. A hook that is nil lets calls
// pass. Hooks see calls side by side where the run makes them so.
type tamper struct {
	*mem.Platform
	list    func(edge.AccountID) error
	managed func() error
	read    func(edge.Scope) error
	write   func(ctx context.Context, zone edge.Scope, send send) (*edge.Ruleset, error)
}

func (p *tamper) Rulesets(ctx context.Context, scope edge.Scope) ([]edge.Ruleset, error) {
	if p.list != nil {
		if err := p.list(edge.AccountID(scope.ID)); err != nil {
			return nil, err
		}
	}
	return p.Platform.Rulesets(ctx, scope)
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
	return p.write(ctx, zone, send)
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

func deploymentID(zone int) diff.DeploymentID {
	return diff.DeploymentID{Scope: mem.FleetZone(zone), Ruleset: mem.CoreRuleset}
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatalf("%v", err)
	}
}

var (
	errUnauthenticated = &edge.Error{Status: 401, Details: []edge.ErrorDetail{{Code: edge.CodeInvalidToken, Message: "Invalid API Token"}}}
	errForbidden       = &edge.Error{Status: 403, Details: []edge.ErrorDetail{{Code: edge.CodeNotPermitted, Message: "Unauthorized to access requested resource"}}}
	errDown            = &edge.Error{Status: 503}
	errLost            = fmt.Errorf("reading the answer: %w: %w", edge.ErrOutcomeUnknown, errors.New("connection reset"))
	errFull            = errors.New("disk is full")
)

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
