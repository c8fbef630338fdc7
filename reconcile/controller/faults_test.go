package controller

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
)

// What goes wrong in one place costs the others nothing.

// number is the number of the zone that a call is about, 0 where it is about none.
func number(c call) int {
	if c.verb != "read" && c.verb != "write" {
		return 0
	}
	n, _ := strconv.Atoi(c.who)
	return n
}

// failing makes the calls about zones fail.
func failing(err error, zones ...int) func(context.Context, call) error {
	return func(_ context.Context, c call) error {
		for _, i := range zones {
			if number(c) == i {
				return err
			}
		}
		return nil
	}
}

func TestASilentGitServerDelaysNoHealing(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 30
		f := newFixture(t, n)
		f.Sweep, f.Interval = cron.Every(20*time.Second), 20*time.Second
		f.repo.Push("c1", fleet(n, "xss")...)
		f.start()
		f.repo.FetchBy(func(ctx context.Context) error {
			select {
			case <-time.After(5 * time.Minute):
				return errors.New("no answer")
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		f.source.Poke()
		f.pass(time.Second)
		f.drift(n)
		f.pass(30 * time.Second) // an interval and a half
		f.want(n, "xss")
		f.repo.FetchBy(nil)
		f.push("c2", fleet(n, "rce")...)
		f.pass(10 * time.Minute)
		f.want(n, "rce")
	})
}

// A process that is told to stop does not wait for a server that is silent.
func TestStoppingWhileGitIsSilent(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 1)
		f.repo.Push("c1", fleet(1, "xss")...)
		f.repo.FetchBy(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		f.start()
		began := time.Now()
		f.stop()
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// A commit for 90 zones that is reverted while 17 are done: what was in flight is
// finished, and nothing else of it is sent.
func TestARevertStopsWhatWasNotSent(t *testing.T) {
	run(t, func(t *testing.T) {
		const n, concurrency = 90, 8
		f := newFixture(t, n)
		f.Lanes.All[0].Concurrency = concurrency
		f.calls.latency = 100 * time.Millisecond
		f.repo.Push("good", fleet(n, "xss")...)
		f.start()
		f.pass(time.Minute)
		f.want(n, "xss")
		f.calls.take()
		f.repo.Push("bad", fleet(n, "rce")...)
		f.source.Poke()
		for f.count(n, "rce") < 17 {
			time.Sleep(10 * time.Millisecond)
		}
		f.repo.Push("good again", fleet(n, "xss")...)
		f.source.Poke()
		for {
			if state, _ := f.InForce(); state.Commit == "good again" {
				break
			}
			time.Sleep(time.Millisecond)
		}
		reverted := time.Now()
		f.pass(time.Minute)
		f.want(n, "xss")
		late, bad := 0, 0
		for _, c := range only(f.calls.take(), "write") {
			if c.off == "rce" {
				bad++
				if c.at.After(reverted) {
					late++
				}
			}
		}
		if late > concurrency || bad < 17 || bad > 17+2*concurrency {
			t.Errorf("%d writes of the bad value, %d of them after the revert", bad, late)
		}
	})
}

// The zones that a bad commit has reached are mended at once, however much else there
// is to do: they are as urgent as a push of as many.
func TestARevertIsUrgent(t *testing.T) {
	run(t, func(t *testing.T) {
		const n, done = 400, 15
		f := newFixture(t, n)
		f.Lanes.All[0].Concurrency = 8
		f.repo.Push("good", fleet(n, "xss")...)
		f.start()
		f.pass(time.Minute)
		f.want(n, "xss")
		// From now on only what is urgent gets anything of the budget.
		f.calls.latency = 100 * time.Millisecond
		f.repo.Push("bad", fleet(n, "rce")...)
		f.source.Poke()
		for f.count(n, "rce") < done {
			time.Sleep(10 * time.Millisecond)
		}
		f.room.Store(0)
		f.repo.Push("good again", fleet(n, "xss")...)
		f.source.Poke()
		f.pass(10 * time.Second)
		f.want(n, "xss")
	})
}

// A zone that never answers has at most a quarter of the workers, and another zone's
// push is live at once.
func TestSlowZonesKeepToTheirShare(t *testing.T) {
	for name, answer := range map[string]func(context.Context) error{
		"never": hang,
		"after a while": func(context.Context) error {
			time.Sleep(8 * time.Second)
			return nil
		},
	} {
		runNamed(t, name, func(t *testing.T) {
			const n, slow, concurrency = 60, 40, 8
			f := newFixture(t, n)
			f.Lanes.All[0].Concurrency = concurrency
			f.Sweep, f.Interval = cron.Every(time.Minute), time.Minute
			f.repo.Push("c1", fleet(n, "xss")...)
			f.start()
			var mu sync.Mutex
			waiting, most := 0, 0
			f.calls.set(func(ctx context.Context, c call) error {
				if i := number(c); i == 0 || i > slow {
					return nil
				}
				mu.Lock()
				waiting++
				most = max(most, waiting)
				mu.Unlock()
				defer func() {
					mu.Lock()
					defer mu.Unlock()
					waiting--
				}()
				return answer(ctx)
			})
			f.pass(15 * time.Minute) // all of them are known to be slow
			mu.Lock()
			most = 0
			mu.Unlock()
			f.drift(n)
			f.pass(90 * time.Second)
			for i := slow + 1; i <= n; i++ {
				if f.off(i) != "xss" {
					t.Errorf("zone %d is not healed within one and a half intervals", i)
				}
			}
			f.repo.Push("c2", but(fleet(n, "xss"), n, "rce")...)
			f.source.Poke()
			f.pass(time.Second)
			if got := f.off(n); got != "rce" {
				t.Errorf("the push is not live after a second: %q", got)
			}
			f.pass(10 * time.Minute)
			mu.Lock()
			defer mu.Unlock()
			if most > concurrency/4 {
				t.Errorf("slow zones had %d of %d workers", most, concurrency)
			}
		})
	}
}

// A zone that the credential may not touch is that zone's matter alone.
func TestAForbiddenZone(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 20
		f := newFixture(t, n)
		f.calls.set(failing(errForbidden, 3))
		f.repo.Push("c1", fleet(n, "xss")...)
		f.start()
		if got := f.count(n, "xss"); got != n-1 {
			t.Errorf("%d zones are as declared", got)
		}
		f.push("c2", fleet(n, "rce")...)
		if got := f.count(n, "rce"); got != n-1 {
			t.Errorf("%d zones are as declared", got)
		}
		if errs := failures(f.journal.take()); len(errs) > 0 {
			t.Errorf("errors %v", errs)
		}
		f.calls.take()
		f.pass(interval)
		if asked := 0; true {
			for _, c := range f.calls.take() {
				if number(c) == 3 {
					asked++
				}
			}
			if asked < 1 || asked > 30 {
				t.Errorf("asked %d times in an interval", asked)
			}
		}
		f.calls.set(nil)
		f.pass(interval)
		f.want(n, "rce")
	})
}

