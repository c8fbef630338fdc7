package reconcile

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/mem"
)

// What must not go wrong between slices, over restarts, and beside other processes.

// changing limits how many zones one plan, or one sweep, may change.
func changing(most int) []diff.Rule {
	return []diff.Rule{{Name: "fleet", Changes: &diff.Limit{Count: &most}}}
}

// pushToken makes a commit that declares a token beside the zones.
func (l *looping) pushToken(n int) {
	state := stateOf("c1", zones(n, core("xss"))...)
	state.Tokens = []desired.Token{token("ci-dns", zoneA)}
	l.repo.head, l.repo.commits["c1"] = "c1", commit{state: state}
}

// A doubt about tokens stops tokens alone, and a full disk stops no zone either.
func TestSweepGoesOnWhateverElseFails(t *testing.T) {
	const n = 60
	for name, fail := range map[string]func(*looping){
		"tokens that cannot be listed": func(l *looping) {
			_, s, o := extendedWorld(l.t.(*testing.T))
			l.Tokens, l.Sinks, l.Creator, l.TokenReader, l.TokenWriter = s, s, o, o, o
			o.answer = func(string) error { return errUnauthenticated }
		},
		"tokens that cannot be created": func(l *looping) {
			s := newSteps()
			l.Tokens, l.Sinks, l.Creator, s.answer = s, s, s, errUnauthenticated
		},
		"a ledger that cannot be written": func(l *looping) { l.memory.full = errors.New("the disk is full") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLooping(t, n)
				l.t = t
				l.pushToken(n)
				l.start()
				defer l.stop()
				fail(l)
				l.drift(n)
				l.pass(interval2h)
				if got := l.healed(n); got != n {
					t.Errorf("%d of %d zones are healed", got, n)
				}
				reports := l.told.take()
				if i := slices.IndexFunc(reports, func(r Report) bool { return r.Sum }); i < 0 || reports[i].Converged() {
					t.Error("the sweep is not said to have failed")
				}
			})
		})
	}
}

// An apply by hand is followed, and not undone.
func TestSweepFollowsAnApplyBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100
		l := newLooping(t, n)
		l.repo.push("c1", zones(n, core("xss"))...)
		l.told.told = func(run int) {
			if run != 5 {
				return
			}
			l.repo.push("c2", zones(n, core("rce"))...)
			apply := &Reconciler{Source: l.repo, Compiler: l.repo, Reader: l.Reader, Writer: l.Writer, Good: l.good, Memory: l.memory, Now: time.Now}
			if report := apply.Run(t.Context(), Order{Trigger: TriggerManual}); !report.Converged() {
				t.Error("the apply has not converged")
			}
			l.record.Reset()
		}
		l.start()
		defer l.stop()
		l.pass(interval2h)
		if calls := l.calls(); writes(calls) > 0 || len(reads(calls)) != n {
			t.Errorf("%d writes, %d zones", writes(calls), len(reads(calls)))
		}
	})
}

// The branch has moved on by the time the daemon sees what was applied by hand.
func TestSweepDoesNotSpinOverAnApplyBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 20
		l := newLooping(t, n)
		l.repo.push("c1", zones(n, core("xss"))...)
		l.told.told = func(n int) {
			if n == 1 { // the first run is over
				l.good.commit, l.repo.fetchErr = "somebody else's", errors.New("offline")
			}
		}
		l.start()
		defer l.stop()
		l.told.told = nil
		l.told.take()
		l.pass(interval2h)
		if got := len(l.told.take()); got > 30 {
			t.Errorf("%d runs in two hours", got)
		}
		l.repo.fetchErr = nil
		l.wake <- struct{}{}
		synctest.Wait()
		l.record.Reset()
		l.pass(interval2h)
		if got := len(reads(l.calls())); got != n {
			t.Errorf("%d zones are looked at once it is settled", got)
		}
	})
}

