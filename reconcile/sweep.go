package reconcile

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Cursor is how far the sweep has come, for the next process to go on from there.
type Cursor struct {
	// Commit is the last of which every change was made, or needs nobody any more.
	// Where it is not the one in force, the next process looks at everything.
	Commit string
	Phase  uint64    // of the wheel: zones before it were looked at
	At     time.Time // when it should have come there
}

const (
	// ahead is the part of an interval in which the sweep comes around. The rest is
	// for what delays it: no zone is to go unseen for longer than an interval.
	ahead = 0.9
	// slices is into how many parts an interval is divided at most, and longestRest
	// bounds the time between two of them: looks at many zones at once cost less.
	slicesPerTurn = 100
	longestRest   = 5 * time.Second
	// sliceTime is how long a slice should take, since whoever pushes waits for it.
	sliceTime = 200 * time.Millisecond
	// mostPerSlice bounds its zones, as a multiple of how many are read at once.
	mostPerSlice = 40
	// requestsPerZone is what a zone takes that differs: the look, the write, the proof.
	requestsPerZone = 3
	// startWhole is the part of the budget up to which a new process looks at every
	// zone at once, whatever the one before has seen.
	startWhole = 4
	// keepEvery is how often the cursor is written down.
	keepEvery = time.Minute
)

// sweeping is the sweep between two slices.
type sweeping struct {
	wheel
	interval interval
	begun    time.Time // when the first slice of this round did; zero before
	size     int       // how many zones the next slice should have
	rest     time.Time // when the next one should begin, if there is no hurry
	pause    time.Time // and when it may: the last ones have failed
	failures int       // in a row
	touched  map[edge.ZoneID]touch
	caughtUp bool // nothing is left of what an earlier process did not finish
	kept     Cursor
	keptAt   time.Time
}

// touch is a zone that the sweep has changed. It counts for limits until an
// interval has passed.
type touch struct {
	at      time.Time
	weakens bool
}

// slice is a part of a sweep: the run over the zones that are due.
type slice struct {
	accounts []desired.Account
	first    bool      // of its round: it is about tokens and deprecations too
	begun    time.Time // its round: what was listed since is not listed again
}

// NextSlice returns how long to wait before the next [Reconciler.Slice]; false
// where there is nothing to sweep, or no schedule to do so.
func (r *Reconciler) NextSlice() (wait time.Duration, ok bool) {
	if r.Sweep == nil || r.inForce == nil {
		return 0, false
	}
	s, now := &r.sweep, r.Now()
	turn := s.turn(r.Sweep, now)
	s.turnTo(now, turn)
	ring := r.fleetOf(*r.inForce).ring()
	stops, all := s.due(ring, r.sliceSize())
	if _, toEnd := s.reach(); turn <= 0 && len(stops) == 0 && !toEnd {
		return 0, false // no tick will come
	}
	wait = s.wait(ring, turn)
	if all {
		wait = max(wait, s.rest.Sub(now))
	}
	if wait = max(wait, s.pause.Sub(now)); wait <= 0 && r.room() < 1 {
		wait = time.Second
	}
	return wait, true
}

// turn is how long the wheel takes to come around, at a moment.
func (s *sweeping) turn(schedule cron.Schedule, now time.Time) time.Duration {
	return time.Duration(ahead * float64(s.interval.at(schedule, now)))
}

// room is how many requests the sweep may send without waiting for the budget.
func (r *Reconciler) room() int {
	if r.Room == nil {
		return 1 << 20
	}
	return r.Room()
}

func (r *Reconciler) sliceSize() int {
	if r.sweep.size == 0 {
		r.sweep.size = 4 * r.concurrency()
	}
	return r.sweep.size
}

