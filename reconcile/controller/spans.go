package controller

import (
	"cmp"
	"context"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/trace"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// accepted is the look at git in which the newest commit was accepted. The work on zones
// that it asks for comes later, in traces of its own: each is linked to it.
type accepted struct {
	commit string
	look   trace.Origin
}

// beginSpan begins the span of a look at a zone. It is called as soon as its task is known.
func (w *zoneWork) beginSpan(ctx context.Context, l *look) context.Context {
	ctx, l.span = trace.Start(ctx, trace.Zone)
	if !l.span.Recorded() {
		return ctx
	}
	zone, account := l.task.Zone(), l.task.Account()
	l.span.Text(trace.ZoneID, zone.Scope.ID)
	l.span.Text(trace.ZoneName, zone.Key)
	l.span.Text(trace.AccountID, string(account.ID))
	l.span.Text(trace.AccountName, account.Key)
	l.span.Text(trace.Credential, w.Credential)
	l.span.Text(trace.Commit, l.generation.State.Commit)
	l.span.Text(trace.Priority, l.item.Priority.String())
	l.span.Text(trace.Reason, l.item.Reason)
	if !l.item.Since.IsZero() {
		l.span.Took(trace.Waited, l.began.Sub(l.item.Since))
	}
	if from := w.lanes.accepted.Load(); l.commit && from != nil && from.commit == l.generation.State.Commit {
		l.span.Link(from.look)
	}
	return ctx
}

// tellSpan says in the span what the look has come to, by the words of seawall status.
func (l *look) tellSpan(decisions []inspect.Decision) {
	if !l.span.Recorded() {
		return
	}
	outcome := inspect.InSync
	if len(decisions) > 0 {
		outcome = decisions[0].Outcome
	}
	l.span.Text(trace.Outcome, string(outcome))
	l.span.Count(trace.Changes, len(l.plan.Changes))
}

// endSpan ends it.
func (l *look) endSpan() {
	if l.span.Recorded() {
		err, _ := l.failure()
		l.span.End(err)
	}
}

// tellGuarded ends the span of the guards of a plan.
func tellGuarded(span trace.Span, plan diff.Plan, verdict control.Verdict) {
	if !span.Recorded() {
		return
	}
	refused := 0
	for _, c := range plan.Changes {
		if c.Refused != nil {
			refused++
		}
	}
	span.Count(trace.Refused, refused)
	switch verdict {
	case control.Superseded:
		span.Text(trace.Outcome, "a newer commit declares the zone otherwise")
	case control.Counting:
		span.Text(trace.Outcome, "how much the commit changes is not known yet")
	case control.Act:
	}
	span.End(nil)
}

// tellDecided ends the span of a decision about a commit.
func tellDecided(span trace.Span, p reconcile.Proposal, d control.Decision, err error) {
	outcome := "nothing new"
	switch {
	case d.Held != nil:
		outcome = "held"
		span.Text(trace.Reason, d.Held.Reason)
	case d.Accepted != nil:
		outcome = "accepted"
		span.Count(trace.Zones, len(d.Due))
	}
	span.Text(trace.Outcome, outcome)
	span.Text(trace.Commit, p.Commit)
	span.End(err)
}

// tellTokens ends the span of the work on tokens.
func tellTokens(span trace.Span, g *control.Generation, o token.Outcome) {
	if !span.Recorded() {
		return
	}
	span.Text(trace.Commit, g.State.Commit)
	span.Count(trace.Changes, len(o.Plan.Changes))
	err := o.Err
	for _, r := range o.Results {
		err = cmp.Or(err, r.Err)
	}
	span.End(err)
}
