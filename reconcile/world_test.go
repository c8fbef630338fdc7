package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// world is a whole platform in memory with a reconciler over it: calls are
// recorded, then may be tampered with, then reach the platform.
type world struct {
	t        testing.TB
	platform *mem.Platform
	tamper   *tamper
	record   *edge.Recorder
	repo     *repo
	good     *goodCommit
	memory   *disk
	clock    *clock
	*Reconciler
}

// newWorld is a platform with n zones that all run the core ruleset, untuned,
// and a repository that is empty. Everything happens one by one.
func newWorld(t testing.TB, n int, quirks ...string) *world {
	t.Helper()
	return seededWorld(t, mem.Fleet(n), quirks...)
}

func seededWorld(t testing.TB, seed mem.Seed, quirks ...string) *world {
	t.Helper()
	platform, err := mem.New(mem.Config{Seed: seed, Quirks: quirks})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, platform: platform, tamper: &tamper{Platform: platform}, good: &goodCommit{}, memory: &disk{},
		repo:  &repo{commits: map[string]commit{}, compiled: map[string]int{}},
		clock: &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
	w.record = edge.Record(w.tamper)
	w.restart()
	return w
}

// restart begins a new process: what is kept is what is on disk.
func (w *world) restart() {
	w.Reconciler = &Reconciler{
		Source: w.repo, Compiler: w.repo, Reader: w.record, Writer: w.record, Good: w.good, Memory: w.memory,
		Now: w.clock.Now, Concurrency: 1,
	}
}

func (w *world) guard(g Guards) { w.Guards, w.Control = g, w.memory }

// run makes one run and returns the report and the calls it took.
func (w *world) run(order Order) (Report, []string) {
	w.t.Helper()
	w.record.Reset()
	report := w.Run(w.t.Context(), order)
	return report, w.calls()
}

// converge makes a run that must leave nothing to do.
func (w *world) converge(order Order) (Report, []string) {
	w.t.Helper()
	report, calls := w.run(order)
	if !report.Converged() {
		w.t.Fatalf("not converged: error %v; held %v; results %v; refused %v; problems %+v",
			report.Err, report.Held, outcomes(report), refusals(report), report.Plan.Problems)
	}
	return report, calls
}

// calls are the recorded calls in short: "list", "managed core", "read 3",
// "write 3" (zones of a fleet by number, other accounts and zones by id).
func (w *world) calls() []string {
	calls := w.record.Calls()
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

func writes(calls []string) int {
	n := 0
	for _, call := range calls {
		if strings.HasPrefix(call, "write") {
			n++
		}
	}
	return n
}

func (w *world) wantCalls(got []string, want ...string) {
	w.t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		w.t.Errorf("calls (-want +got):\n%s", d)
	}
}

// entry returns the truth about a zone, whatever the platform answers.
func (w *world) entry(zone int) edge.Ruleset {
	w.t.Helper()
	for _, z := range w.platform.State().Zones {
		if z.ID == mem.FleetZone(zone) {
			return *z.EntryPoint
		}
	}
	w.t.Fatalf("no zone %d", zone)
	return edge.Ruleset{}
}

// click changes the first rule of a zone the way a person in a dashboard does.
func (w *world) click(zone int, change func(*edge.Overrides)) {
	w.t.Helper()
	entry := w.entry(zone)
	o := edge.Overrides{}
	if live := entry.Rules[0].ActionParameters.Overrides; live != nil {
		o = *live
	}
	change(&o)
	entry.Rules[0].ActionParameters.Overrides = &o
	if err := w.platform.SetEntryPoint(mem.FleetZone(zone), entry); err != nil {
		w.t.Fatal(err)
	}
}

// off returns the tags that are off in a zone.
func (w *world) off(zone int) []string {
	var tags []string
	if o := w.entry(zone).Rules[0].ActionParameters.Overrides; o != nil {
		for _, c := range o.Categories {
			if c.Enabled != nil && !*c.Enabled {
				tags = append(tags, c.Category)
			}
		}
	}
	slices.Sort(tags)
	return tags
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
	compiled map[string]int // how often
}

type commit struct {
	state    desired.State
	problems []desired.Problem
	err      error
}

func (r *repo) Fetch(context.Context) (string, error) { return r.head, r.fetchErr }

func (r *repo) Compile(_ context.Context, name string) (desired.State, []desired.Problem, error) {
	r.compiled[name]++
	c := r.commits[name]
	return c.state, c.problems, c.err
}

// push makes a commit the head.
func (r *repo) push(name string, zones ...desired.Zone) {
	r.head = name
	r.commits[name] = commit{state: stateOf(name, zones...)}
}

func (r *repo) pushInvalid(name string, problems ...desired.Problem) {
	r.head = name
	r.commits[name] = commit{problems: problems}
}

// stateOf declares zones of the fleet's account.
func stateOf(commit string, zones ...desired.Zone) desired.State {
	return desired.State{Commit: commit, Accounts: []desired.Account{{
		Key: "prod", ID: mem.Account, Zones: zones,
		Rulesets: []desired.RulesetRef{{Key: "core", Name: "Core Ruleset"}, {Key: "credentials", ID: mem.CredentialsRuleset}},
	}}}
}

// zone declares a zone of the fleet.
func zone(i int, deployments ...desired.Deployment) desired.Zone {
	return desired.Zone{Key: zoneKey(i), ID: mem.FleetZone(i), Deployments: deployments}
}

func zoneKey(i int) string { return fmt.Sprintf("zone-%05d.example", i) }

