package zone

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/trace"
	"github.com/seawall-dev/seawall/reconcile"
)

// visit applies the changes of one zone. The read that proves one change is the
// check before the next, because a write moves the version.
type visit struct {
	*Worker
	Task
	sight  Sight
	reread bool       // the sight is another than the one that the plan was made from
	calls  int        // to the platform, for the change at work
	phase  edge.Phase // of the place of the change at work

	settledNow []diff.Settled // by the plan that was made last
}

// change makes one write and proves it. Once it is sent it is finished even when
// everything is told to stop.
func (v *visit) change(stopped context.Context, planned diff.Change) reconcile.Result {
	v.phase = ruleOf(planned).Target.Phase
	if v.Now().Sub(v.place().At) > freshEnough(planned) {
		switch err := v.read(stopped); {
		case err != nil && stopped.Err() != nil:
			return reconcile.Result{Change: planned, Outcome: reconcile.NotStarted}
		case err != nil:
			return failed(planned, err)
		}
	}
	switch err := v.named().Confirm(stopped, v.Account(), v.Zone()); {
	case err != nil && stopped.Err() != nil:
		return reconcile.Result{Change: planned, Outcome: reconcile.NotStarted}
	case err != nil:
		return failed(planned, err)
	}
	ctx, cancel := reconcile.Lingering(stopped)
	defer cancel()
	now, result := v.stillPlanned(planned)
	switch {
	case result != nil:
		return v.settled(ctx, *result)
	case stopped.Err() != nil:
		return reconcile.Result{Change: now, Outcome: reconcile.NotStarted}
	}
	if now, result = v.claim(ctx, stopped, planned, now); result != nil {
		return *result
	}
	return v.ended(ctx, v.write(ctx, stopped, now))
}

// permit asks whether a change may be sent now. It returns the result where it may not.
func (v *visit) permit(ctx context.Context, planned, now diff.Change) *reconcile.Result {
	refusal, err := v.Gate.Permit(ctx, v.Task, planned, now)
	var elsewhere *reconcile.ElsewhereError
	switch {
	case errors.Is(err, reconcile.ErrSuperseded) || errors.As(err, &elsewhere):
		return &reconcile.Result{Change: now, Outcome: reconcile.NotStarted, Err: err}
	case err != nil:
		result := failed(now, err)
		return &result
	case refusal != nil:
		now.Refused = refusal
		return &reconcile.Result{Change: now, Outcome: reconcile.NotStarted}
	}
	return nil
}

// write sends a change and reads it back. A write of unknown outcome that turns
// out to have had no effect is sent once more, if it still may be.
func (v *visit) write(ctx, stopped context.Context, c diff.Change) reconcile.Result {
	concurrent, first := false, c
	var before error // of the first try
	for try := 1; ; try++ {
		answer, sent, err := v.send(ctx, stopped, c)
		switch {
		case !sent && stopped.Err() != nil:
			return unsent(c, before)
		case errors.Is(err, reconcile.ErrSuperseded): // of the gate or of the lease, before any try that the platform has taken
			return reconcile.Result{Change: c, Outcome: reconcile.NotStarted, Err: err}
		}
		before = err
		v.calls++
		v.stale()
		unknown := errors.Is(err, edge.ErrOutcomeUnknown)
		result := failed(c, err)
		result.Concurrent = concurrent
		if !readTells(c, err) {
			result.NoEffect, result.Err = true, placed(c, err)
			return result
		}
		if readErr := v.readBack(ctx); readErr != nil {
			result.Err, result.Unproved = errors.Join(err, readErr), true
			return result
		}
		interfered := v.interfered(c, answer, unknown)
		concurrent = concurrent || interfered || overtaken(c, answer)
		result.Concurrent = concurrent
		left, proved, again := v.judge(c, try, unknown, interfered)
		switch {
		case proved != nil:
			proved.Concurrent = concurrent
			settled := v.settled(ctx, *proved)
			settled.Change = afterTries(first, settled.Change, try)
			return settled
		case again:
			if refused := v.permit(ctx, c, left); refused != nil {
				return *refused
			}
			c = left
		case err != nil:
			result.NoEffect = !unknown
			return result
		default:
			return v.notKept(ctx, reconcile.Result{Change: c, Left: left.Fields, Concurrent: concurrent}, left, interfered)
		}
	}
}

// judge plans a change that was sent anew from what was read. again says that what is left
// may be sent.
func (v *visit) judge(c diff.Change, try int, unknown, interfered bool) (left diff.Change, proved *reconcile.Result, again bool) {
	left, proved = v.replan(c)
	again = try == 1 && goesOn(c, left, unknown)
	if proved != nil || unknown || interfered || again {
		return left, proved, again
	}
	return v.overwrite(c, left)
}

// placed adds to the refusal of a body where it is declared: a subscription may not include
// it, or its expression may be wrong.
func placed(c diff.Change, err error) error {
	if c.Origin.IsZero() || !errors.Is(err, edge.ErrInvalid) {
		return err
	}
	return fmt.Errorf("%w; declared at %s", err, c.Origin)
}

// overtaken reports whether an answer shows that another client wrote to the entry point
// between what was read and our write.
func overtaken(c diff.Change, answer *edge.Ruleset) bool {
	return answer != nil && ruleOf(c).Target.EntryPoint != "" && answer.Version != next(c.Do().Seen())
}

