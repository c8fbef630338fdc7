package review

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/once"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
	"github.com/seawall-dev/seawall/reconcile/source"
)

// fixture is reviews over a platform, a forge and git in memory. Everything happens
// one by one.
type fixture struct {
	*Reviews
	reconciletest.Fleet
	t       *testing.T
	tamper  *tamper
	calls   *reconciletest.Recorder // past tamper, to the platform
	clock   *reconciletest.Clock
	records *records
	forge   *board
	heads   *heads
	log     *strings.Builder
	inForce *desired.State // nil: nothing is
}

// What tests declare.
var stateOf, fleetZone, zones, core = reconciletest.State, reconciletest.Zone, reconciletest.Zones, reconciletest.Core

// newFixture is a platform with n zones that all run the core ruleset, untuned.
func newFixture(t *testing.T, n int) *fixture {
	t.Helper()
	fleet := reconciletest.NewFleet(t, mem.Config{Seed: mem.Fleet(n)})
	f := &fixture{
		Fleet: fleet, t: t, tamper: &tamper{Platform: fleet.Platform}, records: &records{}, log: &strings.Builder{}, clock: reconciletest.NewClock(),
		forge: &board{comments: map[int]string{}, approvals: map[string][]string{}, approvedAt: map[string]time.Time{}, people: people{
			ids: map[string]int64{}, remarks: map[int][]reconcile.Remark{}, states: map[int]reconcile.PullState{},
		}},
		heads: &heads{commits: map[string]commit{}, compiled: map[string]int{}, at: map[int]string{}, failed: map[int]error{}},
	}
	f.calls = reconciletest.Record(f.tamper)
	f.Reviews = New(Config{
		Forge: f.forge, Heads: f.heads, Base: f.base, Records: f.records, Comments: true,
		Lanes: reconcile.OneLane(reconcile.Lane{Reader: f.calls, Concurrency: 1}), Now: f.clock.Now,
		Cost: func(p diff.Plan) *diff.Cost {
			return diff.Budget{Requests: 1200, Per: 5 * time.Minute}.Cost(p.Requests.ToApply)
		},
		Requests:    f.tamper.sent.Load,
		Diagnostics: Diagnostics{Log: slog.New(slog.NewTextHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug}))},
	})
	return f
}

func (f *fixture) base() (desired.State, bool) {
	if f.inForce == nil {
		return desired.State{}, false
	}
	return *f.inForce, true
}

// converge puts a commit in force that declares these zones, and makes the platform
// agree with it.
func (f *fixture) converge(name string, zones ...desired.Zone) {
	f.t.Helper()
	state := stateOf(name, zones...)
	f.heads.commits[name] = commit{state: state}
	run := once.Run{
		Source:  source.New(source.Config{Source: branch(name), Compiler: f.heads, Now: f.clock.Now}),
		Records: f.records, Lanes: reconcile.OneLane(reconcile.Lane{Reader: f.Platform, Writer: f.Platform, Concurrency: 1}), Now: f.clock.Now,
	}
	if report := run.Apply(f.t.Context(), once.Order{}); !report.Converged() {
		f.t.Fatalf("not converged: %v; %+v", report.Err, report.Plan)
	}
	f.inForce = &state
	f.calls.Reset()
}

// open opens a pull request, or pushes to it.
func (f *fixture) open(number int, name string, zones ...desired.Zone) {
	f.openState(number, stateOf(name, zones...))
}

func (f *fixture) openState(number int, state desired.State) {
	if !slices.ContainsFunc(f.forge.pulls, func(p reconcile.PullRequest) bool { return p.Number == number }) {
		f.forge.pulls = append(f.forge.pulls, reconcile.PullRequest{Number: number, Author: "dev", AuthorID: 7})
	}
	f.heads.at[number] = state.Commit
	f.heads.commits[state.Commit] = commit{state: state}
}

func (f *fixture) round() {
	f.t.Helper()
	must.Do(f.t, f.Round(f.t.Context()))
}

// wantCalls holds what was sent since it was last asked to a list, in short: "list",
// "managed core", "read 3" (zones by number).
func (f *fixture) wantCalls(want ...string) {
	f.t.Helper()
	if d := cmp.Diff(want, reconciletest.Calls(f.calls), cmpopts.EquateEmpty()); d != "" {
		f.t.Errorf("calls (-want +got):\n%s", d)
	}
	f.calls.Reset()
}

// records are those of a daemon, and what was approved through them.
type records struct {
	reconcile.Forgetful
	approved []reconcile.Approval
}

func (r *records) Approve(ctx context.Context, a []reconcile.Approval) error {
	r.approved = append(r.approved, a...)
	return r.Forgetful.Approve(ctx, a)
}

// board is a forge in memory.
type board struct {
	pulls      []reconcile.PullRequest
	comments   map[int]string
	marks      []string // "head context state"
	approvals  map[string][]string
	approvedAt map[string]time.Time
	sent       int
	down       error
	away       error            // from questions about approvals alone
	told       func(number int) // before each comment; nil is not
	stuck      map[int]bool     // comments on these pull requests are never taken
	people
}

// people are the accounts of a forge.
type people struct {
	ids                map[string]int64 // by name
	last               int64            // id
	unknown, readers   []string
	secretive, private bool
	remarks            map[int][]reconcile.Remark
	states             map[int]reconcile.PullState
}

func (b *board) PullRequests(context.Context) ([]reconcile.PullRequest, error) {
	return slices.Clone(b.pulls), b.down
}