// A credential that is not taken is told of once, costs few requests, and is found to
// work again without anybody's help.
func TestARejectedCredential(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 100
		f := running(t, n)
		f.calls.set(func(context.Context, call) error { return errUnauthenticated })
		f.journal.take()
		f.calls.take()
		f.push("c2", fleet(n, "rce")...)
		f.pass(time.Hour)
		if got := len(f.calls.take()); got > 120 {
			t.Errorf("%d requests in an hour", got)
		}
		if errs := failures(f.journal.take()); len(errs) != 1 || !errors.Is(errs[0], edge.ErrUnauthenticated) {
			t.Errorf("told of %d: %v", len(errs), errs)
		}
		f.calls.set(nil)
		f.pass(6 * time.Minute)
		f.want(n, "rce")
	})
}

// A platform that is down is not asked for each zone of a fleet, and once it is back
// nothing stays undone.
func TestAPlatformThatIsDown(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 300
		f := running(t, n)
		f.calls.set(func(context.Context, call) error { return errDown })
		f.calls.take()
		f.push("c2", fleet(n, "rce")...)
		f.pass(time.Hour)
		if got := len(f.calls.take()); got > 450 { // a probe each 10 seconds
			t.Errorf("%d requests in an hour", got)
		}
		f.calls.set(nil)
		f.pass(20 * time.Second)
		f.want(n, "rce")
	})
}

// After an outage of the platform every zone is tried within seconds, in a small fleet and in
// a large one, however long it has lasted and however often each zone has failed.
func TestAPlatformThatIsBack(t *testing.T) {
	longest := map[int]time.Duration{1: time.Hour, 5: 4 * time.Minute, 40: 20 * time.Second} // in a soak, an hour each
	for _, n := range []int{1, 5, 40} {
		for _, lasts := range []time.Duration{20 * time.Second, 4 * time.Minute, time.Hour} {
			if !soak.On && lasts > longest[n] {
				continue
			}
			runNamed(t, fmt.Sprint(n, " zones, ", lasts), func(t *testing.T) {
				f := running(t, n)
				f.drift(n)
				f.calls.set(func(context.Context, call) error { return errDown })
				f.lookNow()
				f.pass(lasts)
				f.calls.set(nil)
				f.pass(25 * time.Second)
				f.want(n, "xss")
			})
		}
	}
}

