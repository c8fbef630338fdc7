package revert_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/revert"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

func TestMain(m *testing.M) { os.Exit(soak.Main(m, 0)) }

// world is a platform in memory, a daemon's control on a ledger, and a second process that
// reverts on the same file.
type world struct {
	*rapid.T
	platform *mem.Platform
	file     string
	guards   reconcile.Guards
	control  *control.Control
	worker   *zone.Worker
	n        int

	mu      sync.Mutex
	now     time.Time
	flights map[edge.Scope]*flight // the next write there
}

// flight is a write that stops on its way: before the platform has it, or after.
type flight struct {
	zone    int
	arrives bool          // before it stops
	lost    bool          // nobody hears of it any more: the daemon was killed
	reached chan struct{} // closed when it has stopped
	goes    chan struct{} // closed: it goes on
	done    chan struct{} // closed when the look that it is part of has ended
}

// end lets it go on, and waits for its look.
func (f *flight) end() {
	close(f.goes)
	<-f.done
}

func newWorld(t *rapid.T, dir string) *world {
	w := &world{T: t, n: rapid.IntRange(1, 5).Draw(t, "zones"), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), flights: map[edge.Scope]*flight{}}
	var err error
	w.platform, err = mem.New(mem.Config{Seed: mem.Fleet(w.n)})
	must.Do(w, err)
	w.file = filepath.Join(dir, fmt.Sprintf("ledger-%d.db", time.Now().UnixNano()))
	w.start()
	return w
}

func (w *world) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) later(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) open() *ledger.Ledger {
	memory, err := ledger.Open(w.file)
	must.Do(w, err)
	memory.Now = w.Now
	w.Cleanup(func() { _ = memory.Close() })
	return memory
}

// start begins another daemon.
func (w *world) start() {
	var err error
	w.control, err = control.New(context.Background(), control.Config{Records: w.open(), Guards: w.guards, Now: w.Now})
	must.Do(w, err)
	accounts := zone.NewAccounts(w.platform, w.Now)
	w.worker = &zone.Worker{Reader: w.platform, Writer: daemonWriter{w.platform, w}, Accounts: accounts, Gate: w.control, Indexes: &diff.Indexes{}, Now: w.Now}
}

// daemonWriter is what the daemon writes by.
type daemonWriter struct {
	*mem.Platform
	w *world
}

func (d daemonWriter) Send(ctx context.Context, write edge.Write) (*edge.Ruleset, error) {
	w := d.w
	w.mu.Lock()
	f := w.flights[write.Scope]
	delete(w.flights, write.Scope)
	w.mu.Unlock()
	if f == nil {
		return w.platform.Send(ctx, write)
	}
	if err := edge.Sending(ctx); err != nil {
		return nil, err
	}
	send := func() (*edge.Ruleset, error) {
		return w.platform.Send(context.WithoutCancel(context.Background()), write)
	}
	var answer *edge.Ruleset
	var err error
	if f.arrives {
		answer, err = send()
	}
	close(f.reached)
	<-f.goes
	if f.lost {
		return nil, errors.Join(edge.ErrOutcomeUnknown, errors.New("the daemon is gone"))
	}
	if !f.arrives {
		answer, err = send()
	}
	return answer, err
}

// look is one look of the daemon at a zone.
func (w *world) look(i int) {
	ctx, id := context.Background(), mem.FleetZone(i)
	g := w.control.Current()
	t, declared := w.control.Task(g, id)
	if !declared {
		return
	}
	sight, err := w.worker.Read(ctx, t)
	must.Do(w, err)
	plan, verdict := w.control.Guard(g, id, w.worker.Plan(t, sight))
	defer func() {
		_, err := w.control.Looked(ctx, id)
		must.Do(w, err)
	}()
	if verdict != control.Act {
		return
	}
	results, _ := w.worker.Apply(ctx, t, sight, plan)
	must.Do(w, w.control.Proved(ctx, t, plan.Settled))
	_, err = w.control.Note(ctx, control.Outcome{Scope: id, Fingerprint: t.Fingerprint, Plan: plan, Results: results})
	must.Do(w, err)
}

// sweep looks at all zones in some order, with a tick before each.
func (w *world) sweep() {
	for _, i := range rapid.Permutation(w.all()).Draw(w.T, "order") {
		_, err := w.control.Tick(context.Background())
		must.Do(w, err)
		w.look(i)
	}
}

