package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

const (
	// freshFor is how long a read may stand as the check before a write.
	freshFor = 60 * time.Second
	// grace is how long a write in flight, and its proof, may go on after the run
	// was told to stop.
	grace = 20 * time.Second
)

// errInterfered: what the run had written was written over before it could be
// proved. That says nothing about whether the platform keeps the change.
var errInterfered = errors.New("somebody else wrote to the entry point before the change could be proved")

// visit applies the changes of one zone. The read that proves one change is the
// check before the next, because a write moves the version.
type visit struct {
	*applier
	alone      desired.State // the part of the state that is about the zone
	entryPoint edge.Ruleset  // as last read
	at         time.Time     // when that was; zero once something was written since
}

// change makes one write and proves it. Once it is sent it is finished even when
// the run is told to stop.
func (v *visit) change(stopped context.Context, c diff.Change) Result {
	ctx, cancel := lingering(stopped, grace)
	defer cancel()
	if v.Now().Sub(v.at) > freshFor {
		if err := v.read(ctx); err != nil {
			return Result{Change: c, Outcome: Failed, Err: err}
		}
	}
	fresh, result := v.replan(c, v.facts)
	switch {
	case result != nil:
		return v.settled(ctx, *result)
	case stopped.Err() != nil:
		return Result{Change: fresh, Outcome: NotStarted}
	}
	if refusal := v.rules.Worsened(c, fresh); refusal != nil {
		return Result{Change: fresh, Outcome: Failed, Err: errors.New(refusal.Reason)}
	}
	refusal, err := v.late.refused(ctx, v.applier, fresh)
	switch {
	case err != nil:
		return Result{Change: fresh, Outcome: Failed, Err: err}
	case refusal != nil:
		v.log().WarnContext(ctx, "a change waits, though it was about to be made", "change", fresh.Name(), "reason", refusal.Reason)
		return Result{Change: fresh, Outcome: NotStarted}
	}
	return v.write(ctx, fresh)
}

// write sends a change and reads it back. A write of unknown outcome that turns
// out to have had no effect is sent once more.
func (v *visit) write(ctx context.Context, c diff.Change) Result {
	concurrent := false
	for try := 1; ; try++ {
		answer, err := v.Writer.UpdateRule(ctx, c.ZoneID, c.Target.EntryPoint, c.Target.Rule, c.Request.Body)
		v.at = time.Time{}
		unknown := errors.Is(err, edge.ErrOutcomeUnknown)
		if err != nil && !unknown {
			return Result{Change: c, Outcome: Failed, Err: err, Concurrent: concurrent}
		}
		if readErr := v.read(ctx); readErr != nil {
			return Result{Change: c, Outcome: Failed, Err: errors.Join(err, readErr), Concurrent: concurrent}
		}
		interfered := v.interfered(c, answer, unknown)
		concurrent = concurrent || interfered || answer != nil && answer.Version != next(c.Target.Version)
		left, result := v.replan(c, diff.Facts{})
		switch {
		case result != nil:
			result.Concurrent = concurrent
			return v.settled(ctx, *result)
		case unknown && try == 1:
			c = left
		case unknown:
			return Result{Change: c, Outcome: Failed, Err: err, Concurrent: concurrent}
		default:
			return v.notKept(ctx, Result{Change: c, Left: left.Fields, Concurrent: concurrent}, left, interfered)
		}
	}
}

// interfered reports whether the entry point was written to between our write
// and the read that followed it.
func (v *visit) interfered(c diff.Change, answer *edge.Ruleset, unknown bool) bool {
	switch now := v.entryPoint.Version; {
	case answer != nil:
		return now != answer.Version
	case unknown:
		return now != c.Target.Version && now != next(c.Target.Version)
	default:
		return now != next(c.Target.Version)
	}
}

// notKept is the result of a write after which something is left to change. It
// is remembered, so that it is not sent again, unless somebody else may be the
// reason.
func (v *visit) notKept(ctx context.Context, result Result, left diff.Change, interfered bool) Result {
	if interfered {
		result.Outcome, result.Err = Failed, errInterfered
		return result
	}
	result.Outcome = NonConvergent
	if v.Memory != nil {
		if err := v.Memory.NonConvergent(ctx, left.ID(), left.Fingerprint()); err != nil {
			result.Err = fmt.Errorf("remembering that the platform did not keep it: %w", err)
		}
	}
	return result
}

// settled remembers a result that has converged. One that cannot be remembered
// has failed: a later commit could not tell what of it was ours.
func (v *visit) settled(ctx context.Context, result Result) Result {
	if result.Outcome != Converged {
		return result
	}
	c := result.Change
	if err := v.settle(ctx, v.commit, []diff.Settled{{ID: c.ID(), Owned: c.Target.Owned}}); err != nil {
		result.Outcome, result.Err = Failed, err
	}
	return result
}

func (v *visit) read(ctx context.Context) error {
	at := v.Now()
	entryPoint, err := v.Reader.EntryPoint(ctx, v.zoneID())
	if err != nil {
		v.at = time.Time{}
		return fmt.Errorf("reading the zone again: %w", err)
	}
	v.entryPoint, v.at = entryPoint, at
	return nil
}

func (v *visit) zoneID() edge.ZoneID { return v.alone.Accounts[0].Zones[0].ID }

// replan plans a change anew from the entry point as last read. It returns the
// change that is to be made now or, where there is none, the result that says
// why: there is nothing left to change, or something stands in the way.
func (v *visit) replan(c diff.Change, facts diff.Facts) (diff.Change, *Result) {
	live := diff.Live{
		Accounts:    v.seen.live.Accounts,
		EntryPoints: map[edge.ZoneID]diff.Observed[edge.Ruleset]{c.ZoneID: {Value: v.entryPoint}},
	}
	p := diff.Guard(diff.Make(diff.Input{State: v.alone, Live: live, Applied: v.applied, Part: true}), facts)
	for _, fresh := range p.Changes {
		switch {
		case fresh.Deployment != c.Deployment:
		case fresh.Refused != nil:
			return c, &Result{Change: fresh, Outcome: Failed, Err: errors.New(fresh.Refused.Reason)}
		default:
			return fresh, nil
		}
	}
	for _, problem := range p.Problems {
		if problem.Deployment == c.Deployment {
			return c, &Result{Change: c, Outcome: Failed, Err: errors.New(problem.Reason)}
		}
	}
	return c, &Result{Change: c, Outcome: Converged}
}

// lingering returns a context that outlives ctx by d, so that what was begun can
// be finished.
func lingering(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	long, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-long.Done():
		}
	})
	return long, func() { stop(); cancel() }
}

// next is the version after a write: versions are decimal numbers in text.
func next(version string) string {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return version
	}
	return strconv.FormatUint(n+1, 10)
}
