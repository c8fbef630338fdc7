package zone

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/retry"
)

// The account is listed once for all zones while that is young enough, and a managed
// ruleset is read once for each version.
func TestManagedRulesetIsReadOncePerVersion(t *testing.T) {
	f := newFixture(t, 2)
	versions := map[string]bool{} // that zones saw
	read := func(want ...string) {
		t.Helper()
		f.recorder.Reset()
		for i := range 2 {
			task := f.task(declare(i+1, core("xss")))
			task.ListedSince = f.clock.Now().Add(-time.Hour)
			sight, _ := f.plan(t.Context(), task)
			versions[sight.Account.Managed[mem.CoreRuleset].Value.Version] = true
		}
		f.wantCalls(f.calls(), want...)
	}
	read("list", "managed core", "read 1", "read 2")
	read("read 1", "read 2")
	f.release()
	read("read 1", "read 2")
	f.clock.Advance(time.Hour + 1)
	read("list", "managed core", "read 1", "read 2")
	f.clock.Advance(time.Hour + 1)
	read("list", "read 1", "read 2")
	if len(versions) != 2 || versions[""] {
		t.Errorf("zones saw %v of a managed ruleset that has two versions", versions)
	}
}

// A plan that changes something goes by a list that is at most a minute old.
func TestListIsReadAgainForAChange(t *testing.T) {
	f := newFixture(t, 1)
	task := f.task(declare(1, core("xss")))
	task.ListedSince = f.clock.Now().Add(-time.Hour)
	s, plan := f.plan(t.Context(), task)
	refresh := func(want bool, calls ...string) {
		t.Helper()
		f.recorder.Reset()
		if again, err := f.Refresh(t.Context(), task, &s, plan); again != want || err != nil {
			t.Errorf("again %v, error %v", again, err)
		}
		f.wantCalls(f.calls(), calls...)
	}
	refresh(false)
	f.clock.Advance(freshFor)
	refresh(false)
	f.clock.Advance(1)
	refresh(true, "list")
	refresh(false)
	f.clock.Advance(time.Hour)
	nothing := diff.Plan{}
	if again, err := f.Refresh(t.Context(), task, &s, nothing); again || err != nil {
		t.Errorf("listed again for a plan that changes nothing: %v, %v", again, err)
	}
}

// A list that fails counts for all zones of the account for a while, which is longer
// after each failure in a row.
func TestFailedListIsNotAskedForEachZone(t *testing.T) {
	f := newFixture(t, 2)
	f.tamper.List = func(edge.AccountID) error { return errDown }
	asked := func(want bool) {
		t.Helper()
		f.recorder.Reset()
		s, err := f.Read(t.Context(), f.task(declare(1, core("xss"))))
		if err != nil || !errors.Is(s.Err(), edge.ErrUnavailable) {
			t.Errorf("error %v, seen %v", err, s.Err())
		}
		if got := len(f.calls()) == 1; got != want {
			t.Errorf("calls %v", f.calls())
		}
	}
	pause := retry.Account.First
	for range 3 {
		asked(true)
		f.clock.Advance(pause - 1)
		asked(false)
		f.clock.Advance(1)
		pause *= 2
	}
	for range 20 {
		f.clock.Advance(retry.Away) // the platform does not answer
		asked(true)
	}
	f.clock.Advance(1)
	asked(false)
	f.Accounts.Hurry() // someone has asked
	asked(true)
	f.clock.Advance(retry.Account.First)
	f.tamper.List = nil
	f.clock.Advance(retry.Account.Most)
	f.converge(declare(1, core("xss")))
	f.tamper.List = func(edge.AccountID) error { return errDown }
	f.clock.Advance(1)
	asked(true)
	f.clock.Advance(retry.Account.First)
	asked(true) // counted from the beginning
}

