package zone

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

var custom = reconcile.Looking{Phases: []edge.Phase{edge.PhaseFirewallCustom}, Every: 24 * time.Hour}

var skipAll, block = reconciletest.SkipManaged("true"), reconciletest.Block(`ip.src eq 192.0.2.1`)

// looking is a fixture that looks at phases of zones.
func looking(t testT, n int, at reconcile.Looking) *fixture {
	t.Helper()
	f := newFixture(t, n)
	f.Looks = NewLooks(at, f.clock.Now)
	return f
}

// sweep reads a zone as the sweep does, where the last look may be so old, and returns what was
// seen of a place.
func (f *fixture) sweep(i int, every time.Duration, at edge.Place) diff.Ahead {
	f.t.Helper()
	f.recorder.Reset()
	task := f.task(declare(i, core("xss")))
	task.ListedSince, task.LookedSince = f.clock.Now().Add(-time.Hour), f.clock.Now().Add(-every)
	s, err := f.Read(f.t.Context(), task)
	must.Do(f.t, err)
	if s.Err() != nil {
		f.t.Errorf("zone %d: %v", i, s.Err())
	}
	return s.Ahead[at]
}

func skips(seen diff.Ahead) (expressions []string) {
	for _, r := range seen.Value.Rules {
		if r.Action == edge.ActionSkip {
			expressions = append(expressions, r.Expression)
		}
	}
	for _, e := range seen.Executed {
		for _, r := range e.Value.Rules {
			expressions = append(expressions, "executed "+r.Expression)
		}
	}
	slices.Sort(expressions)
	return expressions
}

// A zone is looked at once in so long a time, by the sweep alone, and of what is there only
// rules that matter are kept.
func TestZoneIsLookedAtInTheSweep(t *testing.T) {
	f := looking(t, 2, custom)
	at := mem.FleetZone(1).At(edge.PhaseFirewallCustom)
	f.Put(mem.FleetZone(1), edge.PhaseFirewallCustom, block, skipAll, block)
	f.Put(mem.FleetZone(2), edge.PhaseFirewallCustom, block)
	task := f.task(declare(1, core("xss")))
	s, err := f.Read(t.Context(), task) // a push
	must.Do(t, err)
	f.wantCalls(f.calls(), "list", "managed core", "read 1")
	if seen := s.Ahead[at]; !errors.Is(seen.Err, diff.ErrNotYet) || s.Looked != 0 {
		t.Errorf("before the first look: %+v", seen)
	}
	first := f.clock.Now()
	seen := f.sweep(1, custom.Every, at)
	f.wantCalls(f.calls(), "read 1", "look 1")
	if seen.Err != nil || len(seen.Value.Rules) != 1 || !slices.Equal(skips(seen), []string{"true"}) || !seen.At.Equal(first) {
		t.Errorf("it saw %+v", seen)
	}
	f.sweep(2, custom.Every, at)
	f.wantCalls(f.calls(), "read 2", "look 2")
	if known := f.Looks.zones[mem.FleetZone(2)]; known.places != nil {
		t.Errorf("of a zone without skip rules it keeps %+v", known)
	}
	f.clock.Advance(custom.Every)
	if again := f.sweep(1, custom.Every, at); &again.Value.Rules[0] != &seen.Value.Rules[0] {
		t.Error("it is not the same value without a look")
	}
	f.wantCalls(f.calls(), "list", "read 1")
	f.clock.Advance(1)
	f.Put(mem.FleetZone(1), edge.PhaseFirewallCustom, block)
	if seen := f.sweep(1, custom.Every, at); len(skips(seen)) != 0 || seen.Err != nil || !seen.At.Equal(f.clock.Now()) {
		t.Errorf("it saw %+v", seen)
	}
	f.wantCalls(f.calls(), "read 1", "look 1")
	f.Looks.Forget(nil, 1, func(id edge.Scope) bool { return id == mem.FleetZone(2) })
	if _, known := f.Looks.zones[mem.FleetZone(1)]; known {
		t.Error("a zone that is not declared is kept")
	}
}

// Where nothing is declared that could be turned off, and without phases, nobody looks.
func TestNothingIsLookedAtForNothing(t *testing.T) {
	f := looking(t, 1, reconcile.Looking{})
	f.sweep(1, 0, edge.Place{})
	f.wantCalls(f.calls(), "list", "managed core", "read 1")
	f.Looks = NewLooks(custom, f.clock.Now)
	task := f.task(declare(1))
	task.ListedSince, task.LookedSince = f.clock.Now().Add(-time.Hour), f.clock.Now()
	f.recorder.Reset()
	_, err := f.Read(t.Context(), task)
	must.Do(t, err)
	f.wantCalls(f.calls(), "read 1")
}