func (b *board) Comment(ctx context.Context, number int, marker, body string) error {
	if !strings.HasPrefix(marker, "<!--") {
		return errors.New("the marker would be seen")
	}
	if b.told != nil {
		b.told(number)
	}
	if b.stuck[number] {
		<-ctx.Done()
		return ctx.Err()
	}
	if b.comments[number] != body {
		b.comments[number], b.sent = body, b.sent+1
	}
	return b.down
}

func (b *board) Status(_ context.Context, commit string, m reconcile.CommitStatus) error {
	b.marks = append(b.marks, commit+" "+m.String())
	return b.down
}

func (b *board) Approvals(_ context.Context, number int, head string, since time.Time) (accounts []reconcile.Account, err error) {
	key := fmt.Sprint(number, " ", head)
	if !b.approvedAt[key].Before(since) {
		for _, name := range b.approvals[key] {
			accounts = append(accounts, b.account(name))
		}
	}
	return accounts, errors.Join(b.down, b.away)
}

// account is the one that has a name; the first time a name is used, that of a new one.
func (b *board) account(name string) reconcile.Account {
	key := strings.ToLower(name)
	if b.ids[key] == 0 {
		b.last++
		b.ids[key] = b.last
	}
	return reconcile.Account{ID: b.ids[key], Name: name}
}

// rename frees a name.
func (b *board) rename(from, to string) {
	b.ids[strings.ToLower(to)] = b.account(from).ID
	delete(b.ids, strings.ToLower(from))
}

func (b *board) Account(_ context.Context, name string) (reconcile.Account, error) {
	if slices.Contains(b.unknown, name) {
		return reconcile.Account{}, reconcile.ErrNoAccount
	}
	return b.account(name), b.down
}

func (b *board) Access(_ context.Context, a reconcile.Account) (reconcile.Access, error) {
	switch {
	case b.secretive:
		return reconcile.AccessUnknown, b.down
	case slices.Contains(b.readers, a.Name):
		return reconcile.AccessRead, b.down
	}
	return reconcile.AccessWrite, b.down
}

func (b *board) Private(context.Context) (bool, error) { return b.private, b.down }

func (b *board) Remarks(_ context.Context, number int) ([]reconcile.Remark, error) {
	return b.remarks[number], b.down
}

// Standing: all who approve of some head, of pull requests that are open; and what the
// test says of others.
func (b *board) Standing(_ context.Context, number int) (s reconcile.PullStanding, err error) {
	s.State = b.states[number]
	if s.State == "" {
		s.State = reconcile.PullOpen
	}
	for key, names := range b.approvals {
		if strings.HasPrefix(key, fmt.Sprint(number, " ")) {
			for _, name := range names {
				s.Approvers = append(s.Approvers, b.account(name))
			}
		}
	}
	return s, errors.Join(b.down, b.away)
}

// approve is a review of a head by some people at a time, in place of any before.
func (b *board) approve(number int, head string, at time.Time, names ...string) {
	key := fmt.Sprint(number, " ", head)
	b.approvals[key], b.approvedAt[key] = names, at
}

// heads are those of pull requests, and what each commit says.
type heads struct {
	commits  map[string]commit
	compiled map[string]int // how often
	at       map[int]string
	failed   map[int]error
}

type commit struct {
	state    desired.State
	problems []desired.Problem
}

func (h *heads) Fetch(_ context.Context, numbers []int) (map[int]string, map[int]error, error) {
	found := map[int]string{}
	for _, n := range numbers {
		if h.at[n] != "" {
			found[n] = h.at[n]
		}
	}
	return found, h.failed, nil
}

func (h *heads) Compile(_ context.Context, name string) (desired.State, []desired.Problem, error) {
	h.compiled[name]++
	c := h.commits[name]
	return c.state, c.problems, nil
}

// branch is git with one commit.
type branch string

func (b branch) Fetch(context.Context) (string, error) { return string(b), nil }

// tamper stands before the platform. A hook that is nil lets calls pass.
type tamper struct {
	*mem.Platform
	sent atomic.Int64
	list func(context.Context) error
	read func(context.Context, edge.Scope) error
}

func (p *tamper) Rulesets(ctx context.Context, scope edge.Scope) ([]edge.Ruleset, error) {
	p.sent.Add(1)
	if p.list != nil {
		if err := p.list(ctx); err != nil {
			return nil, err
		}
	}
	return p.Platform.Rulesets(ctx, scope)
}

func (p *tamper) Ruleset(ctx context.Context, scope edge.Scope, id edge.RulesetID) (edge.Ruleset, error) {
	p.sent.Add(1)
	return p.Platform.Ruleset(ctx, scope, id)
}

func (p *tamper) EntryPoint(ctx context.Context, zone edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	p.sent.Add(1)
	if p.read != nil {
		if err := p.read(ctx, zone); err != nil {
			return edge.Ruleset{}, err
		}
	}
	return p.Platform.EntryPoint(ctx, zone, phase)
}

// reads counts the entry points that were read since it was last asked.
func (f *fixture) reads() (n int) {
	for _, call := range reconciletest.Calls(f.calls) {
		if strings.HasPrefix(call, "read ") {
			n++
		}
	}
	f.calls.Reset()
	return n
}

// zonesBut declares zones 1 to n alike, but for one of them.
func zonesBut(n, i int, d desired.Deployment) []desired.Zone {
	all := zones(n, core("xss"))
	all[i-1] = fleetZone(i, d)
	return all
}

// approvedBy makes accounts the approvers.
func (f *fixture) approvedBy(names ...string) {
	var configured []reconcile.Account
	for _, name := range names {
		configured = append(configured, reconcile.Account{Name: name})
	}
	f.Trust.Approvers, f.approvers = configured, newApprovers(configured)
}