// Slice looks at the zones that are due by now, as many as go in a moment, and
// does for them what a run does. It reports whether the sweep has come around with
// it. There is no report where no zone was due before the end of the round.
func (r *Reconciler) Slice(ctx context.Context) (report *Report, round bool) {
	s, fleet := &r.sweep, r.fleetOf(*r.inForce)
	size := r.sliceSize()
	// With room for what heals a zone too: a slice must not come to wait for the budget.
	stops, all := s.due(fleet.ring(), max(1, min(size, (r.room()-1)/requestsPerZone)))
	if first := s.begun.IsZero(); first || len(stops) > 0 {
		now := r.Now()
		if first {
			s.begun = now
		}
		ran := r.Run(ctx, Order{Trigger: TriggerSweep, slice: &slice{fleet.at(stops), first, s.begun}})
		report = &ran
		s.note(report, now)
		if !report.looked {
			if first {
				s.begun = time.Time{}
			}
			return report, false
		}
		if len(stops) >= size {
			s.size = nextSize(size, report.Finished.Sub(now), r.concurrency())
		}
	}
	round = s.pass(stops, all)
	if round {
		s.begun, s.caughtUp = time.Time{}, true
		r.forgetRulesets()
		if r.newest != nil && len(desired.Errors(r.newest.problems)) > 0 {
			r.newest = nil // what tripped over a bound may do on a quieter machine
		}
	}
	if s.rest = (time.Time{}); all {
		s.restFor(r.Now(), s.turn(r.Sweep, s.at))
	}
	if err := r.keepCursor(ctx, ctx.Err() != nil); err != nil && report != nil {
		report.Err = errors.Join(report.Err, err)
	}
	return report, round
}

// overtaken reports whether another process, a seawall apply, has accepted a commit
// that is not the one in force here: a slice would undo what that has done.
func (r *Reconciler) overtaken(ctx context.Context) bool {
	if r.Good == nil || r.inForce.Commit == "" {
		return false
	}
	good, ok, err := r.Good.Good(ctx)
	return err != nil || ok && good != r.inForce.Commit
}

// nextSize is how many zones the next slice should have, after one that took a
// time.
func nextSize(size int, took time.Duration, concurrency int) int {
	next := 2 * size
	if took > 0 {
		next = min(next, int(float64(size)*float64(sliceTime)/float64(took)))
	}
	return min(max(next, size/2, concurrency), mostPerSlice*concurrency)
}

// restFor lets some time pass before the next slice: a little more or less than
// last time, so that daemons that began together do not stay together.
func (s *sweeping) restFor(now time.Time, turn time.Duration) {
	rest := min(turn/slicesPerTurn, longestRest)
	s.rest = now.Add(time.Duration(float64(rest) * (0.8 + 0.4*rand.Float64())))
}

// firstPause and longestPause bound how long the sweep pauses after it has failed:
// twice as long each time.
const (
	firstPause   = 30 * time.Second
	longestPause = 15 * time.Minute
)

// note learns from a slice.
func (s *sweeping) note(report *Report, now time.Time) {
	for _, result := range report.Results {
		if c := result.Change; c.Kind == diff.KindDeployment && result.Outcome != NotStarted {
			if s.touched == nil {
				s.touched = map[edge.ZoneID]touch{}
			}
			s.touched[c.ZoneID] = touch{now, c.Direction == diff.Weakens || s.touched[c.ZoneID].weakens}
		}
	}
	if report.looked && !down(report) {
		s.failures = 0
		return
	}
	s.failed(now)
}

// failed has the sweep pause: longer each time in a row.
func (s *sweeping) failed(now time.Time) {
	s.pause = now.Add(min(firstPause<<min(s.failures, 10), longestPause))
	s.failures++
}

// down reports whether the platform did not answer for any zone of a slice.
func down(report *Report) bool {
	unavailable := map[edge.ZoneID]bool{}
	for _, p := range report.Plan.Problems {
		if errors.Is(p.Err, edge.ErrUnavailable) {
			unavailable[p.ZoneID] = true
		}
	}
	return len(unavailable) > 0 && len(unavailable) == report.Plan.Summary.Zones
}

