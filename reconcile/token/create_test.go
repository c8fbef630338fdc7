package token

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Nothing is sent before it is on record, and nothing is told before it is done.
func TestTokenIsCreatedStepByStep(t *testing.T) {
	f := newFixture(t)
	f.push(declare("ci-dns", zoneA))
	f.converge()
	f.wantTaken("intend", "create", "confirm", "deliver", "delivered")
	f.wantHolder("ci-dns", 1)
	if len(f.memory.sealed) != 0 {
		t.Error("a sealed copy is left")
	}
	f.converge()
	f.wantTaken()
	f.wantMade("ci-dns")
}

func TestOutcomesOfCreation(t *testing.T) {
	for name, c := range map[string]struct {
		fail    map[string]error
		lost    bool
		mute    bool
		outcome reconcile.Outcome
		state   diff.TokenState // empty: nothing stays on record
		taken   []string
	}{
		"refused": {
			fail: map[string]error{"create": &edge.Error{Status: 400}}, outcome: reconcile.Failed,
			taken: []string{"intend", "create", "not created"},
		},
		"throttled": {
			fail: map[string]error{"create": &edge.Error{Status: 429}}, outcome: reconcile.Failed,
			taken: []string{"intend", "create", "not created"},
		},
		"answer lost": {
			lost: true, outcome: reconcile.Quarantined, state: diff.TokenQuarantined,
			taken: []string{"intend", "create", "quarantine"},
		},
		"not on record": {
			fail: map[string]error{"intend": errDiskFull}, outcome: reconcile.Failed,
			taken: []string{"intend"},
		},
		"cannot be sealed": {
			fail: map[string]error{"confirm": errDiskFull}, outcome: reconcile.Quarantined, state: diff.TokenQuarantined,
			taken: []string{"intend", "create", "confirm", "quarantine"},
		},
		"sink is down": {
			fail: map[string]error{"deliver": errSinkDown}, outcome: reconcile.Failed, state: diff.TokenConfirmed,
			taken: []string{"intend", "create", "confirm", "deliver"},
		},
		// A creator that does not say when it sends is a mistake, and costs no token.
		"mute": {
			mute: true, outcome: reconcile.Converged, state: diff.TokenConfirmed,
			taken: []string{"create", "intend", "confirm", "deliver", "delivered"},
		},
		"mute, answer lost": {
			mute: true, lost: true, outcome: reconcile.Quarantined, state: diff.TokenQuarantined,
			taken: []string{"create", "intend", "quarantine"},
		},
		"mute, refused": {
			mute: true, fail: map[string]error{"create": &edge.Error{Status: 400}}, outcome: reconcile.Failed,
			taken: []string{"create"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.push(declare("ci-dns", zoneA))
			f.lost["create"], f.platform.mute = c.lost, c.mute
			for step, err := range c.fail {
				f.fail[step] = err
			}
			o := f.work()
			if count(o, c.outcome) != 1 || converged(o) != (c.outcome == reconcile.Converged) {
				t.Errorf("results %v, error %v", results(o), o.Err)
			}
			f.wantTaken(c.taken...)
			if c.state == "" && len(f.records()) > 0 || c.state != "" && f.records()[0].State != c.state {
				t.Errorf("on record: %+v", f.records())
			}
		})
	}
}

// While a creation waits for the budget nothing is on record: a process that is
// killed then leaves nothing for a person, and the next one creates the token.
func TestKilledWhileWaitingForTheBudget(t *testing.T) {
	f := newFixture(t)
	f.push(declare("ci-dns", zoneA))
	f.platform.admit = func(context.Context) error { panic(errCrash) }
	f.killed()
	f.wantTaken()
	f.platform.admit = nil
	f.converge()
	f.wantMade("ci-dns")
}

// Nor does one that is told to stop.
func TestStoppedWhileWaitingForTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.push(declare("a", zoneA), declare("b", zoneA))
		f.platform.admit = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, stop)
		begin := time.Now()
		o := f.Work(ctx, f.scope, f.guard)
		if took := time.Since(begin); took != time.Minute {
			t.Errorf("it went on for %s", took)
		}
		if count(o, reconcile.NotStarted) != 2 || !errors.Is(o.Err, context.Canceled) || len(f.records()) != 0 {
			t.Errorf("results %v, error %v, on record %+v", results(o), o.Err, f.records())
		}
		if got := o.Unfinished(); !got["a"] || !got["b"] {
			t.Errorf("unfinished %v", got)
		}
		f.wantTaken()
	})
}

