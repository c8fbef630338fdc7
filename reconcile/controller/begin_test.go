package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// What a process does when it begins, and over restarts.

func TestAFirstCommitIsApplied(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 5)
		f.want(5, "xss")
		if n := len(only(f.calls.take(), "write")); n != 5 {
			t.Errorf("%d writes", n)
		}
		f.push("c2", fleet(5, "xss", "rce")...)
		f.want(5, "rce,xss")
		f.calls.take()
		f.pass(time.Hour)
		for _, c := range f.calls.take() {
			if c.verb == "write" {
				t.Errorf("nothing differs: %v", c)
			}
		}
	})
}

// A push that touches one zone looks at one zone, after a restart too.
func TestAPushLooksAtWhatItTouches(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		run(t, func(t *testing.T) {
			const n = 50
			f := newFixture(t, n)
			f.Lanes.All[0].Budget = diff.Budget{Requests: 200, Per: time.Minute} // not all at the start
			f.repo.Push("c1", fleet(n, "xss")...)
			f.start()
			f.want(n, "xss")
			f.stop()
			if !restarted {
				f.begin()
				f.pass(soon)
			}
			f.calls.take()
			f.repo.Push("c2", but(fleet(n, "xss"), 7, "rce")...)
			if restarted {
				f.start()
			} else {
				f.source.Poke()
				f.pass(soon)
			}
			if got := f.off(7); got != "rce" {
				t.Errorf("restarted %v: %q is off", restarted, got)
			}
			all := f.calls.take()
			if got := who(only(all, "read")); len(got) > 3 { // whose turn it is, in a few seconds
				t.Errorf("restarted %v: it looks at %v", restarted, got)
			}
		})
	}
}

// What an earlier process has not proved is due at once, and only that.
func TestCommitWorkIsDueAtOnceAfterARestart(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 100
		f := newFixture(t, n)
		f.Lanes.All[0].Budget = diff.Budget{Requests: 400, Per: time.Minute}
		f.repo.Push("c1", fleet(n, "xss")...)
		f.start()
		f.want(n, "xss")
		f.calls.answerBy(refuseWrites)
		f.push("c2", append(fleet(n-9, "xss"), fleet(n, "rce")[n-9:]...)...)
		f.stop()
		f.calls.answerBy(nil)
		f.pass(time.Minute)
		f.calls.take()
		f.start()
		if got := f.count(n, "rce"); got != 9 {
			t.Errorf("%d zones are as the commit says", got)
		}
		if got := len(who(only(f.calls.take(), "read"))); got < 9 || got > 9+4 { // and whose turn it was meanwhile
			t.Errorf("%d zones are read at once", got)
		}
	})
}

// A process that ended between accepting a commit and writing down what it declares
// leaves it to the next to evaluate it; every zone comes around after that.
func TestDeclarationsThatAreNotOnRecord(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 20
		f := newFixture(t, n)
		f.repo.Push("c1", fleet(n, "xss")...)
		f.start()
		f.records.FailBy(failsTo("save"))
		f.push("c2", but(fleet(n, "xss"), 1, "rce")...)
		f.stop()
		f.records.FailBy(nil)
		f.drift(n)
		f.start()
		f.pass(interval)
		if got := f.count(n, "xss"); got != n-1 || f.off(1) != "rce" {
			t.Errorf("%d of %d zones are healed", got, n-1)
		}
	})
}

// Once on record, declarations outlive the store of git.
func TestHealingWithoutGit(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 3)
		f.repo.Push("c1", fleet(3, "xss")...)
		f.start()
		f.stop()
		f.repo = reconciletest.NewRepo()
		f.drift(3)
		f.start()
		f.want(3, "xss")
	})
}

// Zones that leave the repository are forgotten, and their hands are off.
func TestZonesThatLeave(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 3)
		f.push("c2", fleet(2, "xss")...)
		if record := f.record(); len(record.Proofs) != 2 || len(record.Applied) != 2 {
			t.Errorf("on record are %v, %v", record.Proofs, record.Applied)
		}
		f.drift(3)
		f.calls.take()
		f.pass(2 * interval)
		if got := who(f.calls.take()); len(only(f.calls.take(), "write")) > 0 || f.off(3) != "" {
			t.Errorf("it looks at %v", got)
		}
		f.want(2, "xss")
		f.push("c3", fleet(3, "xss")...)
		f.want(3, "xss")
	})
}

// A commit that cannot be put on record is not in force, and is tried again.
func TestACommitThatCannotBeRemembered(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 2)
		f.records.FailBy(failsTo("accept"))
		f.journal.take()
		f.push("c2", fleet(2, "rce")...)
		f.want(2, "xss")
		if errs := failures(f.journal.take()); len(errs) == 0 || !errors.Is(errs[0], errDisk) {
			t.Errorf("errors %v", errs)
		}
		f.records.FailBy(nil)
		f.pass(time.Minute)
		f.want(2, "rce")
		if f.repo.Compiled["c2"] != 1 {
			t.Errorf("compiled %v", f.repo.Compiled)
		}
	})
}

