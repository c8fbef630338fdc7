package lease

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile"
)

// TestTakingOver: a lease whose holder stands still is taken 2 seconds after its end, and no sooner;
// the holder does not use it in its last second.
func TestTakingOver(t *testing.T) {
	t.Parallel()
	eachWay(t, func(f *fixture) {
		one, two := f.replica("one", "a", "b"), f.replica("two", "a", "b")
		f.turns(one)
		lease, ok := one.Held("a")
		if !ok || lease.Epoch != 1 || one.Left(lease) != lasts-margin {
			f.Fatalf("%+v %v, %v left", lease, ok, one.Left(lease))
		}
		f.pass(lasts - margin - 1)
		if len(one.has()) != 2 || one.Left(lease) != 1 {
			f.Fatal("it is not used until its last second")
		}
		f.pass(1)
		if len(one.has()) != 0 || one.Left(lease) != 0 {
			f.Fatal("it is used in its last second")
		}
		f.pass(margin + rest - time.Microsecond)
		f.turns(two)
		if got := two.has(); len(got) != 0 {
			f.Fatalf("%v were taken too soon", got)
		}
		f.pass(time.Microsecond)
		f.turns(two)
		if lease, ok := two.Held("a"); !ok || lease.Epoch != 2 || len(two.has()) != 2 {
			f.Fatalf("%+v %v", lease, ok)
		}
		f.turns(one)
		if len(one.has()) != 0 || one.Left(lease) != 0 {
			f.Fatal("two have it")
		}
	})
}

// TestHandOver: what a process gives up in good order is another's at once, under a higher epoch.
func TestHandOver(t *testing.T) {
	t.Parallel()
	f := newFixture(t, clocked(t))
	one, two, three := f.replica("one", "a", "b", "c"), f.replica("two", "a", "b", "c"), f.replica("three", "a", "b", "c")
	f.turns(one)
	work, end, ok := one.Begin("a")
	if !ok {
		t.Fatal("it is not held")
	}
	changed := one.Changed()
	f.left(one)
	select {
	case <-changed:
	default:
		t.Error("that leases are ending is not told")
	}
	if len(one.has()) != 0 || one.Left(work) == 0 {
		t.Fatal("what has begun does not go on, or more may begin")
	}
	if _, _, ok := one.Begin("a"); ok {
		t.Fatal("more has begun")
	}
	f.turns(two, three)
	if got := append(two.has(), three.has()...); !slices.Equal(got, []reconcile.LeaseName{"b", "c"}) {
		t.Fatalf("%v were taken", got)
	}
	for range 4 { // it is renewed meanwhile
		f.pass(renewEvery)
		f.left(one)
		f.turns(two, three)
		if left := one.Left(work); left != lasts-margin {
			t.Fatalf("%v left", left)
		}
	}
	one.Cut(work)
	end()
	end()
	f.left(one)
	f.turns(two, three)
	if len(one.all()) == 0 {
		t.Fatal("a request was cut, and it is given up at once")
	}
	f.pass(rest + margin)
	f.left(one)
	f.turns(three)
	if one.Left(work) != 0 {
		t.Fatal("what was given up lasts on")
	}
	if lease, ok := three.Held("a"); !ok || lease.Epoch != 2 {
		t.Fatalf("%+v %v", lease, ok)
	}
	if look, err := LookAt(t.Context(), f.db); err != nil || len(look.Replicas) != 2 || !look.Replicas[0].Live {
		t.Errorf("%+v %v", look.Replicas, err)
	}
}

// TestHandOverOfWorkThatIsAnswered: what has begun long ago keeps no lease back where each of its requests
// had its answer, however often the lease was renewed.
func TestHandOverOfWorkThatIsAnswered(t *testing.T) {
	t.Parallel()
	f := newFixture(t, clocked(t))
	one, two := f.replica("one", "a"), f.replica("two", "a")
	f.turns(one)
	work, end, _ := one.Begin("a")
	for range 5 {
		one.Left(work) // a request
		f.pass(renewEvery)
		f.turns(one, two)
	}
	f.left(one)
	end()
	f.left(one)
	f.turns(two)
	if lease, ok := two.Held("a"); !ok || lease.Epoch != 2 {
		t.Fatalf("%+v %v", lease, ok)
	}
}

// TestWorkThatDoesNotEnd: a lease that is ending is renewed for half a minute, and then runs out.
func TestWorkThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t, clocked(t))
	one, two := f.replica("one", "a"), f.replica("two", "a")
	f.turns(one)
	work, end, _ := one.Begin("a")
	defer end()
	f.left(one)
	for passed := time.Duration(0); passed <= endWithin; passed += time.Second {
		if one.Left(work) == 0 {
			t.Fatalf("it has run out after %v", passed)
		}
		f.pass(time.Second)
		f.left(one)
		f.turns(two)
	}
	for range (lasts + rest + time.Second) / time.Second {
		f.pass(time.Second)
		f.left(one)
		f.turns(two)
		one.tell()
	}
	if one.Left(work) != 0 || len(one.all()) != 0 || len(two.has()) != 1 {
		t.Fatal("it has not run out")
	}
}

