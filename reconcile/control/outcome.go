package control

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Outcome is what became of one look at a zone.
type Outcome struct {
	Scope edge.Scope
	// Fingerprint is that of the declaration that was worked on. What became of one that is
	// not in force any more says nothing about the waves.
	Fingerprint string
	Plan        diff.Plan // guarded
	Results     []reconcile.Result
	// Ahead are earlier phases of the zone and of its account, as they were seen last.
	Ahead map[edge.Place]diff.Ahead
}

// Next says when a zone is to be read again, beside its turn in the sweep.
type Next struct {
	At    time.Time // zero: not before its turn
	Waits bool      // for a guard, and not because anything failed
}

// Note takes in what became of a zone: what it waits for, how its wave goes on, and
// which approvals are spent.
func (c *Control) Note(ctx context.Context, o Outcome) (Next, error) {
	recalled := c.recallSkipRules(ctx, o.Scope)
	c.mu.Lock()
	lease, _ := reconcile.LeaseIn(ctx)
	next, drift := c.state.note(o, lease), c.state.drift(o)
	rules, seen := c.state.skipRules(o)
	c.mu.Unlock()
	return next, errors.Join(recalled, c.RecordFailed(ctx, o.Results), c.recordFound(ctx, drift), c.recordSkipRules(ctx, o.Scope, rules, seen), c.spend(ctx, SpentBy(o)))
}

// NoteTokens takes in what became of the tokens. What they wait for is theirs alone: a
// hold or a wave is about zones.
func (c *Control) NoteTokens(ctx context.Context, o Outcome) error {
	c.mu.Lock()
	c.state.waiting.tokens = len(reasonsOf(o, diff.GuardLimit, diff.GuardApproval, diff.GuardFreeze, diff.GuardOvertaken)) > 0
	c.mu.Unlock()
	return c.spend(ctx, SpentBy(o))
}

func (s *state) note(o Outcome, lease reconcile.Lease) Next {
	reasons := reasonsOf(o, diff.GuardLimit, diff.GuardApproval, diff.GuardHold, diff.GuardReverted, diff.GuardFreeze, diff.GuardWave, diff.GuardOvertaken)
	g := s.current.Load()
	if g == nil || g.Declares(o.Scope) {
		s.waiting.set(o.Scope, reasons)
	} else {
		s.waiting.set(o.Scope, nil) // it was gone by then
	}
	if g != nil && g.declaration(o.Scope) == o.Fingerprint {
		s.rollout.note(o.Scope, zoneOutcome(o), lease)
	}
	next := Next{At: s.zones.of(o.Scope).again(s.now()), Waits: len(reasons) > 0}
	if until := reasons.until(); !until.IsZero() && (next.At.IsZero() || until.Before(next.At)) {
		next.At = until
	}
	return next
}

// reasonsOf are the refusals of an outcome by some guards.
func reasonsOf(o Outcome, guards ...diff.Guard) (reasons waitReasons) {
	for _, change := range refusedChanges(o) {
		if slices.Contains(guards, change.Refused.Guard) {
			reasons = append(reasons, waitReason{change.Refused.Guard, change.Refused.Until})
		}
	}
	return reasons
}

// refusedChanges are those that a guard holds back, before the write or at the last
// moment.
func refusedChanges(o Outcome) (refused []diff.Change) {
	for _, change := range o.Plan.Changes {
		if change.Refused != nil {
			refused = append(refused, change)
		}
	}
	for _, result := range o.Results {
		if result.Change.Refused != nil {
			refused = append(refused, result.Change)
		}
	}
	return refused
}

// severity orders the outcomes of the deployments of one zone: the last counts. A
// zone that waits for anything is not done, and one that failed has failed whatever
// else it waits for.
var severity = []reconcile.ZoneOutcome{
	reconcile.ZoneDone, reconcile.ZoneSkipped, reconcile.ZonePending, reconcile.ZoneFailed, reconcile.ZoneNonConvergent,
}

// zoneOutcome is what has become of a zone, for its wave.
func zoneOutcome(o Outcome) reconcile.ZoneOutcome {
	worst := reconcile.ZoneDone
	note := func(outcome reconcile.ZoneOutcome) {
		if slices.Index(severity, outcome) > slices.Index(severity, worst) {
			worst = outcome
		}
	}
	for _, problem := range o.Plan.Problems {
		switch {
		case problem.State.Unread():
			note(reconcile.ZoneFailed)
		case problem.Unfit: // else all such zones are written at once when a version comes that fits
			note(reconcile.ZonePending)
		default:
			note(reconcile.ZoneSkipped)
		}
	}
	results := map[subject]reconcile.Outcome{}
	for _, result := range o.Results {
		results[subjectOf(result.Change)] = result.Outcome
	}
	for _, change := range o.Plan.Changes {
		note(ofChange(change, results[subjectOf(change)]))
	}
	return worst
}

// subject is what a change of a zone or of a token is about. A zone may have several of one name:
// those are told by their refs.
type subject struct{ name, ref string }

func subjectOf(c diff.Change) subject { return subject{c.Name(), c.ID().Ref} }

func ofChange(c diff.Change, outcome reconcile.Outcome) reconcile.ZoneOutcome {
	if c.Refused != nil {
		switch c.Refused.Guard {
		case diff.GuardLimit, diff.GuardApproval, diff.GuardFreeze, diff.GuardWave, diff.GuardOvertaken:
			return reconcile.ZonePending
		default:
			return reconcile.ZoneSkipped
		}
	}
	switch outcome {
	case reconcile.Converged:
		return reconcile.ZoneDone
	case reconcile.Failed:
		return reconcile.ZoneFailed
	case reconcile.NonConvergent:
		return reconcile.ZoneNonConvergent
	default:
		return reconcile.ZonePending
	}
}
