package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
)

var (
	careful    = reconcile.Halt{NonConvergent: 1, FailedPercent: 5}
	threeWaves = reconcile.Guards{Waves: []reconcile.Wave{
		{Count: 1, Soak: 30 * time.Minute, Halt: careful}, {Count: 2, Soak: time.Hour, Halt: careful},
	}}
)

// written are the zones that were written, in the order of their numbers.
func (f *fixture) written() []string { return who(only(f.calls.take(), "write")) }

func (f *fixture) wantWritten(want ...string) {
	f.t.Helper()
	if got := f.written(); !slices.Equal(got, want) {
		f.t.Errorf("written are %v, want %v", got, want)
	}
}

// resume lets the waves go on, as another process does.
func (f *fixture) resume() {
	f.t.Helper()
	must.Do(f.t, f.records.Forgetful.Roll(context.Background(), reconcile.Rollout.Resumed))
}

func TestWavesOneAfterTheOther(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		run(t, func(t *testing.T) {
			f := guarded(t, 5, threeWaves)
			again := func() {
				if restarts {
					f.restart()
					f.restart()
				}
			}
			f.calls.take()
			f.push("c2", fleet(5, "php")...)
			again()
			f.wantWritten("1")
			f.pass(29 * time.Minute)
			f.lookNow()
			again()
			f.wantWritten()
			f.pass(time.Minute)
			f.wantWritten("2", "3")
			f.pass(59 * time.Minute)
			again()
			f.wantWritten()
			f.pass(time.Minute)
			again()
			f.wantWritten("4", "5")
			f.want(5, "php")
			if got := f.record().Rollout; !got.Equal(reconcile.Rollout{Commit: "c2"}) {
				t.Errorf("on record is still %+v", got)
			}
		})
	}
}

// What a rollout does not touch, or has done already, is healed at once.
func TestDriftIsNotWaved(t *testing.T) {
	run(t, func(t *testing.T) {
		f := guarded(t, 5, threeWaves)
		f.push("c2", but(fleet(5, "php"), 5, "xss")...)
		f.calls.take()
		for _, i := range []int{1, 4, 5} {
			f.click(i)
		}
		f.lookNow()
		f.wantWritten("1", "5")
	})
}

// A zone that did not keep the change halts the waves, over commits and restarts, until
// another process lets them go on. What returns to what was there does not wait.
func TestHalt(t *testing.T) {
	for name, resume := range map[string]bool{"resumed": true, "reverted": false} {
		runNamed(t, name, func(t *testing.T) {
			f := guarded(t, 5, threeWaves)
			must.Do(t, f.Platform.SetQuirks([]string{"patch=ignored"}))
			f.push("c2", fleet(5, "php")...)
			must.Do(t, f.Platform.SetQuirks(nil))
			f.pass(time.Minute)
			if got := f.record().Rollout.Halted; got == "" {
				t.Fatalf("not halted: %+v", f.record().Rollout)
			}
			f.calls.take()
			f.restart()
			f.push("c3", fleet(5, "rce")...)
			f.lookNow() // which tries what was not kept, where it may be written
			f.pass(3 * time.Hour)
			f.restart()
			for _, who := range f.written() {
				if who != "1" { // its own retry; it is of c2 no more, so it waits too
					t.Errorf("zone %s is written while the waves are halted", who)
				}
			}
			if !resume {
				f.push("c4", fleet(5, "xss")...)
				f.want(5, "xss")
				f.drift(5)
				f.lookNow()
				f.want(5, "xss")
				return
			}
			f.resume()
			f.pass(2 * f.Tick)
			if got := f.count(5, "rce"); got != 1 {
				t.Errorf("%d zones are written once it is resumed", got)
			}
			f.pass(2 * time.Hour)
			f.want(5, "rce")
		})
	}
}

