package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
	"github.com/seawall-dev/seawall/reconcile/source"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// fixture is a platform, a repository and records in memory, and a controller over
// them, in the time of a bubble.
type fixture struct {
	reconciletest.Fleet
	t       testT
	calls   *calls
	repo    *reconciletest.Repo
	records *reconciletest.Records
	journal *journal
	look    chan os.Signal
	room    atomic.Int64 // what is left of the budget; negative is much
	sync    cron.Schedule

	newTokens func() *token.Worker   // nil: no tokens
	keep      func() control.Records // opens what the next process has on record; nil: records

	Config // of the next controller
	*Controller
	source *source.Source
	stop   func()
}

// testT is what *testing.T and *rapid.T have in common.
type testT interface {
	reconciletest.T
	Context() context.Context
	Cleanup(stop func())
	Logf(format string, args ...any)
}

type (
	zoneT  = desired.Zone
	commit = reconciletest.Commit
)

// What tests declare.
var (
	stateOf, zoneKey, zoneOf = reconciletest.State, reconciletest.ZoneKey, reconciletest.Zone
	keeping                  = reconciletest.Keeping
)

// core declares a deployment of the core ruleset that switches tags off, and nothing
// else.
func core(tags ...string) desired.Deployment {
	return reconciletest.Removing(reconciletest.Core(tags...))
}

// off returns the tags that are off in a zone, with commas between them.
func (f *fixture) off(i int) string { return strings.Join(f.Off(i), ",") }

// click has these tags off in a zone, and nothing else overridden, as a person in a dashboard
// does.
func (f *fixture) click(i int, off ...string) {
	f.t.Helper()
	f.Click(i, func(o *edge.Overrides) {
		*o = edge.Overrides{}
		reconciletest.SwitchedOff(off...)(o)
	})
}

const (
	interval = 2 * time.Hour
	latency  = 10 * time.Millisecond // of each call
	// soon is when everything is done that needs no waiting, in a fleet of tests.
	soon = 5 * time.Second
)

// newFixture has n zones that all run the core ruleset, untuned, and an empty
// repository. Nothing runs yet.
func newFixture(t testT, n int, quirks ...string) *fixture {
	t.Helper()
	return fixtureOn(t, mem.Config{Seed: mem.Fleet(n), Quirks: quirks})
}

func fixtureOn(t testT, c mem.Config) *fixture {
	t.Helper()
	fleet := reconciletest.NewFleet(t, c)
	f := &fixture{
		Fleet: fleet, t: t, calls: &calls{Platform: fleet.Platform, latency: latency}, repo: reconciletest.NewRepo(), records: &reconciletest.Records{},
		journal: &journal{}, look: make(chan os.Signal, 1), sync: cron.Every(time.Minute),
	}
	f.Config = Config{
		Lanes: reconcile.OneLane(reconcile.Lane{Reader: f.calls, Writer: f.calls}), Sweep: cron.Every(interval), Interval: interval, Look: f.look, Tick: 2 * tickEvery, // most time passes in these
		Reporters: []reconcile.Reporter{f.journal},
	}
	f.room.Store(-1)
	f.Lanes.All[0].Room = func(_ edge.Class, keep int) int {
		if left := int(f.room.Load()); left >= 0 {
			return max(0, left-keep)
		}
		return 1 << 20
	}
	f.stop = func() {}
	t.Cleanup(func() { f.stop() })
	return f
}

// running is a process over n zones that is done with a first commit.
func running(t testT, n int) *fixture {
	t.Helper()
	f := newFixture(t, n)
	f.repo.Push("c1", fleet(n, "xss")...)
	f.start()
	return f
}

// guarded is the same with guards from then on.
func guarded(t testT, n int, guards reconcile.Guards) *fixture {
	t.Helper()
	f := running(t, n)
	f.guard(guards)
	return f
}

// guard begins another process, with guards.
func (f *fixture) guard(guards reconcile.Guards) {
	f.t.Helper()
	f.stop()
	f.Guards = guards
	f.start()
}

// start begins a process, and waits for what it does at once.
func (f *fixture) start() {
	f.t.Helper()
	f.begin()
	f.pass(soon)
}

