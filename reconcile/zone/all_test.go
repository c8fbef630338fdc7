package zone

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// many reads as an apply does, one zone after the other.
func (f *fixture) many() Many {
	return Many{Lanes: reconcile.OneLane(reconcile.Lane{Reader: f.recorder, Concurrency: 1}), Now: f.clock.Now}
}

func TestManyReadsEachOnce(t *testing.T) {
	f := newFixture(t, 3)
	steps := 0
	many := f.many()
	many.Progress = func(done, total int) {
		if steps++; done != steps || total != 3 {
			t.Errorf("%d of %d at step %d", done, total, steps)
		}
	}
	all, err := many.Read(t.Context(), stateOf(declareAll(3, core("xss"))...))
	must.Do(t, err)
	f.wantCalls(f.calls(), "list", "managed core", "read 1", "read 2", "read 3")
	for i := range 3 {
		id := mem.FleetZone(i + 1)
		at := id.At(edge.PhaseFirewallManaged)
		if seen := all.Live.EntryPoints[at]; seen.Err != nil || seen.Value.ID == "" || !all.At[at].Equal(f.Now()) {
			t.Errorf("zone %d: %+v at %v", i+1, seen, all.At[at])
		}
	}
	if steps != 3 {
		t.Errorf("%d steps", steps)
	}
}

func TestManyReadsSideBySide(t *testing.T) {
	f := newFixture(t, 30)
	many := f.many()
	many.Lanes.All[0].Concurrency = 8
	all, err := many.Read(t.Context(), stateOf(declareAll(30, core("xss"))...))
	if err != nil || len(all.Live.EntryPoints) != 30 || len(f.calls()) != 32 {
		t.Errorf("%d zones in %d calls, error %v", len(all.Live.EntryPoints), len(f.calls()), err)
	}
}

// twoAccounts has a fleet of two zones and another account with zone 3.
func twoAccounts(d desired.Deployment) (mem.Seed, desired.State) {
	seed := mem.Fleet(3)
	seed.Accounts = append(seed.Accounts, mem.SeedAccount{ID: otherAccount, Rulesets: seed.Accounts[0].Rulesets})
	seed.Zones[2].AccountID = otherAccount
	state := stateOf(declareAll(2, d)...)
	other := stateOf(declare(3, d)).Accounts[0]
	other.ID, other.Key = otherAccount, "other"
	state.Accounts = append(state.Accounts, other)
	return seed, state
}

const otherAccount edge.AccountID = "fedcba9876543210fedcba9876543210"

func TestAccountThatCannotBeListedReadsNoZone(t *testing.T) {
	seed, state := twoAccounts(core("xss"))
	f := seeded(t, seed)
	f.tamper.List = func(account edge.AccountID) error {
		if account == mem.Account {
			return errForbidden
		}
		return nil
	}
	all, err := f.many().Read(t.Context(), state)
	must.Do(t, err)
	f.wantCalls(f.calls(), "list", "list "+string(otherAccount), "managed core", "read 3")
	for i, want := range []error{errForbidden, errForbidden, nil} {
		if got := all.Live.EntryPoints[mem.FleetZone(i+1).At(edge.PhaseFirewallManaged)].Err; !errors.Is(got, want) {
			t.Errorf("zone %d: %v", i+1, got)
		}
	}
}

func TestManagedRulesetThatCannotBeRead(t *testing.T) {
	f := newFixture(t, 1)
	f.tamper.Managed = func() error { return errDown }
	state := stateOf(declare(1, core("xss")))
	all, err := f.many().Read(t.Context(), state)
	must.Do(t, err)
	f.wantCalls(f.calls(), "list", "managed core", "read 1")
	if plan := planner.Make(planner.Input{State: state, Live: all.Live}); plan.Summary.Unknown != 1 || len(plan.Changes) != 0 {
		t.Errorf("summary %+v", plan.Summary)
	}
}

// A zone that fails is the observation of that zone.
func TestFailureIsOfItsZone(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		state diff.ProblemState
	}{
		"unreadable":                     {edge.ErrUnreadable, diff.Unknown},
		"down":                           {errDown, diff.Unknown},
		"not permitted":                  {errForbidden, diff.Forbidden},
		"not permitted, code of a login": {&edge.Error{Status: 403, Details: []edge.ErrorDetail{{Code: edge.CodeAuthentication}}}, diff.Forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 3)
			f.tamper.Read = failZone(2, c.err)
			state := stateOf(declareAll(3, core("xss"))...)
			all, err := f.many().Read(t.Context(), state)
			must.Do(t, err)
			plan := planner.Make(planner.Input{State: state, Live: all.Live})
			if p := plan.Problems; len(plan.Changes) != 2 || len(p) != 1 || p[0].State != c.state || p[0].Scope != mem.FleetZone(2) {
				t.Errorf("%d changes, problems %+v", len(plan.Changes), p)
			}
		})
	}
}