// A zone of a later wave that could not be read is not written before its wave.
func TestAFailureIsNoWayPastTheWaves(t *testing.T) {
	run(t, func(t *testing.T) {
		f := guarded(t, 5, threeWaves)
		fails := true
		f.calls.set(func(_ context.Context, c call) error {
			if c.verb == "read" && c.who == "5" && fails {
				fails = false
				f.look <- nil // it is looked at once more at once
				return errDown
			}
			return nil
		})
		f.calls.take()
		f.push("c2", fleet(5, "php")...)
		f.pass(10 * time.Second)
		f.wantWritten("1")
	})
}

// A zone that the credential may not touch holds up its wave: nobody knows what has
// become of it.
func TestAForbiddenZoneHoldsUpItsWave(t *testing.T) {
	run(t, func(t *testing.T) {
		f := guarded(t, 5, threeWaves)
		f.calls.set(failing(errForbidden, 1))
		f.calls.take()
		f.push("c2", fleet(5, "php")...)
		f.pass(31 * time.Minute)
		f.wantWritten()
		f.calls.set(nil)
		f.resume() // nothing of the wave is left to be done, so what follows is its soak
		f.pass(3 * time.Hour)
		f.want(5, "php")
	})
}

// Another process accepts a commit: its zones are taken over, and nothing of it is
// undone.
func TestAnApplyBeside(t *testing.T) {
	for name, known := range map[string]bool{"on record": true, "not on record": false} {
		runNamed(t, name, func(t *testing.T) {
			const n = 6
			f := running(t, n)
			f.pass(10 * time.Second)
			f.calls.take()
			// The other process writes half of it before this one comes to look at git.
			state := stateOf("c2", fleet(n, "rce")...)
			accepted := reconcile.Acceptance{Commit: "c2", Size: guard.Size{Zones: state.Zones(), Deployments: state.Deployments()}}
			if known {
				data, err := control.EncodeState(state)
				must.Do(t, err)
				accepted.State = data
			}
			must.Do(t, f.records.Forgetful.AcceptCommit(context.Background(), accepted))
			f.repo.Lock()
			f.repo.Commits["c2"] = commit{State: state}
			f.repo.Unlock()
			for i := 1; i <= n/2; i++ {
				f.click(i, "rce")
			}
			f.repo.FetchBy(func(context.Context) error { return errors.New("offline") })
			f.lookNow() // at once: whoever looks now must not undo it
			f.pass(10 * time.Minute)
			for _, c := range only(f.calls.take(), "write") {
				if c.off != "rce" {
					t.Errorf("undone: %v", c)
				}
			}
			if known {
				f.want(n, "rce")
			}
			f.repo.Lock()
			f.repo.Head = "c2"
			f.repo.Unlock()
			f.repo.FetchBy(nil)
			f.pass(time.Minute)
			f.source.Poke()
			f.pass(5 * time.Minute)
			f.want(n, "rce")
			f.click(1)
			f.lookNow()
			f.want(n, "rce")
		})
	}
}

// Whoever accepts a commit beside this process has it counted anew: limits do not stop
// it for good.
func TestAnApplyBesideWithLimits(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 6
		f := newFixture(t, n)
		f.Guards = atMost(n)
		f.repo.Push("c1", fleet(n, "xss")...)
		f.start()
		f.records.Hold(diff.Hold{Zone: zoneKey(1), Until: time.Now().Add(time.Hour)})
		f.push("c2", but(fleet(n, "xss"), 1, "php")...) // waits
		f.want(n, "xss")
		for i := range n {
			f.seen.drop(mem.FleetZone(i + 1)) // as after a restart
		}
		state := stateOf("c3", but(but(fleet(n, "xss"), 1, "php"), 2, "php")...)
		data, err := control.EncodeState(state)
		must.Do(t, err)
		f.repo.Commit("c3", commit{State: state})
		must.Do(t, f.records.Forgetful.AcceptCommit(context.Background(), reconcile.Acceptance{Commit: "c3", Size: guard.Size{Zones: state.Zones(), Deployments: state.Deployments()}, State: data}))
		f.pass(soon)
		if got := f.off(2); got != "php" {
			t.Errorf("off in zone 2: %q", got)
		}
	})
}

