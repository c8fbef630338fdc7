package controller

import (
	"errors"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// mostText bounds how long a reason may be, in characters: errors may hold what a server has
// answered.
const mostText = 1000

// mostHint bounds what a person is to declare so that a skip rule is accepted: an expression, which
// the platform takes up to 4,096 characters long, must be whole.
const mostHint = 6000

// countedElsewhere is why nothing of a commit is written that another process counts.
const countedElsewhere = "the replica with the lease commits reads and counts all zones of the commit before any replica writes one"

// decide says what was decided in a look: nothing where the zone is as declared now.
// differs says that something is known not to be.
func decide(l *look) (decisions []inspect.Decision, differs bool) {
	if l.counting {
		reason := "Seawall reads and counts all zones of the commit before it writes any"
		if l.theirs {
			reason = countedElsewhere
		}
		return []inspect.Decision{{Stage: inspect.StageGuard, Outcome: inspect.Pending, Guard: diff.GuardLimit, Reason: reason}}, len(l.plan.Changes) > 0
	}
	if err := l.sight.Err(); errors.Is(err, edge.ErrUnauthenticated) {
		return []inspect.Decision{{Stage: inspect.StageRead, Outcome: inspect.Unknown, Reason: bounded(err.Error())}}, false
	}
	for _, p := range l.plan.Problems {
		decisions = append(decisions, ofProblem(p))
	}
	results := map[diff.ID]reconcile.Result{}
	for _, r := range l.results {
		results[r.Change.ID()] = r
	}
	for _, c := range l.plan.Changes {
		result, sent := results[c.ID()]
		if sent && result.Outcome == reconcile.Converged {
			continue
		}
		differs = true
		decisions = append(decisions, ofChange(c, result, sent))
	}
	if l.unrecorded != nil {
		decisions = append(decisions, inspect.Decision{
			Stage: inspect.StageProve, Outcome: inspect.Failed, Reason: bounded("the result could not be recorded: " + l.unrecorded.Error()),
		})
	}
	return decisions, differs
}

// ofProblem is what was decided where no change could be planned.
func ofProblem(p diff.Problem) inspect.Decision {
	d := inspect.Decision{
		Kind: p.Kind, Deployment: p.Deployment, Stage: inspect.StagePlan, Outcome: inspect.Blocked, Reason: bounded(p.Line()), Release: bounded(p.Hint),
	}
	switch p.State {
	case diff.Unknown:
		d.Stage, d.Outcome = inspect.StageRead, inspect.Unknown
	case diff.Forbidden:
		d.Stage, d.Outcome = inspect.StageRead, inspect.Forbidden
	case diff.NotDeployed:
		d.Outcome = inspect.NotDeployed
	case diff.Undecided:
		d.Outcome = inspect.Undecided
	case diff.Bypassed:
		d.Outcome, d.Release = inspect.Bypassed, boundedTo(mostHint, p.Hint)
	case diff.Refused:
		d.Stage, d.Outcome = inspect.StageGuard, inspect.Refused
	default: // blocked
	}
	return d
}

// ofChange is what was decided about a change that was not made, or not proved.
func ofChange(c diff.Change, result reconcile.Result, sent bool) inspect.Decision {
	d := inspect.Decision{Kind: c.ID().Kind, Deployment: c.Deployment, Stage: inspect.StageWrite, Outcome: inspect.Pending}
	switch {
	case c.Refused != nil:
		return ofRefusal(d, *c.Refused)
	case !sent:
		d.Reason = "the change was planned but not sent"
	case result.Outcome == reconcile.NonConvergent:
		d.Stage, d.Outcome = inspect.StageProve, inspect.NonConvergent
		d.Reason, d.Release = diff.NotKept(result.Left)
		d.Reason, d.Release = bounded(d.Reason), bounded(d.Release)
		if !result.Next.IsZero() {
			d.Reason += "; next try at " + result.Next.UTC().Format(time.RFC3339)
		}
	case errors.Is(result.Err, reconcile.ErrPutBack):
		d.Reason, d.Release = diff.ReasonPutBack, diff.ReleasePutBack
	case errors.Is(result.Err, reconcile.ErrSuperseded):
		d.Reason = "a newer commit changes it; nothing was sent"
	case result.Outcome == reconcile.NotStarted && result.Err != nil:
		d.Reason = bounded(result.Err.Error())
	case result.Outcome == reconcile.NotStarted:
		d.Reason = "the daemon was stopped before the change was sent"
	default:
		d.Outcome, d.Reason = inspect.Failed, "the change failed or could not be proved"
	}
	if result.Err != nil && d.Outcome == inspect.Failed {
		d.Reason = bounded(result.Err.Error())
	}
	return d
}

// ofRefusal is what a guard has decided.
func ofRefusal(d inspect.Decision, r diff.Refusal) inspect.Decision {
	d.Stage, d.Guard, d.Reason, d.Release = inspect.StageGuard, r.Guard, bounded(r.Reason), bounded(r.Release)
	d.Approve, d.Until, d.Outcome = r.Digest, r.Until, inspect.Refused
	switch {
	case r.Guard == diff.GuardNonConvergent:
		d.Outcome = inspect.NonConvergent
	case r.Observed():
		d.Outcome = inspect.Observed
	case r.PutBack():
		d.Outcome = inspect.PutBack
	case r.Guard == diff.GuardOvertaken, r.WaitsForTime():
		d.Outcome = inspect.Waiting
	}
	return d
}

func bounded(text string) string { return boundedTo(mostText, text) }

func boundedTo(most int, text string) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "…"
}

// ofToken is the outcome of a token about which nothing can be planned: the word that a plan
// has for it.
func ofToken(s diff.ProblemState) inspect.Outcome {
	switch s {
	case diff.Unknown, diff.Forbidden, diff.Undelivered, diff.Blocked, diff.Quarantined:
		return inspect.Outcome(s)
	default: // a person decides
		return inspect.Refused
	}
}

// fixOf is what a person can do about a commit that is held: what the error advises, or to
// take the commit back.
func fixOf(p reconcile.Proposal, held reconcile.Held) string {
	var advised interface{ Advice() string }
	if errors.As(p.Err, &advised) && advised.Advice() != "" {
		return bounded(advised.Advice())
	}
	if p.Commit == "" {
		return ""
	}
	fix := "git revert " + p.Commit[:min(len(p.Commit), 12)] + " and push, or "
	if p.Err == nil && len(held.Problems) == 0 { // it declares too little
		return fix + "release it: seawall apply --allow-shrink"
	}
	if slices.ContainsFunc(held.Problems, func(p desired.Problem) bool { return p.Ended }) {
		fix = "Seawall evaluates it again by itself, first after a minute; if it stays held, " + fix
	}
	return fix + "push a commit that corrects it"
}