func mistake(message string) desired.Problem {
	return desired.Problem{Origin: desired.Origin{File: "zones/shop.cue", Line: 4, Column: 10}, Path: "account.prod", Message: message}
}

// A commit that is invalid, shrinks too much or cannot be had is held; what was good
// before goes on, and what is mended is taken.
func TestHeldCommits(t *testing.T) {
	for name, held := range map[string]commit{
		"invalid":         {Problems: []desired.Problem{mistake("blok is no action")}},
		"shrunk":          {State: stateOf("c2", fleet(2, "rce")...)},
		"empty":           {State: desired.State{Commit: "c2"}},
		"not evaluated":   {Err: errors.New("the evaluator was killed")},
		"a warning apart": {Problems: []desired.Problem{{Message: "odd", Warning: true}, mistake("no")}},
	} {
		runNamed(t, name, func(t *testing.T) {
			f := running(t, 6)
			f.journal.take()
			f.repo.Commit("c2", held)
			f.source.Poke()
			f.drift(3)
			f.pass(interval)
			f.want(6, "xss")
			state, ok := f.InForce()
			if !ok || state.Commit != "c1" || f.record().Accepted.Commit != "c1" {
				t.Errorf("in force is %q, on record %q", state.Commit, f.record().Accepted.Commit)
			}
			told := 0
			for _, r := range f.journal.take() {
				if r.Held != nil && r.Held.Commit == "c2" && !r.Held.Again {
					told++
				}
			}
			if told != 1 {
				t.Errorf("told %d times", told)
			}
			if n := f.repo.Compiled["c2"]; name != "not evaluated" && n > 3 {
				t.Errorf("evaluated %d times in two hours", n)
			}
			f.restart()
			f.want(6, "xss")
			f.push("c3", fleet(6, "rce")...)
			f.want(6, "rce")
		})
	}
}

// A commit that was held because the machine was busy is evaluated again.
func TestHeldCommitsAreEvaluatedAgain(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 1)
		f.repo.Commit("c2", commit{Problems: []desired.Problem{mistake("evaluating this folder exceeded the time bound of 30s")}})
		f.source.Poke()
		f.pass(time.Minute)
		f.repo.Commit("c2", commit{State: stateOf("c2", fleet(1, "rce")...)})
		f.pass(2 * time.Hour)
		f.want(1, "rce")
	})
}

// TestACommitTakesEachZoneOnce: a worker that is faster than what a commit puts into the queue
// reads no zone twice, to count the commit and because of it.
func TestACommitTakesEachZoneOnce(t *testing.T) {
	const zones = 200
	f := newFleetOf(t, zones)
	f.Guards.Rules = []guard.Rule{{Name: "all", Approve: guard.ApproveAll}}
	var err error
	f.heart, err = New(t.Context(), f.Config)
	must.Do(t, err)
	waiting := f.heart.lanes.all[0].queue
	ctx, stop := context.WithCancel(t.Context())
	taken, ended := map[edge.Scope]int{}, make(chan struct{})
	go func() {
		defer close(ended)
		for {
			item, err := waiting.Next(ctx)
			if err != nil {
				return
			}
			taken[item.Key]++
			waiting.Done(item.Key, nil)
		}
	}()
	f.heart.commits.propose(t.Context(), reconcile.Proposal{Commit: "c1", State: f.state("c1", zones, 40)})
	for all := waiting.Snapshot(); len(all.Waiting)+len(all.AtWork) > 0; all = waiting.Snapshot() {
		time.Sleep(time.Millisecond)
	}
	stop()
	<-ended
	if len(taken) != zones {
		t.Errorf("%d zones were taken, want %d", len(taken), zones)
	}
	for id, times := range taken {
		if times != 1 {
			t.Errorf("zone %s was taken %d times", id, times)
		}
	}
}

// Once the commit in force was evaluated again, nothing keeps the values that were read from the
// record: a large fleet would be in memory twice.
func TestNothingKeepsTheDeclarationsThatWereRead(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 3)
		f.stop()
		f.start()
		c := f.Controller.commits
		g, r := c.control.Current(), c.reports
		if evaluated := f.repo.Commits["c1"].State; &g.State.Accounts[0] != &evaluated.Accounts[0] {
			t.Fatal("the values that were evaluated are not in force")
		}
		if c.lanes.placed != g || r.turn.whole != g || r.sweep.of != g || c.outcomes.zones.rows.g != g {
			t.Error("values that were read from the record are kept")
		}

		// What is to be put on record again is that, whichever of the values it has.
		read := *g
		retry := commits{control: c.control, save: make(chan *control.Generation, 1)}
		retry.offer(t.Context(), &read)
		if len(retry.save) != 1 {
			t.Fatal("what is in force is not put on record again")
		}
		<-retry.save
		f.push("c2", fleet(3, "sqli")...)
		if retry.offer(t.Context(), &read); len(retry.save) != 0 {
			t.Error("what is not in force any more is put on record again")
		}
	})
}