// A zone does not wait for long while another one reads the account, and one that is
// told to stop does not wait at all.
func TestAccountThatIsBeingRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, 2)
		answer := make(chan struct{})
		f.tamper.List = func(edge.AccountID) error { <-answer; return nil }
		first := make(chan error)
		go func() {
			_, err := f.Read(t.Context(), f.task(declare(1, core("xss"))))
			first <- err
		}()
		synctest.Wait()
		begin := time.Now()
		if _, err := f.Read(t.Context(), f.task(declare(2, core("xss")))); !errors.Is(err, ErrBusy) || time.Since(begin) != busyAfter {
			t.Errorf("error %v after %v", err, time.Since(begin))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		begin = time.Now()
		if _, err := f.Read(ctx, f.task(declare(2, core("xss")))); !errors.Is(err, context.Canceled) || time.Since(begin) != 0 {
			t.Errorf("error %v after %v", err, time.Since(begin))
		}
		close(answer)
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

// A read that was told to stop is no failure of the account.
func TestStoppedListIsNoFailure(t *testing.T) {
	f := newFixture(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	f.tamper.List = func(edge.AccountID) error { cancel(); return context.Canceled }
	if _, err := f.Read(ctx, f.task(declare(1, core("xss")))); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	f.tamper.List = nil
	f.converge(declare(1, core("xss")))
}

// Last answers without a request, and only where all is known that the zones deploy.
func TestLast(t *testing.T) {
	f := newFixture(t, 1)
	account := stateOf(declare(1, core("xss"))).Accounts[0]
	if _, ok := f.Accounts.Last(account); ok {
		t.Error("it knows what was never read")
	}
	f.plan(t.Context(), f.task(account.Zones[0]))
	f.recorder.Reset()
	live, ok := f.Accounts.Last(account)
	if !ok || live.Managed[mem.CoreRuleset].Value.ID != mem.CoreRuleset || len(live.Listed.Value) == 0 {
		t.Errorf("known %v: %+v", ok, live)
	}
	credentials := core("exposed-credentials")
	credentials.Ruleset = "credentials"
	account.Zones = []desired.Zone{declare(1, core("xss"), credentials)}
	if _, ok := f.Accounts.Last(account); ok {
		t.Error("a ruleset is missing, and passes for known")
	}
	f.wantCalls(f.calls())
}

// Accounts that are not declared any more are forgotten, and so are managed rulesets
// that an account has no more.
func TestAccountsKeepNothingForEver(t *testing.T) {
	f := newFixture(t, 1)
	z := declare(1, core("xss"))
	f.plan(t.Context(), f.task(z))
	f.Accounts.Keep(desired.State{Accounts: []desired.Account{{ID: mem.Account}}})
	if _, ok := f.Accounts.Last(stateOf(z).Accounts[0]); !ok {
		t.Error("an account that is declared is forgotten")
	}
	task := f.task(z)
	f.tamper.Lists = func([]edge.Ruleset) []edge.Ruleset { return nil }
	f.clock.Advance(1)
	f.plan(t.Context(), task)
	if n := len(f.Accounts.of(mem.Account).managed); n != 0 {
		t.Errorf("%d managed rulesets are kept that the account has no more", n)
	}
	f.Accounts.Keep(desired.State{})
	if _, ok := f.Accounts.Last(stateOf(z).Accounts[0]); ok {
		t.Error("an account that is not declared is kept")
	}
}

// What is not known to the platform is a problem of the zone, not of the account.
func TestRulesetThatIsNotThere(t *testing.T) {
	f := newFixture(t, 1)
	task := f.task(declare(1, core("xss")))
	task.State.Accounts[0].Rulesets = []desired.RulesetRef{{Key: "core", Name: "Core Rulesets"}}
	_, plan := f.plan(t.Context(), task)
	f.wantCalls(f.calls(), "list", "read 1")
	if p := plan.Problems; len(p) != 1 || p[0].State != diff.Blocked {
		t.Errorf("problems %+v", p)
	}
}
