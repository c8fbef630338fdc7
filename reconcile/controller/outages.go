package controller

import (
	"context"
	"errors"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/token"
)

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
		Scope: l.item.Key, Name: l.task.Zone().Key, Account: l.task.Account().Key, OfAccount: ofAccount, Answered: l.answered(), Asked: l.askedAt(), Cached: !l.asked(),
	}, err)
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