// A look that fails is no failure of the zone, keeps what was seen before, and is repeated
// where the failure may pass.
func TestLookThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		again bool // with the next sweep
	}{"unavailable": {errDown, true}, "throttled": {&edge.Error{Status: 429}, true}, "unreadable": {edge.ErrUnreadable, true}, "forbidden": {errForbidden, false}, "rejected": {errUnauthenticated, true}} {
		t.Run(name, func(t *testing.T) {
			f := looking(t, 1, custom)
			at := mem.FleetZone(1).At(edge.PhaseFirewallCustom)
			failing := f.failLooks(c.err)
			f.Put(mem.FleetZone(1), edge.PhaseFirewallCustom, skipAll)
			if seen := f.sweep(1, custom.Every, at); !errors.Is(seen.Err, c.err) || !seen.At.IsZero() {
				t.Errorf("the first look failed, and it saw %+v", seen)
			}
			f.clock.Advance(time.Minute)
			failing.err = nil
			if seen := f.sweep(1, custom.Every, at); (seen.Err == nil) != c.again {
				t.Errorf("in the next sweep it saw %+v", seen)
			}
			f.clock.Advance(custom.Every + 1)
			before := f.sweep(1, custom.Every, at)
			f.clock.Advance(custom.Every + 1)
			failing.err = c.err
			seen := f.sweep(1, custom.Every, at)
			if seen.Err != nil || !errors.Is(seen.Since, c.err) || !slices.Equal(skips(seen), []string{"true"}) || !seen.At.Equal(before.At) {
				t.Errorf("a later look failed, and it saw %+v", seen)
			}
			f.Put(mem.FleetZone(1), edge.PhaseFirewallCustom)
			failing.err = nil
			f.clock.Advance(custom.Every + 1)
			if seen := f.sweep(1, custom.Every, at); seen.Err != nil || seen.Since != nil || len(skips(seen)) > 0 {
				t.Errorf("after a look that worked it saw %+v", seen)
			}
		})
	}
}

// failingLooks fail while there is an error.
type failingLooks struct {
	err   error
	asked int
}

func (f *fixture) failLooks(err error) *failingLooks {
	failing := &failingLooks{err: err}
	f.tamper.Look = func(edge.Place) error { failing.asked++; return failing.err }
	return failing
}

