package zone

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
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

const (
	converged  = reconcile.Converged
	failedNow  = reconcile.Failed
	notStarted = reconcile.NotStarted
)

func TestOneWriteAndItsProof(t *testing.T) {
	f := newFixture(t, 1)
	d := f.converge(declare(1, core("xss", "php")))
	f.wantCalls(d.calls, "write 1", "read 1")
	if got := f.Off(1); !slices.Equal(got, []string{"php", "xss"}) {
		t.Errorf("off: %v", got)
	}
	if seen := d.sight.Places[0]; !seen.At.Equal(f.Now()) || seen.Value.Version != f.Entry(1).Version {
		t.Errorf("what was read last is of %v, version %s", seen.At, seen.Value.Version)
	}
	d = f.converge(declare(1, core("xss", "php")))
	if len(d.plan.Changes) != 0 || len(d.plan.Settled) != 1 || len(d.calls) != 0 {
		t.Errorf("a second plan has %d changes; calls %v", len(d.plan.Changes), d.calls)
	}
}

func TestWriteOfUnknownOutcome(t *testing.T) {
	// Each answer is lost; effects says whether its write took effect.
	lost := func(effects []bool) func(context.Context, edge.Scope, send) (*edge.Ruleset, error) {
		return func(_ context.Context, _ edge.Scope, send send) (*edge.Ruleset, error) {
			if len(effects) == 0 {
				return send()
			}
			effect := effects[0]
			effects = effects[1:]
			if effect {
				if _, err := send(); err != nil {
					return nil, err
				}
			}
			return nil, errLost
		}
	}
	twice := []string{"write 1", "read 1", "write 1", "read 1"}
	for name, c := range map[string]struct {
		effects []bool
		calls   []string
		outcome reconcile.Outcome
	}{
		"took effect":                 {[]bool{true}, twice[:2], converged},
		"did not":                     {[]bool{false}, twice, converged},
		"did not, nor did the second": {[]bool{false, false}, twice, failedNow},
		"did not, but the second did": {[]bool{false, true}, twice, converged},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 1)
			f.tamper.Write = lost(c.effects)
			d := f.work(declare(1, core("xss")))
			f.wantCalls(d.calls, c.calls...)
			f.wantOutcomes(d, c.outcome)
			result := d.results[0]
			if result.Concurrent {
				t.Error("a lost answer is taken for somebody else's write")
			}
			if _, remembered := f.gate.applied[deploymentID(1)]; remembered != (result.Outcome == converged) {
				t.Errorf("remembered as applied: %v", remembered)
			}
			if result.Outcome == failedNow && !errors.Is(result.Err, edge.ErrOutcomeUnknown) {
				t.Errorf("error %v", result.Err)
			}
			if len(f.gate.unkept) != 0 {
				t.Error("a lost answer is held against the platform")
			}
		})
	}
}

// What was seen once is planned once: the plan that the guards have passed is the one that
// is written. What was read again since is planned again, and so is the proof.
func TestZoneIsPlannedOncePerRead(t *testing.T) {
	for name, c := range map[string]struct {
		age   time.Duration
		plans int
	}{
		"just read":  {0, 1 + 1},
		"read again": {2 * freshFor, 1 + 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 1)
			task := f.task(declare(1, core("xss")))
			plain, plans := task, 0
			task.Planned = func(s Sight) diff.Plan {
				plans++
				return Plan(plain, s, nil)
			}
			sight, plan := f.plan(t.Context(), task)
			f.clock.Advance(c.age)
			results, _ := f.Apply(t.Context(), task, sight, plan)
			if len(results) != 1 || results[0].Outcome != converged || plans != c.plans {
				t.Errorf("planned %d times, want %d; %+v", plans, c.plans, results)
			}
		})
	}
}

func TestStaleReadIsReadAgain(t *testing.T) {
	for name, c := range map[string]struct {
		age   time.Duration
		calls []string
	}{
		"60 s":           {60 * time.Second, []string{"write 1", "read 1"}},
		"more than 60 s": {60*time.Second + 1, []string{"read 1", "write 1", "read 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 1)
			f.between = func() { f.clock.Advance(c.age) }
			d := f.converge(declare(1, core("xss")))
			f.wantCalls(d.calls, c.calls...)
		})
	}
}