func (w *world) all() (zones []int) {
	for i := range w.n {
		zones = append(zones, i+1)
	}
	return zones
}

func (w *world) push(commit string, tags func(i int) string) {
	account := desired.Account{Key: "prod", ID: mem.Account, Rulesets: []desired.RulesetRef{{Key: "core", Name: "Core Ruleset"}}}
	for _, i := range w.all() {
		d := desired.Deployment{
			Ruleset: "core", Enabled: desired.Declared[bool]{Value: true}, Unmanaged: &desired.Declared[desired.Unmanaged]{Value: desired.Remove},
		}
		d.Disable.Tags = []desired.Declared[string]{{Value: tags(i)}}
		account.Zones = append(account.Zones, desired.Zone{Key: fmt.Sprint("zone-", i), Scope: mem.FleetZone(i), Deployments: []desired.Deployment{d}})
	}
	_, err := w.control.Propose(context.Background(), reconcile.Proposal{Commit: commit, State: desired.State{Commit: commit, Accounts: []desired.Account{account}}})
	must.Do(w, err)
	must.Do(w, w.control.SaveState(context.Background(), w.control.Current()))
}

// off returns the tags that are off in a zone.
func (w *world) off(i int) (tags []string) {
	for _, z := range w.platform.State().Zones {
		if edge.ZoneScope(z.ID) != mem.FleetZone(i) || z.EntryPoint.Rules[0].ActionParameters.Overrides == nil {
			continue
		}
		for _, c := range z.EntryPoint.Rules[0].ActionParameters.Overrides.Categories {
			tags = append(tags, c.Category)
		}
	}
	return tags
}

func (w *world) wantOff(when string, tags func(i int) string) {
	w.Helper()
	for _, i := range w.all() {
		if got := w.off(i); !slices.Equal(got, []string{tags(i)}) {
			w.Fatalf("%s: off in zone %d: %v, want %s", when, i, got, tags(i))
		}
	}
}

// fly has the daemon write a zone, and returns when the write is on its way.
func (w *world) fly(i int) *flight {
	f := &flight{
		zone:    i,
		arrives: rapid.Bool().Draw(w.T, "arrives"), lost: rapid.Bool().Draw(w.T, "lost"),
		reached: make(chan struct{}), goes: make(chan struct{}), done: make(chan struct{}),
	}
	w.mu.Lock()
	w.flights[mem.FleetZone(i)] = f
	w.mu.Unlock()
	go func() {
		defer close(f.done)
		w.look(i)
	}()
	select {
	case <-f.reached:
		if f.lost { // the claim of a process ends with it
			t, _ := w.control.Task(w.control.Current(), mem.FleetZone(i))
			must.Do(w, w.control.Ended(context.Background(), t, ""))
		}
		return f
	case <-f.done: // it was not to be written
		w.mu.Lock()
		delete(w.flights, mem.FleetZone(i))
		w.mu.Unlock()
		return nil
	}
}

// dying are the records and the platform of a revert that is killed directly after it has
// recorded a write, before it is sent.
type dying struct {
	revert.Records
	edge.Writer
	dead atomic.Bool
}

var errKilled = errors.New("the process is gone")

func (d *dying) RecordRevert(ctx context.Context, hold diff.Hold, write reconcile.Entry, owned []diff.Settled) (int64, error) {
	if d.dead.Swap(true) {
		return 0, errKilled
	}
	return d.Records.RecordRevert(ctx, hold, write, owned)
}

func (d *dying) Record(ctx context.Context, entries ...reconcile.Entry) error {
	if d.dead.Load() {
		return errKilled
	}
	return d.Records.Record(ctx, entries...)
}

func (d *dying) DropRevert(ctx context.Context, zones []edge.Scope) error {
	if d.dead.Load() {
		return errKilled
	}
	return d.Records.DropRevert(ctx, zones)
}

func (*dying) Send(context.Context, edge.Write) (*edge.Ruleset, error) {
	return nil, errKilled
}

// killed is a revert that ends after the first write that it has recorded.
func (w *world) killed(run revert.Run, order revert.Order) {
	d := &dying{Records: run.Records}
	run.Records = d
	run.Lanes = reconcile.OneLane(reconcile.Lane{Reader: w.platform, Writer: d, Concurrency: 1})
	planned, err := run.Plan(context.Background(), order)
	must.Do(w, err)
	run.Apply(context.Background(), planned)
}