// A platform that answers no look is spared more of them for a while; a look that ends with
// its context is an end, and says nothing.
func TestLooksWithoutAnswers(t *testing.T) {
	f := looking(t, 2*mostDown, custom)
	failing := f.failLooks(errDown)
	for i := range 2 * mostDown {
		at := mem.FleetZone(i + 1).At(edge.PhaseFirewallCustom)
		if seen := f.sweep(i+1, custom.Every, at); !errors.Is(seen.Err, edge.ErrUnavailable) {
			t.Errorf("zone %d: %+v", i+1, seen)
		}
	}
	if failing.asked != mostDown {
		t.Errorf("%d looks", failing.asked)
	}
	f.clock.Advance(retry.Account.Most)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	failing.err = context.Canceled
	if _, err := f.Looks.look(ctx, f.recorder, declare(1, core("xss")), f.clock.Now()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	failing.err = nil
	at := mem.FleetZone(1).At(edge.PhaseFirewallCustom)
	if seen := f.sweep(1, custom.Every, at); seen.Err != nil {
		t.Errorf("it saw %+v", seen)
	}
}

// rootID is the account's own entry point of the custom phase, listsID a ruleset that it may
// execute.
const (
	rootID  edge.RulesetID = "a0070000000000000000000000000001"
	listsID edge.RulesetID = "a0070000000000000000000000000002"
)

// setAccount has an account's custom phase run rules, and a custom ruleset have others.
func (f *fixture) setAccount(root, lists []edge.Rule) {
	f.t.Helper()
	named := func(prefix string, rules []edge.Rule) []edge.Rule {
		for i := range rules {
			rules[i].ID = edge.RuleID(fmt.Sprintf("%s%028d", prefix, i))
		}
		return rules
	}
	must.Do(f.t, f.Platform.SetRuleset(mem.Account, edge.Ruleset{ID: listsID, Name: "lists", Kind: edge.KindCustom, Phase: edge.PhaseFirewallCustom, Rules: named("ab01", slices.Clone(lists))}))
	must.Do(f.t, f.Platform.SetRuleset(mem.Account, edge.Ruleset{ID: rootID, Name: "default", Kind: edge.KindRoot, Phase: edge.PhaseFirewallCustom, Rules: named("ab02", slices.Clone(root))}))
}

// execute is a rule that executes the custom ruleset.
func execute(expression string) edge.Rule {
	return edge.Rule{Action: edge.ActionExecute, Expression: expression, ActionParameters: &edge.ActionParameters{ID: listsID}}
}

var accountCustom = edge.AccountScope(mem.Account).At(edge.PhaseFirewallCustom)

// The account's custom phase is read once for all zones, with what it executes, and again only
// in another version.
func TestAccountIsLookedAtOnce(t *testing.T) {
	f := looking(t, 3, reconcile.Looking{})
	seen := f.sweep(1, 0, accountCustom)
	f.wantCalls(f.calls(), "list", "managed core", "read 1")
	if seen.Err != nil || seen.At.IsZero() || len(seen.Value.Rules) > 0 {
		t.Errorf("without an entry point it saw %+v", seen)
	}
	f.setAccount([]edge.Rule{block, execute("true"), skipAll}, []edge.Rule{block, reconciletest.SkipManaged("ip.src eq 192.0.2.7")})
	f.clock.Advance(time.Hour + 1)
	_, err := f.Read(t.Context(), f.task(declare(1, core("xss")))) // a push
	must.Do(t, err)
	f.recorder.Reset()
	seen = f.sweep(1, 0, accountCustom)
	f.wantCalls(f.calls(), "read 1", "managed "+string(rootID), "managed "+string(listsID))
	if want := []string{"executed ip.src eq 192.0.2.7", "true"}; !slices.Equal(skips(seen), want) || len(seen.Value.Rules) != 2 {
		t.Errorf("it saw %+v", seen)
	}
	f.sweep(2, 0, accountCustom)
	f.wantCalls(f.calls(), "read 2")
	f.clock.Advance(time.Hour + 1)
	again := f.sweep(3, 0, accountCustom)
	f.wantCalls(f.calls(), "list", "read 3")
	if &again.Value.Rules[0] != &seen.Value.Rules[0] || !again.At.After(seen.At) {
		t.Error("it is not the same value where no version differs")
	}
	f.setAccount([]edge.Rule{execute("true")}, []edge.Rule{block})
	f.clock.Advance(time.Hour + 1)
	seen = f.sweep(1, 0, accountCustom)
	f.wantCalls(f.calls(), "list", "read 1", "managed "+string(rootID), "managed "+string(listsID))
	if len(seen.Value.Rules)+len(seen.Executed) > 0 || seen.Err != nil {
		t.Errorf("it keeps what does not matter: %+v", seen)
	}
}

// What of the account cannot be read is said, and what was seen before stays.
func TestAccountThatCannotBeLookedAt(t *testing.T) {
	f := looking(t, 1, reconcile.Looking{})
	failing := map[edge.RulesetID]error{}
	f.Accounts = NewAccounts(failingRulesets{f.recorder, failing}, f.clock.Now)
	f.setAccount([]edge.Rule{execute("true"), skipAll}, []edge.Rule{skipAll})
	failing[rootID] = errDown
	if seen := f.sweep(1, 0, accountCustom); !errors.Is(seen.Err, edge.ErrUnavailable) {
		t.Errorf("it saw %+v", seen)
	}
	f.sweep(1, 0, accountCustom)
	f.wantCalls(f.calls(), "read 1") // not for each zone
	f.clock.Advance(retry.Account.First)
	failing[rootID], failing[listsID] = nil, errForbidden
	seen := f.sweep(1, 0, accountCustom)
	if seen.Err != nil || !errors.Is(seen.Executed[listsID].Err, edge.ErrForbidden) || !slices.Equal(skips(seen), []string{"true"}) {
		t.Errorf("it saw %+v", seen)
	}
	failing[listsID] = nil
	f.clock.Advance(time.Hour + 1)
	if seen = f.sweep(1, 0, accountCustom); !slices.Equal(skips(seen), []string{"executed true", "true"}) || seen.Since != nil {
		t.Errorf("it saw %+v", seen)
	}
	for _, broken := range []edge.RulesetID{rootID, listsID} {
		f.setAccount([]edge.Rule{execute("true"), skipAll}, []edge.Rule{skipAll}) // another version
		failing[broken] = errDown
		f.clock.Advance(time.Hour + 1)
		seen = f.sweep(1, 0, accountCustom)
		if seen.Err != nil || !errors.Is(seen.Since, edge.ErrUnavailable) || !slices.Equal(skips(seen), []string{"executed true", "true"}) {
			t.Errorf("without %s it saw %+v", broken, seen)
		}
		failing[broken] = nil
		f.clock.Advance(time.Hour + 1)
		if seen = f.sweep(1, 0, accountCustom); seen.Since != nil || len(skips(seen)) != 2 {
			t.Errorf("it saw %+v", seen)
		}
	}
}

// failingRulesets fails reads of single rulesets.
type failingRulesets struct {
	edge.Reader
	failing map[edge.RulesetID]error
}

func (f failingRulesets) Ruleset(ctx context.Context, scope edge.Scope, id edge.RulesetID) (edge.Ruleset, error) {
	if err := f.failing[id]; err != nil {
		return edge.Ruleset{}, err
	}
	return f.Reader.Ruleset(ctx, scope, id)
}

// Where an account may not be listed, that is why it is not looked at, and nothing is asked.
func TestAccountThatMayNotBeListed(t *testing.T) {
	platform, err := mem.New(mem.Config{Seed: mem.Fleet(2), Profile: mem.Extended})
	must.Do(t, err)
	recorder := reconciletest.Record(platform)
	accounts := NewAccounts(&zonesOnly{Reader: recorder}, time.Now)
	account := stateOf(declare(2, core("xss"))).Accounts[0]
	_, _, err = accounts.Live(t.Context(), account, time.Now())
	must.Do(t, err)
	n := len(recorder.Calls())
	asked, err := accounts.Look(t.Context(), account.ID)
	seen := accounts.Ahead(account.ID)
	if err != nil || asked != 0 || len(recorder.Calls()) != n || !errors.Is(seen.Err, edge.ErrForbidden) {
		t.Errorf("asked %d, error %v: %+v", asked, err, seen)
	}
}

// Many zones are looked at once each, and so is their account; without phases only that is.
func TestManyLook(t *testing.T) {
	f := newFixture(t, 3)
	f.setAccount([]edge.Rule{skipAll}, nil)
	f.Put(mem.FleetZone(2), edge.PhaseFirewallCustom, skipAll)
	many, state := f.many(), stateOf(declareAll(3, core("xss"))...)
	read := func(want ...string) All {
		t.Helper()
		f.recorder.Reset()
		all, err := many.Read(t.Context(), state)
		must.Do(t, err)
		f.wantCalls(f.calls(), want...)
		if n := len(want) - 5; all.Looked != n {
			t.Errorf("%d of %d requests are counted as looks", all.Looked, n)
		}
		return all
	}
	if all := read("list", "managed core", "read 1", "read 2", "read 3"); len(all.Live.Ahead) > 0 {
		t.Errorf("who does not look sees %+v", all.Live.Ahead)
	}
	many.Looking = &reconcile.Looking{}
	all := read("list", "managed core", "read 1", "read 2", "read 3", "managed "+string(rootID))
	wantNotLooked(t, all.Live.NotLookedAt(state), "zone http_request_firewall_custom 3 off: bypass.phases is not set")
	many.Looking = &custom
	all = read("list", "managed core", "read 1", "look 1", "read 2", "look 2", "read 3", "look 3", "managed "+string(rootID))
	wantNotLooked(t, all.Live.NotLookedAt(state))
	sight := all.sightOf(mem.Account, state.Accounts[0].Zones[1], nil)
	if len(skips(sight.Ahead[accountCustom])) != 1 || len(skips(sight.Ahead[mem.FleetZone(2).At(edge.PhaseFirewallCustom)])) != 1 || len(sight.Ahead) != 2 {
		t.Errorf("zone 2 has %+v", sight.Ahead)
	}
	both := reconcile.Looking{Phases: []edge.Phase{edge.PhaseFirewallCustom, edge.PhaseRateLimit}}
	many.Looking = &both
	read("list", "managed core", "read 1", "look 1", "look 1", "read 2", "look 2", "look 2", "read 3", "look 3", "look 3", "managed "+string(rootID))
	f.failLooks(&edge.Error{Status: 403, Call: "GET /x", Details: []edge.ErrorDetail{{Message: "no"}}})
	many.Looking = &custom
	all, err := many.Read(t.Context(), state)
	must.Do(t, err)
	wantNotLooked(t, all.Live.NotLookedAt(state), "zone http_request_firewall_custom 3 403 Forbidden: no")
	if len(all.Live.Existing()) != 3 {
		t.Error("a zone counts as not read")
	}
}

func wantNotLooked(t *testing.T, list []diff.NotLookedAt, want ...string) {
	t.Helper()
	var got []string
	for _, n := range list {
		got = append(got, fmt.Sprint(n.Level, " ", n.Phase, " ", n.Zones, " ", n.Reason))
	}
	if !slices.Equal(got, want) {
		t.Errorf("not looked at: %s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// An account's own deployments have no phase of a zone before them.
func TestAccountLevelIsNotLookedAtAsAZone(t *testing.T) {
	z := desired.Zone{Scope: edge.AccountScope(mem.Account), Deployments: []desired.Deployment{core("xss")}}
	if got := custom.At(z); got != nil {
		t.Errorf("it is looked at in %v", got)
	}
}
