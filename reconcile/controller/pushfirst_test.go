package controller

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/reconcile/queue"
)

// The sweep waits for a push until that is done, a second at the most, and goes on for as long
// before it waits again.
func TestTheSweepWaitsForAPush(t *testing.T) {
	var f pushFirst
	now := time.Now()
	waits := func(after, want time.Duration) {
		t.Helper()
		if got := f.waits(now.Add(after)); got != want {
			t.Errorf("after %s the sweep waits for %s, want %s", after, got, want)
		}
	}
	waits(0, 0)
	f.begin(now)
	f.begin(now.Add(100 * time.Millisecond)) // the same push
	waits(300*time.Millisecond, 700*time.Millisecond)
	if !f.end(now.Add(400*time.Millisecond)) || f.end(now.Add(400*time.Millisecond)) {
		t.Error("the end of a wait is told once")
	}
	waits(400*time.Millisecond, 0)
	f.begin(now.Add(700 * time.Millisecond))
	waits(700*time.Millisecond, 0) // it has waited for 400 ms just before
	f.begin(now.Add(800 * time.Millisecond))
	waits(800*time.Millisecond, time.Second)
	waits(1800*time.Millisecond, 0)
	f.begin(now.Add(2799 * time.Millisecond))
	waits(2799*time.Millisecond, 0)
	f.begin(now.Add(2800 * time.Millisecond))
	waits(2800*time.Millisecond, time.Second)
}

// While a commit is fetched that someone has told of, and evaluated, no zone is read for its turn, and
// neither until its last zone is proved. Where nothing is new, the sweep goes on.
func TestNoZoneOfTheSweepIsReadWhileACommitIsOnItsWay(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 3)
		var seen []bool
		sweeps := func() {
			ok, _ := f.Controller.lanes.all[0].admission.admit(queue.Sweep, 0)
			seen = append(seen, ok)
		}
		fetched := 0
		f.source.Source = fetchFunc(func(ctx context.Context) (string, error) {
			sweeps()
			fetched++
			return f.repo.Fetch(ctx)
		})
		f.source.Compiler = compilerFunc(func(ctx context.Context, commit string) (desired.State, []desired.Problem, error) {
			sweeps()
			return f.repo.Compile(ctx, commit)
		})
		f.calls.set(func(_ context.Context, c call) error {
			if c.who == "1" {
				sweeps()
			}
			return nil
		})
		sweeps()
		f.push("c2", fleet(3, "sqli")...)
		sweeps()
		if want := []bool{true, false, false, false, false, false, true}; !slices.Equal(seen, want) {
			t.Errorf("the sweep went on: %v, want %v", seen, want)
		}
		f.want(3, "sqli")
		time.Sleep(2 * pushFirstFor)
		seen, fetched = nil, 0
		f.source.Poke()
		synctest.Wait()
		sweeps()
		if want := []bool{false, true}; !slices.Equal(seen, want) || fetched != 1 {
			t.Errorf("nothing new, %d fetches: the sweep went on: %v, want %v", fetched, seen, want)
		}
	})
}

// fetchFunc is a [reconcile.Source].
type fetchFunc func(ctx context.Context) (string, error)

func (f fetchFunc) Fetch(ctx context.Context) (string, error) { return f(ctx) }

// compilerFunc is a [reconcile.Compiler].
type compilerFunc func(ctx context.Context, commit string) (desired.State, []desired.Problem, error)

func (f compilerFunc) Compile(ctx context.Context, commit string) (desired.State, []desired.Problem, error) {
	return f(ctx, commit)
}