func TestStaleZoneThatChangedIsPlannedAnew(t *testing.T) {
	for name, c := range map[string]struct {
		d       desired.Deployment
		click   func(*edge.Overrides)
		calls   []string
		outcome reconcile.Outcome
		off     []string
	}{
		"something else is kept": {
			keeping(core("xss")), switchedOff("php"), []string{"read 1", "write 1", "read 1"}, converged, []string{"php", "xss"},
		},
		"somebody made it so": {core("xss"), switchedOff("xss"), []string{"read 1"}, converged, []string{"xss"}},
		"nobody has decided":  {core("xss"), switchedOff("php"), []string{"read 1", "write 1", "read 1"}, converged, []string{"php", "xss"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 1)
			f.between = func() {
				f.clock.Advance(2 * freshFor)
				f.Click(1, c.click)
			}
			d := f.work(declare(1, c.d))
			f.wantCalls(d.calls, c.calls...)
			f.wantOutcomes(d, c.outcome)
			if got := f.Off(1); !slices.Equal(got, c.off) {
				t.Errorf("off: %v", got)
			}
			if d.results[0].Concurrent {
				t.Error("what was read before the write is no concurrent writer")
			}
			if _, remembered := f.gate.applied[deploymentID(1)]; remembered != (c.outcome == converged) {
				t.Errorf("remembered as applied: %v", remembered)
			}
		})
	}
}

// A zone whose rule or entry point is gone by the time it is read again has failed,
// with what stands in the way.
func TestStaleZoneThatIsGone(t *testing.T) {
	for name, c := range map[string]struct {
		gone func(*fixture) error
		want string
	}{
		"its entry point": {
			func(f *fixture) error { return f.Platform.RemoveEntryPoint(mem.FleetZone(1)) }, "the zone has no entry point ruleset",
		},
		"its rule": {func(f *fixture) error {
			entry := f.Entry(1)
			entry.Rules = nil
			return f.Platform.SetEntryPoint(mem.FleetZone(1), entry)
		}, "no execute rule of the zone runs"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 1)
			f.between = func() {
				f.clock.Advance(2 * freshFor)
				must.Do(t, c.gone(f))
			}
			d := f.work(declare(1, core("xss")))
			f.wantCalls(d.calls, "read 1")
			f.wantOutcomes(d, failedNow)
			if !strings.Contains(d.results[0].Err.Error(), c.want) {
				t.Errorf("error %v", d.results[0].Err)
			}
		})
	}
}

// both is a fixture whose zone 1 runs both managed rulesets, and its declaration.
func both(t *testing.T) (*fixture, desired.Zone) {
	f := newFixture(t, 1)
	entry := f.Entry(1)
	second := entry.Rules[0]
	second.ID, second.Ref = "", "credentials"
	second.ActionParameters = &edge.ActionParameters{ID: mem.CredentialsRuleset, Version: "latest"}
	entry.Rules = append(entry.Rules, second)
	must.Do(t, f.Platform.SetEntryPoint(mem.FleetZone(1), entry))
	credentials := core("exposed-credentials")
	credentials.Ruleset = "credentials"
	return f, declare(1, core("xss"), credentials)
}

func TestDeploymentsOfOneZoneTakeTurns(t *testing.T) {
	f, z := both(t)
	d := f.converge(z)
	f.wantCalls(d.calls, "write 1", "read 1", "write 1", "read 1")
	if entry := f.Entry(1); entry.Version != "4" || entry.Rules[0].Version != "2" || entry.Rules[1].Version != "2" {
		t.Errorf("versions %s, %s, %s", entry.Version, entry.Rules[0].Version, entry.Rules[1].Version)
	}
	for _, result := range d.results {
		if result.Concurrent {
			t.Errorf("%s: our own write is taken for somebody else's", result.Change.Deployment)
		}
	}
	f.wantCalls(f.converge(z).calls)
}

func TestDeploymentAfterOneThatFailedIsCheckedFirst(t *testing.T) {
	f, z := both(t)
	n := 0
	f.tamper.Write = func(_ context.Context, _ edge.Scope, send send) (*edge.Ruleset, error) {
		if n++; n == 1 {
			return nil, errDown
		}
		return send()
	}
	d := f.work(z)
	f.wantCalls(d.calls, "write 1", "read 1", "write 1", "read 1")
	f.wantOutcomes(d, failedNow, converged)
}