// begin begins a process. What is kept is what is on record.
func (f *fixture) begin() {
	f.t.Helper()
	config := f.Config
	config.Records = f.records
	if f.keep != nil {
		config.Records = f.keep()
	}
	f.source = source.New(source.Config{
		Source: f.repo, Compiler: f.repo, Agreed: f.repo.Agreed, Schedule: f.sync, Now: time.Now,
	})
	config.Source = f.source
	if f.newTokens != nil {
		config.Tokens = f.newTokens()
	}
	ctx, cancel := context.WithCancel(f.t.Context())
	heart, err := New(ctx, config)
	if err != nil {
		cancel()
		f.t.Fatalf("%v", err)
	}
	f.Controller = heart
	done := make(chan struct{})
	go func() {
		defer close(done)
		heart.Run(ctx)
	}()
	f.stop = func() { cancel(); <-done }
}

// restart ends the process and begins another one.
func (f *fixture) restart() {
	f.t.Helper()
	f.stop()
	f.start()
}

// push makes a commit the head and has it looked at.
func (f *fixture) push(name string, zones ...desired.Zone) {
	f.repo.Push(name, zones...)
	f.source.Poke()
	f.pass(soon)
}

// pass lets time pass.
func (f *fixture) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// count returns how many of the first n zones have these tags off.
func (f *fixture) count(n int, tags string) (have int) {
	for i := 1; i <= n; i++ {
		if f.off(i) == tags {
			have++
		}
	}
	return have
}

// want fails where one of the first n zones has other tags off.
func (f *fixture) want(n int, tags string) {
	f.t.Helper()
	if have := f.count(n, tags); have != n {
		f.t.Errorf("%d of %d zones have %q off", have, n, tags)
	}
}

// drift undoes what is declared in the first n zones.
func (f *fixture) drift(n int) {
	for i := 1; i <= n; i++ {
		f.click(i)
	}
}

// lookNow has every zone looked at.
func (f *fixture) lookNow() {
	f.look <- os.Interrupt
	f.pass(soon)
}

// calls is the platform, with all calls on record and a hook before each.
type calls struct {
	*mem.Platform
	latency time.Duration

	mu   sync.Mutex
	all  []call
	hook func(context.Context, call) error
	// answer says what a write comes to; send makes it.
	answer func(c call, send func() (*edge.Ruleset, error)) (*edge.Ruleset, error)
	wait   func(ctx context.Context) // before a write that was sent is answered; nil does not wait
}

// call is one call. Off are the tags that a write switches off.
type call struct {
	verb  string // list, managed, read, look (at an earlier phase), write
	who   string // the number of a zone, or the id of an account or a ruleset
	off   string
	at    time.Time
	class edge.Class
}

func (c call) String() string { return strings.TrimRight(c.verb+" "+c.who+" "+c.off, " ") }

// zoneName is the number of a zone of a fleet, or its id.
func zoneName(id edge.Scope) string {
	if number, ok := strings.CutPrefix(id.String(), "f1ee"); ok {
		return strings.TrimLeft(number, "0")
	}
	return id.String()
}

// note puts a call on record, and makes it wait.
func (p *calls) note(ctx context.Context, verb, who, off string) error {
	class, _ := edge.ClassOf(ctx)
	c := call{verb, who, off, time.Now(), class}
	p.mu.Lock()
	p.all = append(p.all, c)
	hook := p.hook
	p.mu.Unlock()
	time.Sleep(p.latency)
	if hook == nil {
		return nil
	}
	return hook(ctx, c)
}

// set makes a hook the one for all calls that follow; nil is none.
func (p *calls) set(hook func(context.Context, call) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hook = hook
}

