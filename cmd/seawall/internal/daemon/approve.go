package daemon

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/page"
)

// Approve implements [page.Actions].
func (a *actions) Approve(ctx context.Context, who login.Person, id edge.Scope, digest, reason string) (string, error) {
	heart, account, zone, err := a.zone(who, id)
	if err != nil {
		return "", err
	}
	waits, byCommit := heart.Waits(id, digest)
	if !waits {
		return a.approvedBefore(ctx, heart, zone.Key, id, digest)
	}
	var authors []string
	if byCommit {
		if authors, err = a.authors(ctx, heart, id); err != nil {
			return "", err
		}
	}
	if slices.ContainsFunc(authors, func(author string) bool { return isAuthor(who.Name, author) }) {
		return "", &page.RefusedError{
			Status: http.StatusForbidden, Reason: "the author of a commit cannot approve its changes", Hint: "ask another operator, or a reviewer of the pull request",
		}
	}
	approval := reconcile.Approval{
		Digest: digest, Kind: reconcile.Approved, Who: who.Name, Reason: reconcile.ReasonOnPage(reason), At: a.now(),
		Subject: reconcile.Subject{Account: account.Key, Zone: zone.Key, Scope: id},
	}
	if err := a.memory.Approve(ctx, []reconcile.Approval{approval}); err != nil {
		return "", err
	}
	heart.Heed()
	a.tell(reconcile.ActionApprove, zone.Key, who)
	return "the change of " + cli.OneLine(zone.Key) + " is approved", nil
}

// approvedBefore answers the same order once more, before the zone was looked at again.
func (a *actions) approvedBefore(ctx context.Context, heart *controller.Controller, zone string, id edge.Scope, digest string) (string, error) {
	standing, err := a.memory.Standing(ctx)
	if err != nil {
		return "", err
	}
	if digest == "" || !heart.Waited(id, digest) || !slices.ContainsFunc(standing.Approvals, func(a reconcile.Approval) bool { return a.Digest == digest }) {
		return "", page.ErrNotWaiting
	}
	return "the change of " + cli.OneLine(zone) + " is approved already", nil
}

// authors are who wrote the commit that gave a zone its declaration, and the one in force, where
// the history has them.
func (a *actions) authors(ctx context.Context, heart *controller.Controller, id edge.Scope) (authors []string, err error) {
	given, err := a.memory.Given(ctx)
	if err != nil {
		return nil, err
	}
	state, _ := heart.InForce()
	for _, commit := range []string{state.Commit, given[id].Commit} {
		if commit == "" {
			continue
		}
		_, err = a.memory.History(ctx, reconcile.HistoryFilter{Commit: commit}, func(e reconcile.Entry) error {
			if e.Kind == reconcile.EntryCommit && e.Asked.Commit == commit {
				authors = append(authors, e.Asked.Author)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return authors, nil
}

// isAuthor reports whether a person, "oidc:ada@example.com", is the author of a commit, "Ada
// <ada@example.com>", by what both say of themselves: by the address, or where the person has
// none by what stands before the @, or the name.
func isAuthor(person, author string) bool {
	_, name, _ := strings.Cut(person, ":")
	called, address, _ := strings.Cut(author, "<")
	called, address = strings.TrimSpace(called), strings.TrimSuffix(strings.TrimSpace(address), ">")
	if name == "" {
		return false
	}
	local, _, _ := strings.Cut(address, "@")
	return strings.EqualFold(name, address) || strings.EqualFold(name, called) || !strings.Contains(name, "@") && strings.EqualFold(name, local)
}