// TestSpread: leases move one at a time until they are spread evenly, and then no more.
func TestSpread(t *testing.T) {
	t.Parallel()
	f := newFixture(t, clocked(t))
	names := []reconcile.LeaseName{reconcile.LeaseCommits, reconcile.LeaseTokens}
	for i := range 6 {
		names = append(names, reconcile.LeaseName(fmt.Sprintf("credential %d", i)))
	}
	all := []*replica{f.replica("one", names...), f.replica("two", names...), f.replica("three", names...)}
	f.turns(all[0])
	if got := all[0].has(); len(got) != len(names) {
		t.Fatalf("%v", got)
	}
	for range 20 {
		f.turns(all...)
		moving := 0
		for _, r := range f.rows() {
			if r.MovesTo != "" {
				moving++
			}
		}
		if moving > 1 {
			t.Fatalf("%d move at once", moving)
		}
		f.pass(time.Second)
	}
	moves := int64(0)
	for _, r := range f.rows() {
		moves += r.Epoch - 1
	}
	for _, r := range all {
		if n := len(r.has()); n < 2 || n > 3 {
			t.Errorf("%s has %d of 8", r.Replica, n)
		}
	}
	if moves != 5 {
		t.Errorf("%d moves, want 5", moves)
	}
	f.left(all[1])
	f.turns(all[2], all[0])
	if a, b := len(all[0].has()), len(all[2].has()); a != 4 || b != 4 {
		t.Errorf("after one has left the others have %d and %d", a, b)
	}
}

// TestOneGetsIt: of many that take a lease at once, one gets it.
func TestOneGetsIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t, clocked(t))
	exec(t, f.db, makeLease, "a")
	for round := range int64(10) {
		var got atomic.Int64
		var wait sync.WaitGroup
		for range 6 {
			wait.Go(func() {
				for _, epoch := range take(f, f.db, "a", "one") {
					if epoch != round+1 {
						t.Errorf("the epoch %d in round %d", epoch, round)
					}
					got.Add(1)
				}
			})
		}
		wait.Wait()
		if got.Load() != 1 {
			t.Fatalf("%d got it", got.Load())
		}
		exec(t, f.db, giveUpLease, "a", "one", round+1)
	}
}

// TestAWriteUnderWay: a lease is not taken while its last holder puts something on record, and is not
// waited for; renewing waits for nothing.
func TestAWriteUnderWay(t *testing.T) {
	t.Parallel()
	f := newFixture(t, clocked(t))
	one, two := f.replica("one", "a"), f.replica("two", "a")
	f.turns(one)
	tx, err := f.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var epoch int64
	if err := tx.QueryRowContext(t.Context(), `SELECT epoch FROM lease WHERE name = 'a' FOR KEY SHARE`).Scan(&epoch); err != nil {
		t.Fatal(err)
	}
	f.pass(renewEvery)
	f.turns(one)
	f.pass(lasts + rest)
	f.turns(two)
	if len(two.has()) != 0 {
		t.Fatal("it was taken under a write")
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	f.turns(two)
	if len(two.has()) != 1 {
		t.Fatal("it is not taken")
	}
}

// TestACommand: it gets a lease at once or is told who has it, and gives it back.
func TestACommand(t *testing.T) {
	t.Parallel()
	f := newFixture(t, clocked(t))
	held, release, err := Take(t.Context(), f.config("a command"), reconcile.LeaseTokens)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := held.Held(reconcile.LeaseTokens)
	daemon := f.replica("daemon", reconcile.LeaseTokens, "a")
	daemon.run()
	f.await("the daemon has the rest", func() bool { return len(daemon.has()) == 1 })
	for range 10 { // it is renewed
		f.pass(2 * time.Second)
		f.await("it is renewed", func() bool { held.LookNow(); return held.Left(first) > lasts/2 })
	}
	_, _, err = Take(t.Context(), f.config("another"), reconcile.LeaseTokens)
	var is *HeldError
	if !errors.As(err, &is) || !strings.HasPrefix(err.Error(), `a command has had the lease "tokens" since 2026-01-02T03:04:05Z`) {
		t.Errorf("%v", err)
	}
	release()
	f.await("the daemon has it", func() bool { return len(daemon.has()) == 2 })
	if lease, _ := daemon.Held(reconcile.LeaseTokens); lease.Epoch != first.Epoch+1 {
		t.Errorf("%+v after %+v", lease, first)
	}
}

// TestRun: three run, one ends, and one is cut off.
func TestRun(t *testing.T) {
	t.Parallel()
	eachWay(t, func(f *fixture) {
		names := []reconcile.LeaseName{"a", "b", "c", "d", "e", "f"}
		one, two, three := f.replica("one", names...), f.replica("two", names...), f.replica("three", names...)
		one.DB = open(f, f.url)
		one.run()
		stop := two.run()
		three.run()
		counts := func() [3]int { return [3]int{len(one.has()), len(two.has()), len(three.has())} }
		f.awaitLooking("they are spread", func() bool { return counts() == [3]int{2, 2, 2} })
		stop()
		f.awaitLooking("two have what one had", func() bool { return counts() == [3]int{3, 0, 3} })
		one.DB.Close() // as if it were killed
		for _, name := range one.has() {
			lease, _ := one.Held(name)
			_, end, _ := one.Begin(name)
			defer end()
			f.awaitLooking("it runs out", func() bool { f.pass(time.Second / 2); three.await(); return one.Left(lease) == 0 })
		}
		f.awaitLooking("one has all", func() bool { f.pass(time.Second / 2); three.await(); return counts() == [3]int{0, 0, 6} })
	})
}

// await waits until what is held was renewed.
func (r *replica) await() {
	r.f.await("renewed", func() bool {
		r.LookNow()
		return !slices.ContainsFunc(r.has(), func(name reconcile.LeaseName) bool {
			lease, _ := r.Held(name)
			return r.Left(lease) < lasts/2
		})
	})
}

// TestTheDatabaseIsAway: leases run out, that is told, and all comes back alone.
func TestTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	f := fixtureOn(t, server)
	one := f.replica("one", "a", "b")
	one.within = time.Second / 2
	stop := one.run()
	both := func() bool { // also told: it is only told once that it has others than it was told before
		one.mu.Lock()
		defer one.mu.Unlock()
		return len(one.told) == 2
	}
	f.awaitLooking("it has them", both)
	for name, away := range map[string]func() func(){
		"stands still": func() func() { return server.Pause(t) },
		"has stopped":  func() func() { server.Stop(t); return func() { server.Restart(t) } },
	} {
		t.Run(name, func(t *testing.T) {
			back, changed := away(), one.Changed()
			f.passed.Add(int64(lasts - margin)) // to what is left, and a second
			one.LookNow()
			<-changed
			if got := one.has(); len(got) != 0 {
				t.Errorf("%v are held", got)
			}
			back()
			f.passThere(lasts + rest)
			f.passed.Add(int64(margin + rest))
			f.awaitLooking("it has them again", both)
		})
	}
	for range 10 {
		server.Cut(t)
		time.Sleep(10 * time.Millisecond)
	}
	f.awaitLooking("it has them in spite of cut connections", both)
	server.Stop(t)
	f.passed.Add(int64(lasts))
	stop() // what has run out need not be given up
}