// It may be admitted at the very moment when the work is told to stop.
func TestAdmittedWhenToldToStop(t *testing.T) {
	f := newFixture(t)
	f.push(declare("ci-dns", zoneA))
	ctx, stop := context.WithCancel(t.Context())
	f.platform.admit = func(context.Context) error { stop(); return nil }
	o := f.Work(ctx, f.scope, f.guard)
	if count(o, reconcile.NotStarted) != 1 || !errors.Is(o.Err, context.Canceled) {
		t.Errorf("results %v, error %v", results(o), o.Err)
	}
	f.wantTaken()
}

// What was sent is finished when the work is told to stop, for as long as the
// grace.
func TestStoppedAfterSending(t *testing.T) {
	for took, want := range map[time.Duration]reconcile.Outcome{reconcile.Grace - time.Second: reconcile.Converged, reconcile.Grace + time.Second: reconcile.Quarantined} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			f.push(declare("a", zoneA), declare("b", zoneA))
			ctx, stop := context.WithCancel(t.Context())
			f.Writer = slow{f.platform, func(ctx context.Context) error {
				stop()
				select {
				case <-time.After(took):
					return nil
				case <-ctx.Done():
					return errors.Join(edge.ErrOutcomeUnknown, ctx.Err())
				}
			}}
			o := f.Work(ctx, f.scope, f.guard)
			if count(o, want) != 1 || count(o, reconcile.NotStarted) != 1 || !errors.Is(o.Err, context.Canceled) {
				t.Errorf("an answer after %s: results %v, error %v", took, results(o), o.Err)
			}
		})
	}
}

// slow is a creator whose answer takes its time.
type slow struct {
	*platform
	answer func(context.Context) error
}

func (s slow) CreateToken(ctx context.Context, spec edge.TokenSpec) (edge.CreatedToken, error) {
	created, err := s.platform.CreateToken(ctx, spec)
	if answer := s.answer(ctx); answer != nil {
		return edge.CreatedToken{}, answer
	}
	return created, err
}

// An attempt is as old as its request, not as the plan it is from.
func TestAttemptBeginsWhenItIsSent(t *testing.T) {
	f := newFixture(t)
	f.push(declare("ci-dns", zoneA))
	f.platform.admit = func(context.Context) error { f.advance(time.Hour); return nil }
	f.converge()
	if at := f.records()[0].At; !at.Equal(f.now) {
		t.Errorf("it is said to have begun at %s", at)
	}
}

// A changed declaration is a new token; what left git is named and not dropped.
func TestReplacementAndOrphans(t *testing.T) {
	f := newFixture(t)
	f.push(declare("ci-dns", zoneA))
	f.converge()
	f.push(declare("ci-dns", zoneB))
	if c := f.plan().Changes; len(c) != 1 || c[0].Action() != diff.ActionReplace || c[0].Direction != diff.Weakens {
		t.Fatalf("changes %+v", c)
	}
	f.converge()
	wantOrphans := func(o Outcome, ids ...edge.TokenID) {
		t.Helper()
		var got []edge.TokenID
		for _, c := range o.Plan.Changes {
			if c.Action() == diff.ActionOrphan {
				got = append(got, edge.TokenID(c.Fields[0].Old.(string)))
			}
		}
		if !slices.Equal(got, ids) || len(o.Plan.Changes) != len(ids) {
			t.Errorf("orphans %v, want %v; changes %+v", got, ids, o.Plan.Changes)
		}
	}
	made := func(n int) []edge.TokenID {
		t.Helper()
		if len(f.platform.created) != n {
			t.Fatalf("%d exist, want %d", len(f.platform.created), n)
		}
		return f.platform.created
	}
	wantOrphans(f.converge(), made(2)[0])

	// The sink holds the second one's secret by now, so going back is a third.
	f.push(declare("ci-dns", zoneA))
	f.converge()
	f.wantHolder("ci-dns", 3)
	wantOrphans(f.converge(), made(3)[:2]...)

	f.push()
	wantOrphans(f.converge(), made(3)...)
}

func TestCreationIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*desired.Token)
		guard  string
	}{
		"no sink":      {func(d *desired.Token) { d.Sink = nil }, "sink"},
		"unknown sink": {func(d *desired.Token) { d.Sink.Name = "vault" }, "sink"},
		"name":         {func(d *desired.Token) { d.Name = strings.Repeat("ä", 121) }, "name"},
		"expired":      {func(d *desired.Token) { d.ExpiresOn = "2025-12-31T23:59:59Z" }, "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			d := declare("ci-dns", zoneA)
			c.change(&d)
			f.push(d)
			if o := f.work(); len(o.Plan.Changes) != 1 || !slices.Equal(refusals(o), []string{c.guard}) {
				t.Errorf("changes %+v", o.Plan.Changes)
			}
			f.wantTaken()
		})
	}
}

// Nothing is sent where the guard says that the whole plan must not be.
func TestGuardThatFails(t *testing.T) {
	f := newFixture(t)
	f.push(declare("ci-dns", zoneA))
	errOther := errors.New("the plan is another one")
	o := f.Work(t.Context(), f.scope, func(_ context.Context, plan diff.Plan) (diff.Plan, error) { return plan, errOther })
	if !errors.Is(o.Err, errOther) || len(o.Plan.Changes) != 1 || len(o.Results) != 0 {
		t.Errorf("error %v, results %v", o.Err, results(o))
	}
	f.wantTaken()
}

// A rejected credential ends the creating, with one message that names it.
func TestRejectedCredential(t *testing.T) {
	f := newFixture(t)
	f.push(declare("a", zoneA), declare("b", zoneB))
	f.fail["create"] = &edge.Error{Status: 401}
	o := f.work()
	if !errors.Is(o.Err, edge.ErrUnauthenticated) || !strings.Contains(o.Err.Error(), "credentials.tokens") {
		t.Errorf("error %v", o.Err)
	}
	if count(o, reconcile.NotStarted) != 1 || len(f.records()) != 0 {
		t.Errorf("results %v, on record %+v", results(o), f.records())
	}
	f.wantTaken("intend", "create", "not created")
}

func TestWithoutCollaborators(t *testing.T) {
	f := newFixture(t)
	f.push(declare("ci-dns", zoneA))
	nothing := New(Config{Now: f.Now})
	o := nothing.Work(t.Context(), f.scope, nil)
	if p := o.Plan.Problems; o.Err != nil || len(p) != 1 || p[0].State != diff.Unknown || !strings.Contains(p[0].Reason, "there is no ledger that says which exist") {
		t.Errorf("without a ledger: error %v, problems %+v", o.Err, p)
	}
	if keys, err := nothing.Due(t.Context(), f.scope.Tokens); err != nil || len(keys) != 0 {
		t.Errorf("without a ledger: due %v, error %v", keys, err)
	}
	f.Worker = New(Config{Memory: f.memory, Sinks: f.sinks, Now: f.Now})
	if o := f.work(); count(o, reconcile.Failed) != 1 || !errors.Is(o.Results[0].Err, errNoCredential) {
		t.Errorf("without a credential: results %v", results(o))
	}
	f.wantTaken()
	f.Worker = New(Config{Memory: f.memory, Calls: Calls{Writer: f.platform}, Now: f.Now})
	if o := f.Work(t.Context(), f.scope, nil); count(o, reconcile.Failed) != 1 || !errors.Is(o.Results[0].Err, errNoSinks) || len(f.memory.sealed) != 1 {
		t.Errorf("without sinks: results %v", results(o))
	}
}

// A ledger that cannot be read ends the work.
func TestLedgerThatCannotBeRead(t *testing.T) {
	f := newFixture(t)
	f.push(declare("ci-dns", zoneA))
	f.Memory = unreadable{f.memory}
	if o := f.work(); !errors.Is(o.Err, errDiskFull) || !strings.HasPrefix(o.Err.Error(), "recalling tokens: ") || o.Plan.Commit != f.scope.Commit {
		t.Errorf("error %v", o.Err)
	}
	if _, err := f.Due(t.Context(), f.scope.Tokens); !errors.Is(err, errDiskFull) {
		t.Errorf("error %v", err)
	}
}

type unreadable struct{ reconcile.TokenMemory }

func (unreadable) Tokens(context.Context) (diff.TokensLive, error) {
	return diff.TokensLive{}, errDiskFull
}
