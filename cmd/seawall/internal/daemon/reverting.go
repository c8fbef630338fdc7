package daemon

import (
	"context"
	"net/http"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/page"
)

// PlanRevert implements [page.Actions].
func (a *actions) PlanRevert(ctx context.Context, who login.Person, commit string) (string, error) {
	if !who.MayAll(login.Operator) {
		return "", page.ErrMayNot
	}
	commit, err := a.accepted(ctx, commit)
	if err != nil {
		return "", err
	}
	entry := ordered(reconcile.ActionRead, who, reconcile.Subject{})
	entry.Asked.Commit, entry.Reason = commit, "for the plan of a revert"
	if err := a.memory.Record(ctx, entry); err != nil {
		return "", err
	}
	ended, err := a.reverts.plan(who.Name, commit) //nolint:contextcheck // it goes on without the request
	if err != nil {
		return "", err
	}
	select {
	case <-ended:
		return "the revert of commit " + commit + " is planned", nil
	case <-time.After(planWait):
	case <-ctx.Done():
	}
	return "the revert of commit " + commit + " is being planned", nil
}

// accepted is the one commit of the history that begins so.
func (a *actions) accepted(ctx context.Context, start string) (commit string, err error) {
	several := false
	_, err = a.memory.History(ctx, reconcile.HistoryFilter{Commit: start}, func(e reconcile.Entry) error {
		if e.Kind == reconcile.EntryCommit {
			several = several || commit != "" && commit != e.Asked.Commit
			commit = e.Asked.Commit
		}
		return nil
	})
	switch {
	case err != nil:
		return "", err
	case several:
		return "", &page.RefusedError{Status: http.StatusBadRequest, Reason: "several commits begin with " + start, Hint: "give more of its digits"}
	case commit == "":
		return "", &page.RefusedError{Status: http.StatusNotFound, Reason: "the history has no commit " + start, Hint: "see the list of commits"}
	}
	return commit, nil
}

// Revert implements [page.Actions].
func (a *actions) Revert(ctx context.Context, who login.Person, commit, digest string) (string, error) {
	if !who.MayAll(login.Operator) {
		return "", page.ErrMayNot
	}
	said, begun, err := a.reverts.apply(who.Name, commit, digest)
	if err != nil {
		return "", err
	}
	a.tell(reconcile.ActionRevert, "commit "+commit, who)
	select {
	case err := <-begun:
		if err != nil {
			return "", err
		}
	case <-time.After(planWait):
	case <-ctx.Done():
	}
	return said, nil
}

// Reverting implements [page.Actions].
func (a *actions) Reverting() page.Reverting { return a.reverts.now() }