func TestSlowProofIsNoCheckForTheNextWrite(t *testing.T) {
	f, z := both(t)
	f.gate.permit = func(_, now diff.Change) (*diff.Refusal, error) {
		if now.Deployment == "core" {
			f.tamper.Read = func(edge.Scope) error { // the proof
				f.tamper.Read = nil
				f.clock.Advance(2 * freshFor)
				return nil
			}
		}
		return nil, nil
	}
	d := f.converge(z)
	f.wantCalls(d.calls, "write 1", "read 1", "read 1", "write 1", "read 1")
}

func TestConcurrentWriterIsReported(t *testing.T) {
	php := func(o *edge.Overrides) {
		o.Categories = append(o.Categories, edge.CategoryOverride{Category: "php", Enabled: new(false)})
	}
	undo := switchedOff("php")
	nothing := func(answer *edge.Ruleset, err error) (*edge.Ruleset, error) { return answer, err }
	bodyless := func(_ *edge.Ruleset, err error) (*edge.Ruleset, error) { return nil, err }
	for name, c := range map[string]struct {
		before, after func(*edge.Overrides)
		answer        func(*edge.Ruleset, error) (*edge.Ruleset, error)
		outcome       reconcile.Outcome
		concurrent    bool
	}{
		"nobody":                             {nil, nil, nothing, converged, false},
		"nobody, no body in the answer":      {nil, nil, bodyless, converged, false},
		"before the write":                   {php, nil, nothing, converged, true},
		"before the write, no body":          {php, nil, bodyless, converged, true},
		"after the write":                    {nil, php, nothing, converged, true},
		"after the write, undoing it":        {nil, undo, nothing, failedNow, true},
		"after the write, undoing, bodyless": {nil, undo, bodyless, failedNow, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 1)
			z := declare(1, keeping(core("xss")))
			f.tamper.Write = func(_ context.Context, _ edge.Scope, send send) (*edge.Ruleset, error) {
				if c.before != nil {
					f.Click(1, c.before)
				}
				answer, err := send()
				if c.after != nil {
					f.Click(1, c.after)
				}
				return c.answer(answer, err)
			}
			d := f.work(z)
			f.wantOutcomes(d, c.outcome)
			if d.results[0].Concurrent != c.concurrent {
				t.Errorf("concurrent: %v", d.results[0].Concurrent)
			}
			if len(f.gate.unkept) != 0 {
				t.Error("what somebody else undid is held against the platform")
			}
			f.tamper.Write = nil
			f.converge(z)
		})
	}
}

func TestFailures(t *testing.T) {
	refused := &edge.Error{Status: 400}
	for name, c := range map[string]struct {
		prepare func(*fixture)
		calls   []string
		err     error
	}{
		"the write is refused": {func(f *fixture) {
			f.tamper.Write = func(context.Context, edge.Scope, send) (*edge.Ruleset, error) { return nil, refused }
		}, []string{"write 1"}, refused},
		"it cannot be read back": {func(f *fixture) {
			f.tamper.Write = func(_ context.Context, _ edge.Scope, send send) (*edge.Ruleset, error) {
				f.tamper.Read = failZone(1, errDown)
				return send()
			}
		}, []string{"write 1", "read 1"}, edge.ErrUnavailable},
		"it cannot be remembered": {
			func(f *fixture) { f.gate.full = errFull }, []string{"write 1", "read 1"}, errFull,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 1)
			c.prepare(f)
			d := f.work(declare(1, core("xss")))
			f.wantCalls(d.calls, c.calls...)
			f.wantOutcomes(d, failedNow)
			if !errors.Is(d.results[0].Err, c.err) || len(f.gate.applied) != 0 {
				t.Errorf("error %v, remembered %v", d.results[0].Err, f.gate.applied)
			}
			if unread := !errors.Is(c.err, errFull); d.sight.Whole() == unread {
				t.Errorf("what was read last is of %v", d.sight.Places[0].At)
			}
		})
	}
}

var errFull = errors.New("disk is full")

