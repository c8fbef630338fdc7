package controller

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// owned is the platform as one credential sees it: it notes what was asked of accounts and
// zones that are another's.
type owned struct {
	*calls
	lane  string
	owner func(edge.Scope) string
	stray func(string)
}

func (o owned) check(scope edge.Scope) {
	if of := o.owner(scope); of != o.lane && of != "" {
		o.stray(fmt.Sprintf("%s of %s was asked for with the credential of %s", scope, of, o.lane))
	}
}

func (o owned) Rulesets(ctx context.Context, scope edge.Scope) ([]edge.Ruleset, error) {
	o.check(scope)
	return o.calls.Rulesets(ctx, scope)
}

func (o owned) Ruleset(ctx context.Context, scope edge.Scope, id edge.RulesetID) (edge.Ruleset, error) {
	o.check(scope)
	return o.calls.Ruleset(ctx, scope, id)
}

func (o owned) EntryPoint(ctx context.Context, zone edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	o.check(zone)
	return o.calls.EntryPoint(ctx, zone, phase)
}

func (o owned) Send(ctx context.Context, w edge.Write) (*edge.Ruleset, error) {
	o.check(w.Scope)
	return o.calls.Send(ctx, w)
}

// split is a fixture with two accounts and a credential for each: zones 1 to n are of
// account a, n+1 to 2n of b.
type split struct {
	*fixture
	n int

	mu     sync.Mutex
	hooks  map[string]func(context.Context, call) error // by lane
	at     map[edge.Scope]string                        // which account a zone is in
	moving edge.Scope                                   // that is about to be in another one
}

// hook makes a function the one that is called before each call of a lane; nil is none.
func (s *split) hook(lane string, do func(context.Context, call) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks[lane] = do
}

// owner is the account of a zone, or the key of an account; "" where it may be either.
func (s *split) owner(scope edge.Scope) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if scope == s.moving {
		return ""
	}
	if account, ok := scope.Account(); ok {
		return map[edge.AccountID]string{mem.Account: "a", accountB: "b"}[account]
	}
	return s.at[scope]
}

const accountB edge.AccountID = "fedcba9876543210fedcba9876543210"

func newSplit(t testT, n int) *split {
	seed := mem.Fleet(2 * n)
	seed.Accounts = append(seed.Accounts, mem.SeedAccount{ID: accountB, Rulesets: seed.Accounts[0].Rulesets})
	s := &split{fixture: fixtureOn(t, mem.Config{Seed: seed}), n: n, at: map[edge.Scope]string{}, hooks: map[string]func(context.Context, call) error{}}
	for i := 1; i <= 2*n; i++ {
		s.at[mem.FleetZone(i)] = map[bool]string{true: "a", false: "b"}[i <= n]
	}
	s.Lanes = reconcile.Lanes{Of: map[string]int{"a": 0, "b": 1}, Rest: -1}
	for _, name := range []string{"a", "b"} {
		own := owned{&calls{Platform: s.Platform, latency: latency}, name, s.owner, func(text string) { t.Errorf("%s", text) }}
		own.set(func(ctx context.Context, c call) error {
			s.mu.Lock()
			hook := s.hooks[name]
			s.mu.Unlock()
			if hook == nil {
				return nil
			}
			return hook(ctx, c)
		})
		s.Lanes.All = append(s.Lanes.All, reconcile.Lane{
			Name: name, Credential: "accounts." + name + ".credentials.rulesets", Reader: own, Writer: own, Concurrency: 2,
			Budget: diff.Budget{Requests: 1000, Per: time.Minute},
		})
	}
	return s
}

// state declares the zones as they are in the accounts, with these tags off.
func (s *split) state(name string, tags ...string) desired.State {
	state := desired.State{Commit: name}
	for _, key := range []string{"a", "b"} {
		var zones []desired.Zone
		for i := 1; i <= 2*s.n; i++ {
			if s.at[mem.FleetZone(i)] == key {
				zones = append(zones, zoneOf(i, core(tags...)))
			}
		}
		of := stateOf(name, zones...).Accounts[0]
		of.Key, of.ID = key, map[string]edge.AccountID{"a": mem.Account, "b": accountB}[key]
		state.Accounts = append(state.Accounts, of)
	}
	return state
}

func (s *split) commit(name string, tags ...string) {
	s.repo.Commit(name, commit{State: s.state(name, tags...)})
	if s.source != nil {
		s.source.Poke()
		s.pass(soon)
	}
}

// have counts the zones of an account that have these tags off.
func (s *split) have(account, tags string) (n int) {
	for i := 1; i <= 2*s.n; i++ {
		if s.at[mem.FleetZone(i)] == account && s.off(i) == tags {
			n++
		}
	}
	return n
}

var errRejected = &edge.Error{Call: "GET /x", Status: 401, Details: []edge.ErrorDetail{{Code: 1000, Message: "invalid API token"}}}

func rejectAll(context.Context, call) error { return errRejected }