// TestRevertAtAnyMoment: whatever a rollout has written, has on its way and has still before
// it, and whatever commit came on top, a revert of its commit leaves no zone as that declares
// it, and none is afterwards; the commit that brings the earlier state back writes nothing.
func TestRevertAtAnyMoment(t *testing.T) {
	soak.Draws(t, 40) // each writes to a disk many times
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rt, dir)
		good := func(int) string { return "xss" }
		want, mine := good, 0
		w.push("c1good", good)
		w.sweep()
		w.wantOff("before", good)
		if rapid.Bool().Draw(rt, "waves") {
			w.guards.Waves = []reconcile.Wave{{Count: 1, Soak: time.Hour, Halt: reconcile.Halt{NonConvergent: 1, FailedPercent: 5}}}
			w.start()
		}
		w.push("c2bad", func(int) string { return "php" })
		var flights []*flight
		some := func(what string) {
			order := rapid.Permutation(w.all()).Draw(rt, "order "+what)
			for _, i := range order[:rapid.IntRange(0, w.n).Draw(rt, what)] {
				if slices.ContainsFunc(flights, func(f *flight) bool { return f.zone == i }) {
					continue // a zone has one worker at a time
				}
				if !rapid.Bool().Draw(rt, "flies") {
					w.look(i)
				} else if f := w.fly(i); f != nil {
					flights = append(flights, f)
				}
				if rapid.Bool().Draw(rt, "tick") {
					if len(flights) == 0 { // a request takes no longer than the revert waits
						w.later(rapid.SampledFrom([]time.Duration{0, time.Minute, time.Hour}).Draw(rt, "later"))
					}
					_, err := w.control.Tick(context.Background())
					must.Do(w, err)
				}
			}
		}
		some("reached")
		if len(flights) == 0 && rapid.Bool().Draw(rt, "another on top") {
			mine = rapid.IntRange(1, w.n).Draw(rt, "mine")
			tag := func(i int) string { return map[bool]string{true: "wordpress", false: "php"}[i == mine] }
			want = func(i int) string { return map[bool]string{true: "wordpress", false: "xss"}[i == mine] }
			w.push("c3top", tag)
			some("reached after")
			w.look(mine)
		}

		end := func(of func(*flight) bool) {
			flights = slices.DeleteFunc(flights, func(f *flight) bool {
				if of(f) {
					f.end()
				}
				return of(f)
			})
		}
		run := &revert.Run{
			Records: w.open(), Lanes: reconcile.OneLane(reconcile.Lane{Reader: w.platform, Writer: w.platform, Concurrency: 2}), Now: w.Now,
			Pause: func(context.Context, time.Duration) { end(func(f *flight) bool { return !f.lost }) },
		}
		order := revert.Order{Filter: reconcile.HistoryFilter{Commit: "c2bad"}, Who: "lee", Agreed: rapid.Bool().Draw(rt, "agreed")}
		if rapid.Bool().Draw(rt, "killed once") {
			w.killed(*run, order)
		}
		planned, err := run.Plan(context.Background(), order)
		must.Do(w, err)
		if !order.Agreed {
			some("reached while a person reads the plan")
		}
		report := run.Apply(context.Background(), planned)
		own := slices.ContainsFunc(report.Plan.Problems, func(p diff.Problem) bool { return p.Scope != mem.FleetZone(mine) }) // that git has changed since
		if report.Err != nil || own || report.Count(reconcile.Converged) != len(report.Results) {
			rt.Fatalf("not converged: %v, %+v, %+v", report.Err, report.Results, report.Plan.Problems)
		}
		end(func(*flight) bool { return true })
		for range 3 {
			w.sweep()
			w.later(2 * time.Hour)
		}
		w.wantOff("after the revert", want)
		w.start()
		w.sweep()
		w.wantOff("with another daemon", want)

		before := w.platform.State()
		w.push("c4good", want)
		w.sweep()
		w.wantOff("under git again", want)
		for i, z := range w.platform.State().Zones {
			if z.EntryPoint.Version != before.Zones[i].EntryPoint.Version {
				rt.Errorf("zone %s was written once more", z.ID)
			}
		}
		if holds := w.control.Holds(); len(holds) > 0 {
			rt.Errorf("holds are left: %v", holds)
		}
	})
}