// A person who asks for a look does not wait for the next probe, nor for the next try of a
// change that was not kept.
func TestALookThatDoesNotWait(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 3
		f := running(t, n)
		f.calls.set(rejectAll)
		f.drift(n)
		f.lookNow()
		f.pass(10 * time.Minute)
		f.calls.take()
		for len(f.calls.take()) == 0 {
			f.pass(100 * time.Millisecond)
		}
		f.calls.set(nil) // just after a probe
		f.lookNow()
		f.want(n, "xss")

		must.Do(t, f.Platform.SetQuirks([]string{"patch=ignored"}))
		f.push("c2", fleet(n, "rce")...)
		f.pass(time.Hour)
		f.want(n, "xss")
		must.Do(t, f.Platform.SetQuirks(nil))
		f.lookNow()
		f.want(n, "rce")
	})
}

// A change that the platform takes and does not keep is told of once, and tried again
// ever more slowly; once it is kept, that is all.
func TestAChangeThatIsNotKept(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 3
		f := running(t, n)
		ignored := func(c call, send func() (*edge.Ruleset, error)) (*edge.Ruleset, error) {
			if c.who != "2" {
				return send()
			}
			entry := f.Entry(2)
			if err := f.Platform.SetEntryPoint(mem.FleetZone(2), entry); err != nil {
				return nil, err
			}
			after := f.Entry(2)
			return &after, nil
		}
		f.calls.answerBy(ignored)
		f.calls.take()
		f.journal.take()
		f.push("c2", fleet(n, "rce")...)
		f.pass(36 * time.Hour)
		var tries []time.Time
		for _, c := range only(f.calls.take(), "write") {
			if c.who == "2" {
				tries = append(tries, c.at)
			}
		}
		told := 0
		for _, r := range f.journal.take() {
			for _, result := range r.Results {
				if !r.Sum && result.Outcome == reconcile.NonConvergent {
					told++
				}
			}
		}
		if told != len(tries) {
			t.Errorf("reported %d times, tried %d times", told, len(tries))
		}
		for i := 1; i < len(tries); i++ {
			want := min(15*time.Minute<<(i-1), 6*time.Hour)
			if gap := tries[i].Sub(tries[i-1]); gap < want || gap > want+time.Minute {
				t.Errorf("try %d comes after %v, want %v", i+1, gap, want)
			}
		}
		if len(tries) < 8 {
			t.Errorf("%d tries in 36 hours", len(tries))
		}
		f.calls.answerBy(nil)
		f.pass(7 * time.Hour)
		f.want(n, "rce")
		f.calls.take()
		f.drift(n)
		f.pass(interval)
		f.want(n, "rce")
	})
}

// Everyone who asks about a change that was not kept learns when it was sent and when it is
// sent again, from the write on and after a restart.
func TestWhenAChangeThatIsNotKeptIsTriedAgain(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 1, "patch=ignored")
		f.repo.Push("c1", fleet(1, "xss")...)
		f.start()
		says := func(words ...string) {
			t.Helper()
			list, _ := f.Zones(zoneKey(1))
			why := strings.Join(list.Zones[0].Why, "\n")
			for _, word := range words {
				if !strings.Contains(why, word) {
					t.Errorf("why says %q, without %q", why, word)
				}
			}
		}
		tries := func() diff.Try {
			for _, try := range f.record().Tries {
				return try
			}
			t.Fatal("no try is on record")
			return diff.Try{}
		}
		first := tries()
		if first.Next.Sub(first.At) != 15*time.Minute {
			t.Errorf("tries %+v", first)
		}
		next := "next try at " + first.Next.UTC().Format(time.RFC3339)
		says("the platform did not keep it", "is still not set", next)
		for _, r := range f.journal.all() {
			for _, result := range r.Results {
				if !r.Sum && !result.Next.Equal(first.Next) {
					t.Errorf("a result says %v, not %v", result.Next, first.Next)
				}
			}
		}
		f.pass(5 * time.Minute)
		f.restart()
		says("accepted this change at "+first.At.UTC().Format(time.RFC3339), next)
		f.calls.take()
		f.pass(time.Until(first.Next) + soon)
		if n := len(only(f.calls.take(), "write")); n != 1 {
			t.Errorf("%d writes at the time of the next try", n)
		}
		if again := tries(); again.Next.Sub(again.At) != 30*time.Minute {
			t.Errorf("tries %+v", again)
		}
	})
}

// What was not kept and must wait for something else by now does not keep a worker
// busy.
func TestAChangeThatIsNotKeptAndHeld(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 1, "patch=ignored")
		f.repo.Push("c1", fleet(1, "xss")...)
		f.start()
		f.records.Hold(diff.Hold{Zone: zoneKey(1), Until: time.Now().Add(3 * time.Hour)})
		f.calls.take()
		f.pass(2 * time.Hour)
		if got := len(f.calls.take()); got > 10 {
			t.Errorf("%d calls while it is held", got)
		}
		must.Do(t, f.Platform.SetQuirks(nil))
		f.pass(2 * time.Hour)
		f.want(1, "xss")
	})
}