// A credential that is rejected stops its account alone: the other converges, and what has
// become of it is told, with what is missing.
func TestRejectedCredentialStopsItsAccountAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSplit(t, 10)
		s.hook("b", rejectAll)
		s.commit("c1", "xss")
		s.start()
		if a, b := s.have("a", "xss"), s.have("b", "xss"); a != 10 || b != 0 {
			t.Errorf("%d zones of a and %d of b converged", a, b)
		}
		sums := func() (list []reconcile.Report) {
			for _, r := range s.journal.all() {
				if r.Sum {
					list = append(list, r)
				}
			}
			return list
		}
		if n := len(sums()); n != 0 {
			t.Errorf("%d reports before the credential counts as away", n)
		}
		s.pass(time.Minute)
		list := sums()
		if len(list) != 1 || list[0].Plan.Summary.Unknown != 10 || list[0].Plan.Summary.Zones != 20 {
			t.Fatalf("%d reports", len(list))
		}
		if reason := list[0].Plan.Problems[0].Reason; !strings.Contains(reason, "accounts.b.credentials.rulesets") {
			t.Errorf("reason %q", reason)
		}
		status := s.Status()
		if len(status.Work.Credentials) != 2 || status.Work.Credentials[0].Down != "" || status.Work.Credentials[1].Down == "" || status.Work.Credentials[1].Zones != 10 {
			t.Errorf("credentials %+v", status.Work.Credentials)
		}
		if !status.Work.Credentials[0].OldestDue.IsZero() || status.Work.Credentials[1].OldestDue.IsZero() {
			t.Errorf("credentials %+v", status.Work.Credentials)
		}
		s.hook("b", nil)
		s.pass(3 * time.Minute)
		if b := s.have("b", "xss"); b != 10 {
			t.Errorf("%d zones of b converged", b)
		}
		if list = sums(); len(list) < 2 || list[1].Plan.Summary.Unknown != 0 {
			t.Errorf("%d reports", len(list))
		}
	})
}

// One that is slow does not slow the other down: its workers are its own.
func TestSlowCredentialDelaysItsAccountAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSplit(t, 10)
		s.hook("b", func(ctx context.Context, _ call) error {
			select {
			case <-time.After(10 * time.Minute):
				return edge.ErrUnavailable
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		s.commit("c1", "xss")
		s.start()
		if a := s.have("a", "xss"); a != 10 {
			t.Errorf("%d zones of a converged", a)
		}
		s.stop()
	})
}

// A limit is counted without the zones of a credential that is away.
func TestLimitWithoutARejectedCredential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSplit(t, 5)
		s.Guards = reconcile.Guards{Rules: []guard.Rule{{Name: "most", Changes: &guard.Limit{Count: new(100)}}}}
		s.hook("b", rejectAll)
		s.commit("c1", "xss")
		s.start()
		s.pass(2 * time.Minute)
		if a := s.have("a", "xss"); a != 5 {
			t.Errorf("%d zones of a converged", a)
		}
	})
}

// A generation of an earlier process may have an account without a credential: that is an
// error of the configuration. One that is left out is not there.
func TestAccountsOfAnEarlierProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSplit(t, 2)
		s.commit("c1", "xss")
		s.start()
		s.stop()
		all := s.Lanes
		s.Config.Records, s.Config.Source = s.records, s.source
		s.Lanes = reconcile.Lanes{All: all.All[:1], Of: map[string]int{"a": 0}, Rest: -1}
		if _, err := New(t.Context(), s.Config); err == nil || !strings.Contains(err.Error(), "account.b has no credential") {
			t.Errorf("error %v", err)
		}
		s.Lanes.Skip = map[string]bool{"b": true}
		heart, err := New(t.Context(), s.Config)
		must.Do(t, err)
		if state, _ := heart.InForce(); len(state.Accounts) != 1 || state.Accounts[0].Key != "a" {
			t.Errorf("accounts %+v", state.Accounts)
		}
	})
}

// TestItemsStayInTheirLane is a law: whatever is committed, however zones move between
// accounts and credentials fail, nothing is asked with the credential of another account,
// and no zone is in two queues.
func TestItemsStayInTheirLane(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		script := rapid.SliceOfN(rapid.IntRange(0, 99), 1, 12).Draw(rt, "script")
		synctest.Test(t, func(t *testing.T) {
			s := newSplit(t, 3)
			s.commit("c0", "xss")
			s.start()
			last := "xss"
			for i, step := range script {
				name, tags := fmt.Sprintf("c%d", i+1), []string{[]string{"xss", "sqli", "php"}[step%3]}
				switch {
				case step < 40:
					s.commit(name, tags...)
				case step < 60: // a zone moves to the other account
					s.move(mem.FleetZone(1 + step%6))
					s.commit(name, tags...)
					s.moved()
				case step < 75:
					s.hook([]string{"a", "b"}[step%2], rejectAll)
				case step < 90:
					s.hook([]string{"a", "b"}[step%2], nil)
				default:
					s.lookNow()
				}
				if step < 60 {
					last = tags[0]
				}
				s.wantOneQueue()
			}
			s.hook("a", nil)
			s.hook("b", nil)
			s.pass(20 * time.Minute)
			s.wantOneQueue()
			if n := s.have("a", last) + s.have("b", last); n != 6 {
				t.Errorf("%d of 6 zones are as declared", n)
			}
		})
	})
}

// move puts a zone into the other account, where the account keeps a zone.
func (s *split) move(id edge.Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := 0
	for _, account := range s.at {
		if account == s.at[id] {
			left++
		}
	}
	if left > 1 {
		s.at[id], s.moving = map[string]string{"a": "b", "b": "a"}[s.at[id]], id
	}
}

// moved ends the time in which the zone may be asked for with either credential.
func (s *split) moved() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moving = edge.Scope{}
}

// wantOneQueue checks that each zone is in the queue of its account's credential alone.
func (s *split) wantOneQueue() {
	s.t.Helper()
	for id, account := range s.at {
		for _, lane := range s.lanes.all {
			next, _ := lane.queue.Of(id)
			if next != nil && lane.Name != account {
				s.t.Errorf("zone %s of account %s is in the queue of %s", id, account, lane.Name)
			}
		}
	}
}