// zones declares zones 1 to n alike.
func zones(n int, d desired.Deployment) []desired.Zone {
	all := make([]desired.Zone, n)
	for i := range all {
		all[i] = zone(i+1, d)
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
	set    int
	err    error
}

func (g *goodCommit) Good(context.Context) (string, bool, error) {
	return g.commit, g.commit != "", g.err
}

func (g *goodCommit) SetGood(_ context.Context, commit string) error {
	if g.err != nil {
		return g.err
	}
	g.commit = commit
	g.set++
	return nil
}

// disk is a memory that minds its context, as a database does, and may be full.
type disk struct {
	Forgetful
	full error // of Settle
	gone error // of Recall and Holds

	overrides []Approval // as recorded
}

func (d *disk) Approve(ctx context.Context, approvals []Approval) error {
	for _, a := range approvals {
		if a.Kind == Overridden {
			d.overrides = append(d.overrides, a)
		}
	}
	return d.Forgetful.Approve(ctx, approvals)
}

func (d *disk) Recall(ctx context.Context) (Recollection, error) {
	if d.gone != nil {
		return Recollection{}, d.gone
	}
	return d.Forgetful.Recall(ctx)
}

func (d *disk) Holds(ctx context.Context) ([]diff.Hold, error) {
	if d.gone != nil {
		return nil, d.gone
	}
	return d.Forgetful.Holds(ctx)
}

func (d *disk) Settle(ctx context.Context, commit string, settled []diff.Settled) error {
	if err := errors.Join(ctx.Err(), d.full); err != nil {
		return err
	}
	return d.Forgetful.Settle(ctx, commit, settled)
}

// tamper stands between recorder and platform. A hook that is nil lets calls
// pass. Hooks see calls side by side where the reconciler makes them so.
type tamper struct {
	*mem.Platform
	list    func(edge.AccountID) error
	managed func() error
	read    func(edge.ZoneID) error
	write   func(ctx context.Context, zone edge.ZoneID, send func() (*edge.Ruleset, error)) (*edge.Ruleset, error)
}

func (p *tamper) AccountRulesets(ctx context.Context, account edge.AccountID) ([]edge.Ruleset, error) {
	if p.list != nil {
		if err := p.list(account); err != nil {
			return nil, err
		}
	}
	return p.Platform.AccountRulesets(ctx, account)
}

func (p *tamper) AccountRuleset(ctx context.Context, account edge.AccountID, id edge.RulesetID) (edge.Ruleset, error) {
	if p.managed != nil {
		if err := p.managed(); err != nil {
			return edge.Ruleset{}, err
		}
	}
	return p.Platform.AccountRuleset(ctx, account, id)
}

func (p *tamper) EntryPoint(ctx context.Context, zone edge.ZoneID) (edge.Ruleset, error) {
	if p.read != nil {
		if err := p.read(zone); err != nil {
			return edge.Ruleset{}, err
		}
	}
	return p.Platform.EntryPoint(ctx, zone)
}

func (p *tamper) UpdateRule(ctx context.Context, zone edge.ZoneID, entryPoint edge.RulesetID, rule edge.RuleID, body edge.Rule) (*edge.Ruleset, error) {
	send := func() (*edge.Ruleset, error) { return p.Platform.UpdateRule(ctx, zone, entryPoint, rule, body) }
	if p.write == nil {
		return send()
	}
	return p.write(ctx, zone, send)
}

// failZone makes calls about one zone fail.
func failZone(i int, err error) func(edge.ZoneID) error {
	return func(zone edge.ZoneID) error {
		if zone == mem.FleetZone(i) {
			return err
		}
		return nil
	}
}

// outcomes are the results in short: "zone-00001.example converged".
func outcomes(r Report) []string {
	list := []string{}
	for _, result := range r.Results {
		text := result.Change.Zone + " " + string(result.Outcome)
		if result.Err != nil {
			text += ": " + result.Err.Error()
		}
		list = append(list, text)
	}
	return list
}

func wantOutcomes(t testing.TB, r Report, want ...string) {
	t.Helper()
	got := make([]string, 0, len(r.Results))
	for _, result := range r.Results {
		got = append(got, strings.TrimLeft(strings.TrimSuffix(strings.TrimPrefix(result.Change.Zone, "zone-"), ".example"), "0")+" "+string(result.Outcome))
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("results (-want +got):\n%s\n%v", d, outcomes(r))
	}
}

// refusals are the guards that spoke.
func refusals(r Report) []string {
	var guards []string
	for _, c := range r.Plan.Changes {
		if c.Refused != nil {
			guards = append(guards, c.Refused.Guard)
		}
	}
	return guards
}

func (w *world) recall() Recollection {
	w.t.Helper()
	memory, err := w.memory.Recall(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return memory
}

func deploymentID(zone int) diff.DeploymentID {
	return diff.DeploymentID{Zone: mem.FleetZone(zone), Ruleset: mem.CoreRuleset}
}

var (
	errUnauthenticated = &edge.Error{Status: 401, Details: []edge.ErrorDetail{{Code: edge.CodeInvalidToken, Message: "Invalid API Token"}}}
	errForbidden       = &edge.Error{Status: 403, Details: []edge.ErrorDetail{{Code: edge.CodeNotPermitted, Message: "Unauthorized to access requested resource"}}}
	errDown            = &edge.Error{Status: 503}
	errLost            = fmt.Errorf("reading the answer: %w: %w", edge.ErrOutcomeUnknown, errors.New("connection reset"))
)
