package daemon

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/source"
)

// A day of a large fleet, under the platform's own limit, in a time that passes
// when everybody waits: real client, real budget, real simulator, and no network
// between them, since nobody could tell time to wait for that.

const (
	dayInterval = 2 * time.Hour
	dayLatency  = 20 * time.Millisecond
	dayPer      = 5 * time.Minute
	// perConcurrent is of how many requests in the budget one may be under way: what is
	// not answered yet may or may not be in what the platform says is left.
	perConcurrent = 24
	// dayPatience is how long a push may take to be live and proved.
	dayPatience = time.Second
)

// dayPlatform is the platform as a transport, with what it has seen.
type dayPlatform struct {
	t        *testing.T
	server   *sim.Server
	requests int // of the budget

	mu    sync.Mutex
	sent  []time.Time          // of the last requests, as many as the budget has
	total int                  // requests
	seen  map[string]time.Time // when each zone was read last
	since time.Time            // when the watch began
	// longest is how long zones may go unseen, where it is not the interval.
	longest map[string]time.Duration
	wants   map[string]time.Time     // zones that are to be written, and since when
	slow    map[string]time.Duration // zones that were written too late
}

// RoundTrip answers as the simulator does.
func (d *dayPlatform) RoundTrip(r *http.Request) (*http.Response, error) {
	d.note(r)
	time.Sleep(dayLatency)
	rec := httptest.NewRecorder()
	r = r.Clone(r.Context())
	r.RemoteAddr, r.RequestURI = "127.0.0.1:1", r.URL.RequestURI()
	if r.Body == nil { // a server always has one
		r.Body = http.NoBody
	}
	d.server.Handler().ServeHTTP(rec, r)
	if rec.Code == http.StatusTooManyRequests {
		d.t.Errorf("after %d requests, at %v: too many", d.total, time.Now())
	}
	return rec.Result(), nil
}

func (d *dayPlatform) note(r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	d.total++
	if len(d.sent) == d.requests {
		if span := now.Sub(d.sent[0]); span < dayPer {
			d.t.Errorf("request %d: %d requests in %v", d.total, d.requests+1, span)
		}
		d.sent = d.sent[1:]
	}
	d.sent = append(d.sent, now)
	_, path, _ := strings.Cut(r.URL.Path, "/zones/")
	zone, _, _ := strings.Cut(path, "/")
	if zone == "" {
		return
	}
	if r.Method == http.MethodPatch {
		if since, ok := d.wants[zone]; ok {
			if took := now.Sub(since); took > dayPatience {
				d.slow[zone] = took
			}
			delete(d.wants, zone)
		}
		return
	}
	d.gone(zone, now)
	d.seen[zone] = now
}

// gone fails where a zone was not read for longer than the interval; the caller
// holds the lock.
func (d *dayPlatform) gone(zone string, now time.Time) {
	last, ok := d.seen[zone]
	if !ok {
		last = d.since
	}
	if gone := now.Sub(last); !d.since.IsZero() && gone > cmp.Or(d.longest[zone], dayInterval) {
		d.t.Errorf("%s was not looked at for %v", zone, gone)
	}
}

// shelf is a source and a compiler: each commit with what it declares.
type shelf struct {
	mu     sync.Mutex
	head   string
	good   string
	states map[string]desired.State
}

func (s *shelf) Fetch(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head, nil
}

func (s *shelf) Compile(_ context.Context, commit string) (desired.State, []desired.Problem, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.states[commit], nil, nil
}

func (s *shelf) Good(context.Context) (string, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.good, true, nil
}

func (s *shelf) SetGood(_ context.Context, commit string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.good != commit {
		delete(s.states, s.good)
	}
	s.good = commit
	return nil
}

// tags are what zones switch off, one after the other.
var tags = []string{"xss", "wordpress", "rce", "sqli"}

// push makes a commit in which some zones switch another tag off than before.
func (s *shelf) push(zones []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.states[s.head]
	account := old.Accounts[0]
	account.Zones = slices.Clone(account.Zones)
	for _, i := range zones {
		d := account.Zones[i].Deployments[0]
		next := 0
		if off := d.Disable.Tags; len(off) > 0 {
			next = (slices.Index(tags, off[0].Value) + 1) % len(tags)
		}
		d.Disable.Tags = []desired.Declared[string]{{Value: tags[next]}}
		account.Zones[i].Deployments = []desired.Deployment{d}
	}
	s.head = fmt.Sprintf("c%d", time.Now().UnixNano())
	s.states[s.head] = desired.State{Commit: s.head, Accounts: []desired.Account{account}}
}