// A commit may be held because a machine was busy.
func TestSweepEvaluatesAgainWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLooping(t, 1)
		l.repo.push("c1", zone(1, core("xss")))
		l.start()
		defer l.stop()
		l.repo.pushInvalid("c2", desired.Problem{Message: "evaluating this folder exceeded the time bound of 30s"})
		l.wake <- struct{}{}
		synctest.Wait()
		l.repo.commits["c2"] = commit{state: stateOf("c2", zone(1, core("rce")))}
		l.pass(interval2h)
		l.wake <- struct{}{}
		synctest.Wait()
		if got := l.off(1); !slices.Equal(got, []string{"rce"}) {
			t.Errorf("off: %v; compiled %v", got, l.repo.compiled)
		}
	})
}

// Approving all that a rule holds back counts, although slices see parts of it.
func TestSweepHearsAnApprovalOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 40
		l := newLooping(t, n)
		l.Control = l.memory
		l.repo.push("c1", zones(n, core("xss"))...)
		l.start()
		defer l.stop()
		l.Guards.Rules = []diff.Rule{{Name: "fleet", Approve: diff.ApproveAll}}
		l.drift(n)
		plans := &Reconciler{Source: l.repo, Compiler: l.repo, Reader: l.Reader, Good: l.good, Memory: l.memory, Now: time.Now, Guards: l.Guards}
		plan := plans.Run(t.Context(), Order{Trigger: TriggerManual, PlanOnly: true}).Plan
		must(t, l.memory.Approve(t.Context(), []Approval{{Digest: plan.Changes[0].Refused.Digest, Kind: Approved, Who: "kim"}}))
		for range 3 {
			l.pass(interval2h / 2)
			l.wake <- struct{}{}
			synctest.Wait()
		}
		if got := l.healed(n); got != n {
			t.Errorf("%d of %d zones are healed", got, n)
		}
	})
}

// Neither the end of a round nor a restart lets a sweep change more than it may.
func TestSweepKeepsToLimitsOverRoundsAndRestarts(t *testing.T) {
	const n, most = 80, 10
	t.Run("rounds", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := newLooping(t, n)
			l.repo.push("c1", zones(n, core("xss"))...)
			l.start()
			defer l.stop()
			l.Guards.Rules = changing(most)
			l.pass(101 * time.Minute) // a round takes 108
			l.drift(n)
			l.pass(30 * time.Minute)
			if got := l.healed(n); got > most {
				t.Errorf("%d changed within half an hour", got)
			}
		})
	})
	t.Run("restarts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := newLooping(t, n)
			l.repo.push("c1", zones(n, core("xss"))...)
			l.start()
			l.pass(interval2h)
			l.Guards.Rules = changing(most)
			l.large()
			l.drift(n)
			for range 4 {
				l.pass(interval2h)
				l.stop()
				l.restart()
				l.Guards.Rules = changing(most)
				l.large()
				l.start()
			}
			l.stop()
			if got := l.healed(n); got == 0 || got > most {
				t.Errorf("%d changed", got)
			}
		})
	})
	t.Run("what little is left", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := newLooping(t, n)
			l.repo.push("c1", zones(n, core("xss"))...)
			l.start()
			defer l.stop()
			l.Guards.Rules = changing(most)
			l.drift(most + 1)
			l.lookNow()
			if got := l.healed(n); got >= n {
				t.Errorf("%d zones are healed, and %d were", got, n-most-1)
			}
			l.push("c2", "rce") // too much with what is held back
			l.repo.head = "c1"
			l.wake <- struct{}{}
			l.pass(2 * interval2h)
			l.wake <- struct{}{}
			synctest.Wait()
			if got := l.healed(n); got != n {
				t.Errorf("%d zones are healed once an interval has passed", got)
			}
		})
	})
}