// touched are the zones that count for limits beside those of a run: what the sweep
// has changed within an interval, and what a limit holds back from it. A push is
// judged by itself, with what is held back.
func (r *Reconciler) touched(order Order, commit string) map[edge.ZoneID]bool {
	over := r.delayed.overLimit()
	pushed := r.inForce == nil || r.inForce.Commit != commit
	if order.slice == nil && (len(over) == 0 || pushed) {
		return nil
	}
	s, now := &r.sweep, r.Now()
	for zone, t := range s.touched {
		if now.Sub(t.at) >= s.interval.at(r.Sweep, now) {
			delete(s.touched, zone)
			continue
		}
		over[zone] = t.weakens || over[zone]
	}
	return over
}

// LookNow makes every zone due, those first that would have been next.
func (r *Reconciler) LookNow() {
	s := &r.sweep
	s.start, s.passed, s.behind, s.begun = s.next(), 0, 1, time.Time{}
	s.pause = time.Time{}
}

// resume finds out what an earlier process has left to do. It returns the state
// that was acted on, or nil where everything must be looked at, together: nothing
// was accepted yet, or it costs little.
func (r *Reconciler) resume(ctx context.Context, memory Recollection, state desired.State) *desired.State {
	s, now := &r.sweep, r.Now()
	s.kept, s.keptAt = memory.Cursor, now
	if r.Sweep == nil || r.Budget.Requests == 0 || sweepRequests(state)*startWhole <= int64(r.Budget.Requests) {
		return nil
	}
	base, err := r.lastGood(ctx)
	if err != nil {
		return nil // a run that needs it says so
	}
	done := memory.Cursor.Commit != "" && memory.Cursor.Commit == base.Commit
	if !done && len(r.Guards.Rules) > 0 {
		return nil // what is missing is to be judged as one
	}
	s.wheel = wheel{start: memory.Cursor.Phase, at: now, behind: 1}
	if s.caughtUp = done; done {
		s.behind, s.at = 0, memory.Cursor.At
		s.turnTo(now, s.turn(r.Sweep, now))
	}
	return &base
}

// wholeRun notes that everything was looked at: the next round begins.
func (r *Reconciler) wholeRun(failed bool) {
	s := &r.sweep
	s.passed, s.behind, s.at, s.begun = 0, 0, r.Now(), time.Time{}
	if s.caughtUp = !failed; failed {
		s.behind = 1
	}
}

// keepCursor writes down how far the sweep has come: now and then, at once where the
// process stops, and where a commit came to be done, or has something left to do.
func (r *Reconciler) keepCursor(ctx context.Context, stops bool) error {
	s := &r.sweep
	if r.Sweep == nil || r.Memory == nil || r.inForce == nil {
		return nil
	}
	now := r.Now()
	c := Cursor{Phase: s.next(), At: s.since(s.turn(r.Sweep, now))}
	if s.caughtUp && r.nothingWaits() {
		c.Commit = r.inForce.Commit
	}
	if c.Commit == s.kept.Commit && !stops && now.Sub(s.keptAt) < keepEvery {
		return nil
	}
	ctx, cancel := lingering(ctx, grace)
	defer cancel()
	return r.keep(ctx, c)
}

func (r *Reconciler) keep(ctx context.Context, c Cursor) error {
	if err := r.Memory.Keep(ctx, c); err != nil {
		return fmt.Errorf("remembering how far the sweep has come: %w", err)
	}
	r.sweep.kept, r.sweep.keptAt = c, r.Now()
	return nil
}

// openCursor says that a commit is about to be acted on, before it is accepted: a
// process that dies meanwhile must not leave what looks done.
func (r *Reconciler) openCursor(ctx context.Context, commit string) error {
	if r.Sweep == nil || r.Memory == nil || r.sweep.kept.Commit == "" || r.sweep.kept.Commit == commit {
		return nil
	}
	c := r.sweep.kept
	c.Commit = ""
	return r.keep(ctx, c)
}

// nothingWaits reports whether a new process would miss nothing if it looked at no
// more than what changes from here.
func (r *Reconciler) nothingWaits() bool {
	return r.actedOn != nil && r.inForce.Commit == r.actedOn.Commit && len(r.pending) == 0 && len(r.pendingTokens) == 0 &&
		len(r.delayed.zones) == 0 && len(r.delayed.tokens) == 0 && (len(r.sweep.touched) == 0 || len(r.Guards.Rules) == 0)
}