// revert makes a commit that declares what an earlier one did.
func (s *shelf) revert(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.head = fmt.Sprintf("c%d", time.Now().UnixNano())
	state := fleetState(n)
	state.Commit = s.head
	s.states[s.head] = state
}

func fleetState(n int) desired.State {
	zones := make([]desired.Zone, n)
	for i := range zones {
		zones[i] = desired.Zone{
			Key: fmt.Sprintf("zone-%05d.example", i+1), Scope: mem.FleetZone(i + 1),
			Deployments: []desired.Deployment{{
				Ruleset: "core", Enabled: desired.Declared[bool]{Value: true}, Unmanaged: &desired.Declared[desired.Unmanaged]{Value: desired.Remove},
			}},
		}
	}
	return desired.State{Commit: "c0", Accounts: []desired.Account{{
		Key: "prod", ID: mem.Account, Zones: zones, Rulesets: []desired.RulesetRef{{Key: "core", Name: "Core Ruleset"}},
	}}}
}

// dayWorld is the daemon of a day, which can begin anew.
type dayWorld struct {
	*dayPlatform
	shelf    *shelf
	zones    int
	memory   control.Records
	platform *client.Client
	budget   *client.Budget
	git      *source.Source
	reports  daySums
}

// daySums are the reports of whole sweeps.
type daySums struct {
	mu   sync.Mutex
	sums []reconcile.Report
	errs []error
}

func (s *daySums) Report(_ context.Context, r reconcile.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Sum {
		s.sums = append(s.sums, r)
	}
	if r.Err != nil && r.Trigger != "" && !strings.Contains(r.Err.Error(), "canceled") {
		s.errs = append(s.errs, r.Err)
	}
}

func newDay(t *testing.T, zones, requests int) *dayWorld {
	server, err := sim.New(sim.Config{Seed: mem.Fleet(zones), RateLimit: sim.RateLimit{Requests: requests, Per: dayPer}})
	must.Do(t, err)
	w := &dayWorld{
		dayPlatform: &dayPlatform{
			t: t, server: server, requests: requests,
			longest: map[string]time.Duration{},
			seen:    map[string]time.Time{}, wants: map[string]time.Time{}, slow: map[string]time.Duration{},
		},
		shelf:  &shelf{head: "c0", good: "c0", states: map[string]desired.State{"c0": fleetState(zones)}},
		zones:  zones,
		memory: &reconcile.Forgetful{}, budget: client.NewBudget(requests, dayPer),
	}
	w.transport(w.dayPlatform)
	return w
}

// transport sets what stands between the daemon and the platform.
func (w *dayWorld) transport(transport http.RoundTripper) {
	token := mem.DefaultTokens()[0].Value
	var err error
	w.platform, err = client.New(client.Config{
		BaseURL: "http://127.0.0.1/client/v4", Token: func() (edge.Secret, error) { return edge.NewSecret(token), nil },
		Budget: w.budget, Concurrency: w.requests / perConcurrent, Transport: transport,
	})
	must.Do(w.t, err)
}

// run is one life of the daemon.
func (w *dayWorld) run(ctx context.Context) (wait func()) {
	budget := diff.Budget{Requests: w.requests, Per: dayPer}
	w.git = source.New(source.Config{Source: w.shelf, Compiler: w.shelf, Now: time.Now})
	heart, err := controller.New(ctx, controller.Config{
		Source: w.git, Good: w.shelf, Records: w.memory, Requests: w.platform.Requests, Sweep: cron.Every(dayInterval), Interval: dayInterval,
		Lanes: reconcile.OneLane(reconcile.Lane{
			Reader: w.platform, Writer: w.platform, Concurrency: w.requests / perConcurrent, Room: w.budget.Room, Budget: budget,
		}),
		Reporters: []reconcile.Reporter{&w.reports},
	})
	must.Do(w.t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		heart.Run(ctx)
	}()
	return func() { <-done }
}

// burst pushes some commits within seconds, each for up to so many zones.
func (w *dayWorld) burst(chance *rand.Rand, commits, most int) {
	for range commits {
		changed := chance.Perm(w.zones)[:1+chance.IntN(most)]
		w.mu.Lock()
		now := time.Now()
		for _, i := range changed {
			w.wants[mem.FleetZone(i+1).String()] = now
		}
		w.mu.Unlock()
		w.shelf.push(changed)
		w.git.Poke()
		time.Sleep(time.Duration(1100+chance.IntN(5000)) * time.Millisecond)
	}
}