// twoAccounts is a fleet of which every other zone is in an account of its own.
const otherAccount edge.AccountID = "fedcba9876543210fedcba9876543210"

func twoAccounts(t *testing.T, n int) *fixture {
	seed := mem.Fleet(n)
	other := seed.Accounts[0]
	other.ID = otherAccount
	seed.Accounts = append(seed.Accounts, other)
	for i := range seed.Zones {
		if i%2 == 1 {
			seed.Zones[i].AccountID = otherAccount
		}
	}
	return fixtureOn(t, mem.Config{Seed: seed})
}

func inTwoAccounts(commit string, n int, tags ...string) desired.State {
	state := stateOf(commit)
	other := state.Accounts[0]
	other.Key, other.ID = "other", otherAccount
	state.Accounts = append(state.Accounts, other)
	for i, z := range fleet(n, tags...) {
		account := &state.Accounts[i%2]
		account.Zones = append(account.Zones, z)
	}
	return state
}

// An account whose rulesets cannot be listed costs the zones of another nothing.
func TestAnAccountThatFails(t *testing.T) {
	for name, err := range map[string]error{"down": errDown, "forbidden": errForbidden, "silent": nil} {
		runNamed(t, name, func(t *testing.T) {
			const n = 100
			f := twoAccounts(t, n)
			f.Sweep, f.Interval = cron.Every(2*time.Minute), 2*time.Minute
			f.Lanes.All[0].Concurrency = 4
			f.repo.Commit("c1", commit{State: inTwoAccounts("c1", n, "xss")})
			f.start()
			f.want(n, "xss")
			f.calls.set(func(ctx context.Context, c call) error {
				if c.verb != "list" || c.who != string(mem.Account) {
					return nil
				}
				if err == nil {
					return hang(ctx)
				}
				return err
			})
			healed := func() (healed, elsewhere int) {
				for i := 1; i <= n; i++ {
					if f.off(i) == "xss" {
						if i%2 == 0 {
							healed++
						} else {
							elsewhere++
						}
					}
				}
				return healed, elsewhere
			}
			f.pass(4 * time.Minute)
			for range 3 {
				f.drift(n)
				f.pass(3 * time.Minute)
				if got, _ := healed(); got != n/2 {
					t.Errorf("%d of %d zones of the other account are healed", got, n/2)
				}
			}
			f.calls.set(nil)
			f.pass(10 * time.Minute)
			f.want(n, "xss")
		})
	}
}

// Records that cannot be written cost nothing that needs none: what is owned and what
// is proved must be on record, so the write waits, and is made once it can be.
func TestRecordsThatFail(t *testing.T) {
	for _, op := range []string{"standing", "widen", "prove", "roll", "approve", "spend", "save", "forget"} {
		runNamed(t, op, func(t *testing.T) {
			const n = 4
			f := running(t, n)
			f.records.FailBy(failsTo(op))
			f.push("c2", fleet(n, "rce")...)
			f.records.FailBy(nil)
			f.pass(30 * time.Minute)
			f.want(n, "rce")
			record := f.record()
			for i := 1; i <= n; i++ {
				if len(f.owned(i)) == 0 || record.Proofs[mem.FleetZone(i)].Commit != "c2" {
					t.Errorf("zone %d: owned %v, proved %+v", i, f.owned(i), record.Proofs[mem.FleetZone(i)])
				}
			}
		})
	}
}

// Zones that wait for their account's rulesets keep no worker from a push elsewhere.
func TestAPushBesideASilentAccount(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 100
		f := twoAccounts(t, n)
		f.Lanes.All[0].Concurrency = 4
		f.repo.Commit("c1", commit{State: inTwoAccounts("c1", n, "xss")})
		f.start()
		f.pass(2 * time.Minute)
		f.calls.set(func(ctx context.Context, c call) error {
			if c.verb == "list" && c.who == string(mem.Account) {
				return hang(ctx)
			}
			return nil
		})
		f.repo.Commit("c2", commit{State: inTwoAccounts("c2", n, "rce")})
		f.source.Poke()
		f.pass(4 * time.Second)
		f.repo.Commit("c3", commit{State: inTwoAccounts("c3", n, "php")})
		f.source.Poke()
		f.pass(3 * time.Second)
		for i := 2; i <= n; i += 2 {
			if got := f.off(i); got != "php" {
				t.Fatalf("%q is off in zone %d of the other account", got, i)
			}
		}
	})
}