// interfered reports whether the entry point was written to between our write
// and the read that followed it.
func (v *visit) interfered(c diff.Change, answer *edge.Ruleset, unknown bool) bool {
	switch now := v.place().Value.Version; {
	case answer != nil:
		return now != answer.Version
	case ruleOf(c).Target.EntryPoint == "":
		return false // there was no version before
	case unknown:
		return now != c.Do().Seen() && now != next(c.Do().Seen())
	default:
		return now != next(c.Do().Seen())
	}
}

// notKept is the result of a write after which something is left to change. It is
// remembered, so that it is not sent again at once, unless someone else may be the
// reason.
func (v *visit) notKept(ctx context.Context, result reconcile.Result, left diff.Change, interfered bool) reconcile.Result {
	if interfered {
		result.Outcome, result.Err = reconcile.Failed, errInterfered
		return result
	}
	result.Outcome = reconcile.NonConvergent
	news, err := v.Gate.NotKept(ctx, v.Task, left)
	if err != nil {
		result.Err = fmt.Errorf("remembering that the platform did not keep it: %w", err)
	}
	result.Again = !news
	return result
}

// settled remembers a result that has converged. One that cannot be remembered
// has failed: a later commit could not tell what of it was ours.
func (v *visit) settled(ctx context.Context, result reconcile.Result) reconcile.Result {
	if result.Outcome != reconcile.Converged {
		return result
	}
	c := result.Change
	result.Version = v.place().Value.Version
	proved := diff.Settled{ID: c.ID(), Owned: c.Do().Owned(), Removed: c.Action() == diff.ActionRemove}
	if i := slices.IndexFunc(v.settledNow, func(s diff.Settled) bool { return s.ID == c.ID() }); i >= 0 {
		proved = v.settledNow[i]
	}
	proved.Version = result.Version
	all := []diff.Settled{proved}
	for _, s := range v.settledNow {
		switch {
		case s.ID.OfOthers() && s.ID.Kind == c.ID().Kind: // with its last rule, the rules of others are as declared
			all = append(all, s)
		case s.ID.Ruleset != "" && c.ID().Kind.Skips(): // what acts on the deployment is not new to it
			all = append(all, s)
		}
	}
	if err := v.Gate.Proved(ctx, v.Task, all); err != nil {
		result.Outcome, result.Err = reconcile.Failed, err
	}
	return result
}

// readBack reads what was written, which is the proof.
func (v *visit) readBack(ctx context.Context) error {
	ctx, span := trace.Start(ctx, trace.Prove)
	err := v.read(ctx)
	span.Text(trace.Version, v.place().Value.Version)
	span.End(err)
	return err
}

func (v *visit) read(ctx context.Context) error {
	v.calls++
	places, err := readPlaces(ctx, v.Reader, v.Zone().Scope, []edge.Phase{v.phase}, v.Now)
	if err == nil {
		err = places.err()
	}
	if err != nil {
		v.stale()
		return reading(err)
	}
	v.sight.set(places[0])
	v.reread = true
	return v.versions(ctx, v.Task, &v.sight)
}

// place is the entry point of the change at work, as last read.
func (v *visit) place() Seen {
	seen, _ := v.sight.Places.Of(v.phase)
	seen.Phase = v.phase
	return seen
}

// stale forgets when the entry point of the change at work was read: it may be another by now.
func (v *visit) stale() {
	seen := v.place()
	seen.At = time.Time{}
	v.sight.set(seen)
}

// stillPlanned is a planned change as it is to be made now. It is planned anew only where
// the zone was read again: from what was seen once, the same comes out twice. Whether it
// may be sent is for the gate to say, in either case.
func (v *visit) stillPlanned(planned diff.Change) (diff.Change, *reconcile.Result) {
	if v.reread {
		return v.replan(planned)
	}
	planned.Approved = false // that is said of plans that have passed the guards
	return planned, nil
}

// replan plans a change anew from the entry point as last read. It returns the
// change that is to be made now or, where there is none, the result that says
// why: there is nothing left to change, or something stands in the way.
func (v *visit) replan(c diff.Change) (diff.Change, *reconcile.Result) {
	plan := guard.Check(v.Plan(v.Task, v.sight), guard.Facts{})
	v.settledNow = plan.Settled
	for _, now := range plan.Changes {
		switch {
		case now.ID() != c.ID():
		case now.Refused != nil:
			result := failed(now, errors.New(now.Refused.Reason))
			return c, &result
		default:
			return now, nil
		}
	}
	if slices.ContainsFunc(plan.Settled, func(s diff.Settled) bool { return s.ID == c.ID() }) {
		return c, &reconcile.Result{Change: c, Outcome: reconcile.Converged} // a problem may say that it has no effect
	}
	for _, problem := range plan.Problems {
		if problem.Kind == c.ID().Kind && problem.Deployment == c.Deployment {
			result := failed(c, errors.New(problem.Reason))
			return c, &result
		}
	}
	return c, &reconcile.Result{Change: c, Outcome: reconcile.Converged}
}

// next is the version after a write: versions are decimal numbers in text.
func next(version string) string {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return version
	}
	return strconv.FormatUint(n+1, 10)
}
