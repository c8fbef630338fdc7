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
	var f PushFirst
	now := time.Now()
	at := func(ms time.Duration) time.Time { return now.Add(ms * time.Millisecond) }
	waits := func(after, want time.Duration) {
		t.Helper()
		if got := f.waits(at(after)); got != want*time.Millisecond {
			t.Errorf("after %d ms the sweep waits for %s, want %d ms", after, got, want)
		}
	}
	waits(0, 0)
	f.begin(waitEvaluation, at(0))
	f.begin(waitEvaluation, at(100)) // the same push
	waits(300, 700)
	f.proves()
	if f.end(false, at(300)) || !f.end(true, at(400)) || f.end(true, at(400)) {
		t.Error("the end of a wait is told once, and is that of what is waited for")
	}
	waits(400, 0)
	f.begin(waitEvaluation, at(700))
	waits(700, 0) // it has waited for 400 ms just before
	f.begin(waitEvaluation, at(800))
	waits(800, 1000)
	waits(1800, 0)
	f.begin(waitEvaluation, at(2799))
	waits(2799, 0)
	f.begin(waitFetch, at(2800))
	waits(2800, 1000)

	// What was waited for a fetch takes nothing from the wait for an evaluation; both are paid back.
	f.begin(waitEvaluation, at(3400))
	waits(3400, 1000)
	f.proves()
	f.begin(waitFetch, at(3500)) // of another branch
	if f.end(false, at(3600)) {
		t.Error("a fetch that found nothing has ended the wait for proofs")
	}
	f.begin(waitEvaluation, at(3700))
	if f.end(true, at(3800)) || !f.end(false, at(3900)) {
		t.Error("the proofs of a commit have ended the wait for the next one")
	}
	f.begin(waitEvaluation, at(4999))
	waits(4999, 0)
	f.begin(waitFetch, at(5000)) // after 600 and 500 ms
	waits(5000, 1000)

	// Where no zone of the sweep has asked, the wait was over as well.
	f.begin(waitEvaluation, at(8000))
	waits(8000, 1000)
}

// However often someone pokes and pushes, the sweep has half of the time.
func TestTheSweepHasHalfOfTheTime(t *testing.T) {
	for name, reasons := range map[string][]waitReason{
		"webhooks": {waitFetch}, "evaluations": {waitEvaluation}, "pushes": {waitFetch, waitEvaluation},
	} {
		var f PushFirst
		var waited time.Duration
		begin, step := time.Now(), 50*time.Millisecond
		for at := time.Duration(0); at < time.Minute; at += step {
			now := begin.Add(at)
			for _, reason := range reasons { // the next one as soon as the sweep does not wait for this one
				if f.waits(now) == 0 {
					f.begin(reason, now)
				}
			}
			waited += min(step, f.waits(now))
		}
		if waited != time.Minute/2 {
			t.Errorf("%s: the sweep has waited for %s of a minute", name, waited)
		}
	}
}

// A push is under way until its proofs, or until nothing new was found, for a second at the most after
// the last that was heard of it; also where the sweep does not wait for it.
func TestAPushIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f PushFirst
		left := func(want time.Duration) {
			t.Helper()
			if got := f.UnderWay(); got != want*time.Millisecond {
				t.Errorf("a push is under way for %s yet, want %d ms", got, want)
			}
		}
		pass := func(ms time.Duration) { time.Sleep(ms * time.Millisecond) }
		left(0)
		f.begin(waitFetch, time.Now())
		pass(300)
		left(700)
		f.end(false, time.Now()) // nothing is new
		left(0)
		f.begin(waitFetch, time.Now()) // directly afterwards
		if f.waits(time.Now()) != 0 {
			t.Error("the sweep waits for more than half of the time")
		}
		pass(200)
		left(800)
		f.begin(waitEvaluation, time.Now())
		pass(100)
		f.proves()
		f.end(false, time.Now()) // it is accepted
		left(900)
		f.end(true, time.Now())
		left(0)
		f.begin(waitFetch, time.Now())
		pass(1000)
		left(0)
	})
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
			if left := f.Controller.lanes.first.UnderWay(); ok != (left == 0) {
				t.Errorf("a push is under way for %s yet, and the sweep goes on: %v", left, ok)
			}
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

// A fetch that takes longer than the sweep waits for it, and fetches that find nothing, keep neither the
// evaluation nor the proofs from having the processors.
func TestASlowFetchLeavesTheEvaluationItsWait(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 3)
		var seen []bool
		sweeps := func() {
			ok, _ := f.Controller.lanes.all[0].admission.admit(queue.Sweep, 0)
			seen = append(seen, ok)
		}
		took := 1200 * time.Millisecond
		f.source.Source = fetchFunc(func(ctx context.Context) (string, error) {
			sweeps()
			time.Sleep(took)
			sweeps()
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
		f.push("c2", fleet(3, "sqli")...)
		if want := []bool{false, true, false, false, false, false}; !slices.Equal(seen, want) {
			t.Errorf("a slow fetch: the sweep went on: %v, want %v", seen, want)
		}
		f.want(3, "sqli")
		f.pass(10 * time.Second)
		seen = nil
		f.source.Poke() // nothing is new
		f.pass(took)
		took = 100 * time.Millisecond
		f.push("c3", fleet(3, "xss")...)
		if want := []bool{false, true, true, true, false, false, false, false}; !slices.Equal(seen, want) {
			t.Errorf("after a fetch for nothing: the sweep went on: %v, want %v", seen, want)
		}
		f.want(3, "xss")
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