// vandalise weakens a zone behind the daemon's back. It returns what is to be
// there again.
func (w *dayWorld) vandalise(i int) edge.Ruleset {
	id := mem.FleetZone(i + 1)
	for _, zone := range w.server.Platform.State().Zones {
		if edge.ZoneScope(zone.ID) == id {
			before := *zone.EntryPoint
			weak := before
			weak.Rules = slices.Clone(before.Rules)
			off := false
			weak.Rules[0].Enabled = &off
			if err := w.server.Platform.SetEntryPoint(id, weak); err != nil {
				w.t.Error(err)
			}
			return before
		}
	}
	w.t.Fatalf("no zone %d", i)
	return edge.Ruleset{}
}

// TestDayOfALargeFleet, unless it soaks a third of one: never over the budget; no zone unseen for longer than the
// interval, over a restart too; every push live within a second, however the
// sweep stands; every drift is corrected.
func TestDayOfALargeFleet(t *testing.T) {
	t.Parallel()
	zones, requests, hours := 1000, 120, 8 // the same fleet and budget, a tenth as large
	if soak.On {
		hours = 24
		if len(harness.BuildFlags) == 0 {
			zones, requests = 10_000, 1200
		}
	}
	synctest.Test(t, func(t *testing.T) {
		w := newDay(t, zones, requests)
		chance := rand.New(rand.NewPCG(1, 2))
		ctx, stop := context.WithCancel(t.Context())
		wait := w.run(ctx)
		// Everything is due at first, and takes the whole budget for most of an hour, but
		// for the part that is left to whoever pushes.
		for range 9 {
			time.Sleep(time.Duration(5+chance.IntN(2)) * time.Minute)
			w.burst(chance, 1, requests/120)
		}
		time.Sleep(25 * time.Minute) // what is kept for pushes is a larger part of a small budget
		synctest.Wait()
		if len(w.seen) != zones {
			t.Fatalf("%d zones were looked at at first", len(w.seen))
		}
		w.mu.Lock()
		w.since = time.Now()
		w.mu.Unlock()
		end, restarted, drifted := time.Now().Add(time.Duration(hours)*time.Hour), false, map[int]time.Time{}
		for time.Now().Before(end) {
			time.Sleep(time.Duration(10+chance.IntN(50)) * time.Minute)
			w.burst(chance, 1+chance.IntN(4), requests/60)
			i := chance.IntN(zones)
			w.vandalise(i)
			drifted[i] = time.Now()
			if !restarted && time.Until(end) < time.Duration(hours/2)*time.Hour {
				restarted = true
				stop()
				wait()
				time.Sleep(6 * time.Minute)
				ctx, stop = context.WithCancel(t.Context())
				wait = w.run(ctx)
			}
		}
		time.Sleep(dayInterval)
		synctest.Wait()
		stop()
		wait()
		w.check(drifted, hours)
	})
}

func (w *dayWorld) check(drifted map[int]time.Time, hours int) {
	t, now := w.t, time.Now()
	zones := w.server.Platform.State().Zones
	for _, zone := range zones {
		w.gone(string(zone.ID), now)
	}
	for zone, took := range w.slow {
		t.Errorf("a push to %s took %v", zone, took)
	}
	if n := len(w.wants); n > 0 {
		t.Errorf("%d pushed zones were never written", n)
	}
	for i := range drifted {
		if on := zones[i].EntryPoint.Rules[0].Enabled; on != nil && !*on {
			t.Errorf("zone %d is still weak", i+1)
		}
	}
	if len(drifted) < hours*5/6 || len(w.reports.sums) < hours/2 || len(w.reports.errs) > 0 {
		t.Errorf("%d drifted, %d sweeps, errors %v", len(drifted), len(w.reports.sums), w.reports.errs)
	}
	last := w.reports.sums[len(w.reports.sums)-1]
	if !last.Converged() || last.Plan.Summary.Zones != len(zones) {
		t.Errorf("the last sweep: %+v, %v", last.Plan.Summary, last.Err)
	}
	t.Logf("%d requests, %d sweeps, %d drifted", w.total, len(w.reports.sums), len(drifted))
}