// A credential that the platform does not take is not tried with the next deployment
// of the zone either.
func TestRejectedCredentialEndsTheZone(t *testing.T) {
	f, z := both(t)
	f.tamper.Write = func(context.Context, edge.Scope, send) (*edge.Ruleset, error) { return nil, errUnauthenticated }
	d := f.work(z)
	f.wantCalls(d.calls, "write 1")
	f.wantOutcomes(d, failedNow, notStarted)
	if d.results[1].Err != nil {
		t.Errorf("the one message is repeated: %v", d.results[1].Err)
	}
}

// Nothing is sent without the word of the gate, which is asked about what is about to
// be sent, and not about what was planned a while ago.
func TestGateIsAskedFirst(t *testing.T) {
	errAway := errors.New("the ledger is away")
	for name, c := range map[string]struct {
		refusal *diff.Refusal
		err     error
		outcome reconcile.Outcome
	}{
		"it agrees":                 {nil, nil, converged},
		"it refuses":                {&diff.Refusal{Guard: diff.GuardHold, Reason: "INC-1"}, nil, notStarted},
		"it fails":                  {nil, errAway, failedNow},
		"a newer commit changes it": {nil, reconcile.ErrSuperseded, notStarted},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 1)
			asked := 0
			f.gate.permit = func(planned, now diff.Change) (*diff.Refusal, error) {
				if asked++; planned.Do().Seen() == now.Do().Seen() || len(f.calls()) != 1 {
					t.Errorf("asked about versions %s and %s, after %v", planned.Do().Seen(), now.Do().Seen(), f.calls())
				}
				return c.refusal, c.err
			}
			f.between = func() {
				f.clock.Advance(2 * freshFor)
				f.Click(1, switchedOff("php"))
			}
			d := f.work(declare(1, keeping(core("xss"))))
			f.wantOutcomes(d, c.outcome)
			result := d.results[0]
			if sent := writes(d.calls) > 0; asked != 1 || sent != (c.outcome == converged) {
				t.Errorf("asked %d times; calls %v", asked, d.calls)
			}
			if !errors.Is(result.Err, c.err) || result.Change.Refused != c.refusal {
				t.Errorf("error %v, refused %+v", result.Err, result.Change.Refused)
			}
		})
	}
}

func TestStoppedFinishesTheWriteInFlight(t *testing.T) {
	f, z := both(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.tamper.Write = func(inFlight context.Context, _ edge.Scope, send send) (*edge.Ruleset, error) {
		cancel()
		if inFlight.Err() != nil {
			t.Error("the write in flight was cut off")
		}
		return send()
	}
	d := f.workUntil(ctx, z)
	f.wantCalls(d.calls, "write 1", "read 1")
	f.wantOutcomes(d, converged, notStarted)
	if _, remembered := f.gate.applied[deploymentID(1)]; !remembered {
		t.Error("what was proved is forgotten")
	}
}

// A write that hangs is given up some time after everything was told to stop.
func TestStoppedDoesNotHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, 1)
		ctx, cancel := context.WithCancel(t.Context())
		f.tamper.Write = func(inFlight context.Context, _ edge.Scope, _ send) (*edge.Ruleset, error) {
			cancel()
			<-inFlight.Done()
			return nil, inFlight.Err()
		}
		begin := time.Now()
		d := f.workUntil(ctx, declare(1, core("xss")))
		if took := time.Since(begin); took != reconcile.Grace {
			t.Errorf("it took %v to stop", took)
		}
		f.wantOutcomes(d, failedNow)
	})
}

func TestStoppedBetweenCheckAndWriteWritesNothing(t *testing.T) {
	f := newFixture(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	f.between = func() {
		f.clock.Advance(2 * freshFor)
		f.tamper.Read = func(edge.Scope) error { cancel(); return nil }
	}
	d := f.workUntil(ctx, declare(1, core("xss")))
	f.wantCalls(d.calls, "read 1")
	f.wantOutcomes(d, notStarted)
}

func TestStoppedBeforeItBegins(t *testing.T) {
	f, z := both(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.between = cancel
	d := f.workUntil(ctx, z)
	f.wantCalls(d.calls)
	f.wantOutcomes(d, notStarted, notStarted)
}