// A branch that was put back leaves as much to do as one that moved on.
func TestRestartAfterTheBranchWasPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100
		l := newLooping(t, n)
		l.repo.push("c1", zones(n, core("xss"))...)
		l.start()
		l.pass(time.Minute)
		l.push("c2", "rce")
		l.tamper.write = func(context.Context, edge.ZoneID, send) (*edge.Ruleset, error) { return nil, errDown }
		l.repo.head = "c1"
		l.wake <- struct{}{}
		synctest.Wait()
		l.stop()
		l.tamper.write = nil
		l.restart()
		l.large()
		l.start()
		l.pass(time.Minute)
		l.stop()
		if got := l.healed(n); got != n {
			t.Errorf("%d of %d zones are as the branch says", got, n)
		}
	})
}

// A commit is not said to be applied while nobody knows what a process that died
// has left of the one before.
func TestMarksWaitForWhatAnEarlierProcessLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 50
		l := newLooping(t, n)
		l.repo.push("c1", zones(n, core("xss"))...)
		l.start()
		l.pass(time.Minute)
		l.tamper.write = func(_ context.Context, z edge.ZoneID, s func() (*edge.Ruleset, error)) (*edge.Ruleset, error) {
			if z == mem.FleetZone(n) && l.repo.head == "c3" {
				return s()
			}
			return nil, errForbidden
		}
		l.push("c2", "rce")
		l.stop()
		l.repo.push("c3", append(zones(n-1, core("rce")), zone(n, core("rce", "xss")))...)
		l.restart()
		l.large()
		l.Now, l.Sweep = time.Now, cron.Every(interval2h)
		settled := &settled{}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			(&Loop{Reconciler: l.Reconciler, Reporters: []Reporter{settled}, Wake: l.wake}).Run(ctx)
		}()
		l.pass(12 * time.Hour)
		if got := settled.commits; slices.Contains(got, "c3") {
			t.Errorf("settled %v, and off in zone 1: %v", got, l.off(1))
		}
		l.tamper.write = nil
		for range 100 {
			l.wake <- struct{}{}
			l.pass(time.Minute)
		}
		l.pass(interval2h)
		cancel()
		<-done
		if got := settled.commits; !slices.Contains(got, "c3") {
			t.Errorf("settled once all is done: %v", got)
		}
	})
}

// settled are the commits that a merge's mark would say are applied; package review
// makes the marks.
type settled struct{ commits []string }

func (s *settled) Report(_ context.Context, r Report) {
	if r.Unfinished == 0 && r.Converged() {
		s.commits = append(s.commits, r.Commit)
	}
}

// What a sweep says of calls that lean on what goes away is not lost to a push.
func TestSumKeepsDeprecationsOverAPush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 20
		l := newLooping(t, n)
		l.Deprecations = func(desired.State, time.Time) []deprecation.Notice { return []deprecation.Notice{{Rule: "x"}} }
		l.repo.push("c1", zones(n, core("xss"))...)
		l.start()
		defer l.stop()
		l.lookNow()
		l.pass(interval2h / 2)
		l.told.take()
		l.push("c2", "xss", "rce")
		l.pass(interval2h / 2)
		for _, r := range l.told.take() {
			if r.Sum && len(r.Plan.Deprecations) != 1 {
				t.Errorf("%d deprecations after a push", len(r.Plan.Deprecations))
			}
		}
	})
}

// A platform that is down is not asked for each zone of a fleet, slice by slice.
func TestSweepPausesWhileThePlatformIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 1000
		l := newLooping(t, n)
		l.repo.push("c1", zones(n, core("xss"))...)
		l.start()
		defer l.stop()
		asked := 0
		l.tamper.read = func(edge.ZoneID) error { asked++; return errDown }
		l.pass(interval2h)
		if asked == 0 || asked > n/4 {
			t.Errorf("asked %d times for %d zones", asked, n)
		}
		seen := l.watch()
		l.wake <- struct{}{}
		for range 10 {
			l.pass(longestPause)
		}
		seen(interval2h)
		if got := strings.Join(l.told.kinds(), " "); !strings.Contains(got, "sum 1000") {
			t.Error("it has not come around since")
		}
	})
}
