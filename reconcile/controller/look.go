package controller

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/trace"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/queue"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// look is one look at a zone, from what is desired now to when to look again.
type look struct {
	item       queue.Item[edge.Scope]
	generation *control.Generation
	task       zone.Task
	began      time.Time
	commit     bool // the declaration was not proved yet: not drift
	counting   bool // read only to count what the commit changes
	theirs     bool // another process counts that
	sight      zone.Sight
	plan       diff.Plan
	results    []reconcile.Result
	unrecorded error // why what agrees could not be put on record
	span       trace.Span
}

// asked reports whether the platform was asked something in this look. Where the id of
// the zone is not known, or the account could not be listed just before, it was not: that
// says nothing new.
func (l *look) asked() bool {
	return !l.sight.Unnamed && (l.sight.Account.Listed.Err == nil || !l.sight.ListedAt.IsZero())
}

// answered reports whether the platform has answered something about the zone.
func (l *look) answered() bool { return l.sight.Failed() == nil }

// askedAt is when the last request about the zone was sent that the platform has answered; where
// it was written to since, that is not known, and it is when the look began.
func (l *look) askedAt() time.Time {
	at := l.began
	for _, seen := range l.sight.Places {
		if zone.Answered(seen.Err) && seen.At.After(at) {
			at = seen.At
		}
	}
	return at
}

// observed reports whether all of the zone could be read.
func (l *look) observed() bool { return l.sight.Whole() }

// refuseLate moves what a guard has refused since the plan, just before it was sent, from
// the results into the plan. Nothing was sent, so it is reported as any refusal is.
func (l *look) refuseLate() {
	changes := slices.Clone(l.plan.Changes)
	l.results = slices.DeleteFunc(l.results, func(result reconcile.Result) bool {
		if result.Outcome != reconcile.NotStarted || result.Change.Refused == nil {
			return false
		}
		for i := range changes {
			if changes[i].ID() == result.Change.ID() {
				changes[i].Refused = result.Change.Refused
			}
		}
		return true
	})
	l.plan = l.plan.WithChanges(changes)
}

// superseded reports whether a newer declaration has kept something from being sent.
func (l *look) superseded() bool {
	return slices.ContainsFunc(l.results, func(r reconcile.Result) bool { return errors.Is(r.Err, reconcile.ErrSuperseded) })
}

// elsewhere reports whether another process of Seawall, which writes to the zone, has kept
// something from being sent.
func (l *look) elsewhere() bool {
	return slices.ContainsFunc(l.results, func(r reconcile.Result) bool {
		_, elsewhere := errors.AsType[*reconcile.ElsewhereError](r.Err)
		return elsewhere
	})
}

// failed reports whether another try may help.
func (l *look) failed() bool {
	return l.unrecorded != nil ||
		slices.ContainsFunc(l.plan.Problems, func(p diff.Problem) bool { return p.State.Unread() }) ||
		slices.ContainsFunc(l.results, func(r reconcile.Result) bool {
			return r.Outcome == reconcile.Failed || r.Outcome == reconcile.NotStarted && r.Change.Refused == nil
		})
}

// failure is why the zone could not be read, written or recorded, nil where it could. What
// a guard refuses is none, nor is what a newer declaration has kept from being sent.
func (l *look) failure() (err error, ofAccount bool) {
	if name, ok := errors.AsType[*diff.NameError](l.sight.Err()); ok && l.sight.Unnamed {
		return name.Cause, true // else it is a mistake in the declaration
	}
	switch {
	case l.sight.Account.Listed.Err != nil:
		return l.sight.Account.Listed.Err, true
	case l.sight.Err() != nil:
		return l.sight.Err(), false
	case l.unrecorded != nil:
		return fmt.Errorf("%w: %w", reconcile.ErrState, l.unrecorded), false
	}
	for _, problem := range l.plan.Problems {
		if problem.State.Unread() && problem.Err != nil {
			return problem.Err, true
		}
	}
	for _, result := range l.results {
		if result.Outcome == reconcile.Failed && ofPlatformOrState(result.Err) {
			return result.Err, false
		}
	}
	return nil, false
}

// ofPlatformOrState reports whether a write failed for what may last, and not for what
// was found in the zone.
func ofPlatformOrState(err error) bool {
	if _, answer := errors.AsType[*edge.Error](err); answer || errors.Is(err, reconcile.ErrState) {
		return true
	}
	for _, is := range []error{edge.ErrUnavailable, edge.ErrOutcomeUnknown, edge.ErrUnreadable, edge.ErrThrottled, edge.ErrForbidden, edge.ErrUnauthenticated} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}