// answerBy makes a function the one that answers all writes that follow; nil is none.
func (p *calls) answerBy(answer func(call, func() (*edge.Ruleset, error)) (*edge.Ruleset, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer
}

// take returns the calls since it was asked last.
func (p *calls) take() []call {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.all
	p.all = nil
	return all
}

func (p *calls) Rulesets(ctx context.Context, scope edge.Scope) ([]edge.Ruleset, error) {
	if err := p.note(ctx, "list", scope.ID, ""); err != nil {
		return nil, err
	}
	return p.Platform.Rulesets(ctx, scope)
}

func (p *calls) Ruleset(ctx context.Context, scope edge.Scope, id edge.RulesetID) (edge.Ruleset, error) {
	if err := p.note(ctx, "managed", string(id), ""); err != nil {
		return edge.Ruleset{}, err
	}
	return p.Platform.Ruleset(ctx, scope, id)
}

func (p *calls) EntryPoint(ctx context.Context, zone edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	verb := "read"
	if phase == edge.PhaseFirewallCustom {
		verb = "look"
	}
	if err := p.note(ctx, verb, zoneName(zone), ""); err != nil {
		return edge.Ruleset{}, err
	}
	return p.Platform.EntryPoint(ctx, zone, phase)
}

// verbs are what calls that write are called here.
var verbs = map[edge.Call]string{
	edge.CallUpdateRule: "write", edge.CallCreateEntryPoint: "create", edge.CallAddRule: "add", edge.CallDeleteRule: "delete",
}

func (p *calls) Send(ctx context.Context, w edge.Write) (*edge.Ruleset, error) {
	verb, tags := verbs[w.Call], ""
	if w.Call == edge.CallUpdateRule {
		tags = strings.Join(reconciletest.TagsOff(w.Rules[0]), ",")
	}
	if err := p.note(ctx, verb, zoneName(w.Scope), tags); err != nil {
		return nil, err
	}
	send := func() (*edge.Ruleset, error) { return p.Platform.Send(ctx, w) }
	p.mu.Lock()
	answer := p.answer
	p.mu.Unlock()
	if answer == nil {
		return send()
	}
	if err := edge.Sending(ctx); err != nil {
		return nil, err
	}
	made, err := answer(call{verb: verb, who: zoneName(w.Scope), off: tags, at: time.Now()}, send)
	if p.wait != nil {
		p.wait(ctx)
	}
	return made, err
}

// only keeps the calls of a verb.
func only(all []call, verb string) (some []call) {
	for _, c := range all {
		if c.verb == verb {
			some = append(some, c)
		}
	}
	return some
}

// who says which zones calls were about, sorted.
func who(all []call) []string {
	names := map[string]bool{}
	for _, c := range all {
		names[c.who] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// hang is a read that never answers, as the client gives it up after ten seconds.
func hang(ctx context.Context) error {
	select {
	case <-time.After(10 * time.Second):
		return fmt.Errorf("%w: no answer for 10s", edge.ErrUnavailable)
	case <-ctx.Done():
		return ctx.Err()
	}
}

var (
	errUnauthenticated = &edge.Error{Status: 401, Details: []edge.ErrorDetail{{Code: edge.CodeAuthentication, Message: "Authentication error"}}}
	errForbidden       = &edge.Error{Status: 403, Details: []edge.ErrorDetail{{Code: edge.CodeAuthentication, Message: "Authentication error"}}}
	errDown            = &edge.Error{Status: 503}
	errDisk            = errors.New("the disk is full")
)

// fleet declares zones 1 to n alike: with these tags off.
func fleet(n int, tags ...string) []desired.Zone { return reconciletest.Zones(n, core(tags...)) }

// but is a fleet in which one zone has other tags off.
func but(zones []desired.Zone, i int, tags ...string) []desired.Zone {
	zones = slices.Clone(zones)
	labels := zones[i-1].Labels
	zones[i-1] = zoneOf(i, core(tags...))
	zones[i-1].Labels = labels
	return zones
}

// record is all that is on record.
func (f *fixture) record() reconcile.Record {
	f.t.Helper()
	record, err := f.records.Forgetful.Restore(context.Background())
	must.Do(f.t, err)
	return record
}

// owned is what is on record as owned of the core deployment of a zone.
func (f *fixture) owned(i int) []diff.Member {
	return f.record().Applied[reconciletest.ID(i)]
}

// journal is a reporter that keeps what it was told.
type journal struct {
	mu      sync.Mutex
	reports []reconcile.Report
}

func (j *journal) Report(ctx context.Context, report reconcile.Report) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if ctx.Err() != nil {
		panic("a reporter is told with a context that has ended")
	}
	j.reports = append(j.reports, report)
}

// all returns what it was told, and keeps it.
func (j *journal) all() []reconcile.Report {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.reports)
}

// take returns what it was told since it was asked last.
func (j *journal) take() []reconcile.Report {
	j.mu.Lock()
	defer j.mu.Unlock()
	reports := j.reports
	j.reports = nil
	return reports
}

// failures are the errors of reports.
func failures(reports []reconcile.Report) (errs []error) {
	for _, r := range reports {
		if r.Err != nil {
			errs = append(errs, r.Err)
		}
	}
	return errs
}

// run is a test in a bubble of time.
func run(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// runNamed is a test of a table, in a bubble of its own.
func runNamed(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { run(t, test) })
}

// failsTo fails one kind of record alone.
func failsTo(op string) func(string) error {
	return func(o string) error {
		if o == op {
			return errDisk
		}
		return nil
	}
}

// refuseWrites answers no write.
func refuseWrites(call, func() (*edge.Ruleset, error)) (*edge.Ruleset, error) { return nil, errDown }
