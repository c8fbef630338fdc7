package controller

import (
	"context"
	"errors"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// state notes how something that needs the state folder has ended, and reports a failure.
// part is what was done.
func (r *reports) state(ctx context.Context, part string, err error) {
	if err == nil {
		r.c.Outages.Worked(reconcile.OutageState, "", part)
		return
	}
	r.c.Outages.Failed(reconcile.OutageState, "", part, err)
	r.failure(ctx, err)
}

// noteGit notes whether the source could be reached. A commit that is not acted on came from
// one that works.
func noteGit(t *outage.Tracker, p reconcile.Proposal) {
	if p.Err != nil && p.Commit == "" {
		t.Failed(reconcile.OutageGit, "", "fetch", p.Err)
	} else {
		t.Worked(reconcile.OutageGit, "", "fetch")
	}
}

// noteLook notes whether the zone could be read and written.
func noteLook(t *outage.Tracker, l *look) {
	err, ofAccount := l.failure()
	t.Zone(outage.Zone{
		Scope: l.item.Key, Name: l.task.Zone().Key, Account: l.task.Account().Key, OfAccount: ofAccount, Answered: l.answered(), Cached: !l.asked(),
	}, err)
}

// answered reports whether the platform has answered something about the zone.
func (l *look) answered() bool {
	err := l.sight.EntryPoint.Err
	return err == nil || errors.Is(err, edge.ErrEntryPointNotFound)
}

// failure is why the zone could not be read, written or recorded, nil where it could. What
// a guard refuses is none, nor is what a newer declaration has kept from being sent.
func (l *look) failure() (err error, ofAccount bool) {
	if name := (*diff.NameError)(nil); l.sight.Unnamed && errors.As(l.sight.EntryPoint.Err, &name) {
		return name.Cause, true // else it is a mistake in the declaration
	}
	switch {
	case l.sight.Account.Listed.Err != nil:
		return l.sight.Account.Listed.Err, true
	case !l.answered():
		return l.sight.EntryPoint.Err, false
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
	var answer *edge.Error
	if errors.As(err, &answer) || errors.Is(err, reconcile.ErrState) {
		return true
	}
	for _, is := range []error{edge.ErrUnavailable, edge.ErrOutcomeUnknown, edge.ErrUnreadable, edge.ErrThrottled, edge.ErrForbidden, edge.ErrUnauthenticated} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// noteTokens notes whether the credential for tokens, the ledger and the sinks have
// worked. It reports whether that is all that failed as a whole.
func noteTokens(t *outage.Tracker, o token.Outcome) (told bool) {
	switch {
	case o.Err == nil:
		t.Worked(reconcile.OutageCredential, outage.CredentialTokens, "tokens")
		t.Worked(reconcile.OutageState, "", "tokens")
	case errors.Is(o.Err, edge.ErrUnauthenticated):
		t.Failed(reconcile.OutageCredential, outage.CredentialTokens, "tokens", o.Err)
	case errors.Is(o.Err, context.Canceled):
		return false
	default:
		t.Failed(reconcile.OutageState, "", "tokens", o.Err)
	}
	if o.Err == nil {
		failing := map[string]error{}
		for _, result := range o.Results {
			var sink *reconcile.SinkError
			if errors.As(result.Err, &sink) {
				failing[sink.Sink] = result.Err
			}
		}
		t.Only(reconcile.OutageSink, "deliver", failing)
	}
	return o.Err != nil
}