// A late write of declarations does not bring an older commit back.
func TestDeclarationsWrittenLate(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 1)
		f.records.FailBy(func(op string) error {
			if op == "save" {
				time.Sleep(10 * time.Second) // a slow disk
			}
			return nil
		})
		f.push("c2", fleet(1, "rce")...)
		f.push("c3", fleet(1, "php")...)
		f.records.FailBy(nil)
		f.pass(time.Minute)
		f.want(1, "php")
		if got := f.record().Accepted; got.Commit != "c3" || len(got.State) == 0 {
			t.Errorf("on record is %s", got.Commit)
		}
		if state, _ := f.InForce(); state.Commit != "c3" {
			t.Errorf("in force is %s", state.Commit)
		}
	})
}

// Under keep, what a commit declared and the next one does not is taken away again,
// and what somebody else put there stays, wherever the process ends.
func TestOwnershipSurvives(t *testing.T) {
	for _, op := range []string{"widen", "prove", "write", "proof"} {
		for _, superseded := range []bool{false, true} {
			runNamed(t, fmt.Sprintf("%s/superseded=%v", op, superseded), func(t *testing.T) {
				f := newFixture(t, 1)
				keep := func(tags ...string) []zoneT { return []zoneT{zoneOf(1, keeping(core(tags...)))} }
				f.repo.Push("c1", keep("xss")...)
				f.start()
				f.click(1, "xss", "wordpress") // somebody's own
				// The process dies in the middle of the second commit.
				dead := false
				f.records.FailBy(func(o string) error {
					if o == op {
						dead = true
					}
					if dead && o != "standing" {
						return errDisk
					}
					return nil
				})
				f.calls.set(func(_ context.Context, c call) error {
					switch {
					case dead:
						return errDown
					case op == "proof" && c.verb == "write":
						dead = true // the write is made, and nothing after it
					}
					return nil
				})
				f.calls.answerBy(func(_ call, send func() (*edge.Ruleset, error)) (*edge.Ruleset, error) {
					if op == "write" { // made, and not answered
						dead = true
						_, _ = send()
						return nil, fmt.Errorf("%w: reset", edge.ErrOutcomeUnknown)
					}
					return send()
				})
				f.push("c2", keep("xss", "rce")...)
				if !dead {
					t.Fatal("it did not come to it")
				}
				f.stop()
				f.records.FailBy(nil)
				f.calls.set(nil)
				f.calls.answerBy(nil)
				last := "c2"
				if superseded {
					last = "c3"
					f.repo.Push("c3", keep("php")...)
				}
				f.start()
				f.pass(time.Minute)
				f.push("end", keep("php")...)
				f.pass(time.Minute)
				if got := f.off(1); got != "php,wordpress" {
					t.Errorf("after %s: off are %q; owned %v", last, got, f.owned(1))
				}
			})
		}
	}
}

// A commit that is superseded while it is written leaves nothing behind.
func TestSupersededUnderKeep(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 1)
		f.calls.latency = time.Second
		keep := func(tags ...string) []zoneT { return []zoneT{zoneOf(1, keeping(core(tags...)))} }
		f.repo.Push("c1", keep("xss")...)
		f.start()
		f.pass(20 * time.Second)
		f.click(1, "xss", "wordpress")
		for step, tags := range [][]string{{"rce"}, {"php"}, {"sqli"}, {"rce", "php"}, {"xss"}} {
			f.repo.Push(fmt.Sprint("d", step), keep(tags...)...)
			f.source.Poke()
			time.Sleep(time.Duration(1500+700*step) * time.Millisecond)
		}
		f.pass(time.Minute)
		if got := f.off(1); got != "wordpress,xss" {
			t.Errorf("off are %q; owned %v", got, f.owned(1))
		}
		if got := f.record().Proofs[mem.FleetZone(1)].Commit; got == "" {
			t.Error("nothing is proved")
		}
	})
}