// TestTheClock: it runs.
func TestTheClock(t *testing.T) {
	before := sinceBoot()
	time.Sleep(time.Millisecond)
	if passed := sinceBoot() - before; passed < time.Millisecond {
		t.Errorf("%v in a millisecond", passed)
	}
}

var _ reconcile.Leases = (*Holder)(nil)

// A server that is set to lose what it has just kept does not lose who has a lease.
func TestTakingIsDurable(t *testing.T) {
	t.Parallel()
	f := newFixture(t, clocked(t))
	db := open(t, f.url+"&synchronous_commit=off")
	exec(f, db, makeLease, "a")
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var epoch int
	if err := tx.QueryRow(takeLease, "a", 0, "r", 60).Scan(&epoch); err != nil {
		t.Fatal(err)
	}
	var ends string
	if err := tx.QueryRow(`SHOW synchronous_commit`).Scan(&ends); err != nil || ends != "on" {
		t.Errorf("synchronous_commit is %s; %v", ends, err)
	}
}

// TestListed: the log has the leases in one order, and as text.
func TestListed(t *testing.T) {
	held := map[reconcile.LeaseName]int64{"tokens": 2, "credential b": 5, "commits": 31}
	if got := listed(held); got != "commits (epoch 31), credential b (epoch 5), tokens (epoch 2)" {
		t.Error(got)
	}
	if got := listed(nil); got != "none" {
		t.Error(got)
	}
}

// TestClockSetForward: that the clock of the database was set forward is told, once for each time.
func TestClockSetForward(t *testing.T) {
	t.Parallel()
	f := newFixture(t, clocked(t))
	var log strings.Builder
	one := f.replica("one", "a")
	one.Log = slog.New(slog.NewTextHandler(&log, nil))
	told := func() int { return strings.Count(log.String(), "was set forward") }
	f.turns(one)
	for range 3 {
		f.pass(time.Hour)
		f.turns(one)
	}
	f.passThere(-time.Minute) // set back: all lasts longer
	f.turns(one)
	if told() != 0 {
		t.Error(log.String())
	}
	f.passThere(time.Minute)
	for range 3 {
		f.pass(time.Second)
		f.turns(one)
	}
	if forward := one.latest.Forward; told() != 1 || !strings.Contains(log.String(), "by=1m0s") || forward.Round(time.Second) != time.Minute {
		t.Errorf("set forward by %s\n%s", forward, &log)
	}
}