func TestRejectedCredentialStopsTheReading(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*reconciletest.Tamper)
		calls   []string
	}{
		"on the list": {
			func(p *reconciletest.Tamper) { p.List = func(edge.AccountID) error { return errUnauthenticated } },
			[]string{"list"},
		},
		"on a managed ruleset": {
			func(p *reconciletest.Tamper) { p.Managed = func() error { return errUnauthenticated } },
			[]string{"list", "managed core"},
		},
		"on a zone": {
			func(p *reconciletest.Tamper) { p.Read = failZone(2, errUnauthenticated) },
			[]string{"list", "managed core", "read 1", "read 2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 4)
			c.prepare(f.tamper)
			_, err := f.many().Read(t.Context(), stateOf(declareAll(4, core("xss"))...))
			f.wantCalls(f.calls(), c.calls...)
			if !errors.Is(err, edge.ErrUnauthenticated) || strings.Count(err.Error(), "check credentials.rulesets") != 1 {
				t.Errorf("error %v", err)
			}
		})
	}
}

// What could not be read because everything was told to stop says nothing of any zone.
func TestStoppedReadingIsNone(t *testing.T) {
	for name, prepare := range map[string]func(*reconciletest.Tamper, func()){
		"on the list": func(p *reconciletest.Tamper, cancel func()) {
			p.List = func(edge.AccountID) error { cancel(); return context.Canceled }
		},
		"on a managed ruleset": func(p *reconciletest.Tamper, cancel func()) {
			p.Managed = func() error { cancel(); return edge.ErrUnavailable }
		},
		"on a zone": func(p *reconciletest.Tamper, cancel func()) {
			p.Read = func(edge.Scope) error { cancel(); return edge.ErrUnavailable }
		},
		"on the last zone": func(p *reconciletest.Tamper, cancel func()) {
			p.Read = func(id edge.Scope) error {
				if id == mem.FleetZone(9) {
					cancel()
					return edge.ErrUnavailable
				}
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 9)
			ctx, cancel := context.WithCancel(t.Context())
			prepare(f.tamper, cancel)
			if _, err := f.many().Read(ctx, stateOf(declareAll(9, core("xss"))...)); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A platform that goes down in the middle is not asked for every zone: the rest is
// unknown, with the reason.
func TestOutageEndsTheAsking(t *testing.T) {
	f := newFixture(t, 10)
	f.tamper.Read = func(id edge.Scope) error {
		if id == mem.FleetZone(1) || id == mem.FleetZone(2) {
			return nil
		}
		return errDown
	}
	all, err := f.many().Read(t.Context(), stateOf(declareAll(10, core("xss"))...))
	must.Do(t, err)
	// Zones 3 and 4 failed in a row, twice the concurrency of 1.
	f.wantCalls(f.calls(), "list", "managed core", "read 1", "read 2", "read 3", "read 4")
	for i := range 10 {
		err := all.Live.EntryPoints[mem.FleetZone(i+1).At(edge.PhaseFirewallManaged)].Err
		if (err != nil) != (i >= 2) || err != nil && !errors.Is(err, edge.ErrUnavailable) {
			t.Errorf("zone %d: %v", i+1, err)
		}
		if asked := i < 4; err != nil && strings.HasPrefix(err.Error(), "not asked after 2 unavailable answers in a row") == asked {
			t.Errorf("zone %d: %v", i+1, err)
		}
	}
}

// Zones that fail now and then, between others that work, end nothing.
func TestScatteredFailuresEndNothing(t *testing.T) {
	f := newFixture(t, 9)
	n := 0
	f.tamper.Read = func(edge.Scope) error {
		if n++; n%2 == 0 {
			return errDown
		}
		return nil
	}
	all, err := f.many().Read(t.Context(), stateOf(declareAll(9, core("xss"))...))
	must.Do(t, err)
	unknown := 0
	for _, seen := range all.Live.EntryPoints {
		if seen.Err != nil {
			unknown++
		}
	}
	if unknown != 4 || n != 9 {
		t.Errorf("%d zones unknown, want the 4 that failed, of %d", unknown, n)
	}
}
