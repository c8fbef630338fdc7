package daemon

import (
	"context"
	"net/http"
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
	if !heart.Waits(id, digest) {
		return "", page.NotWaiting
	}
	author, err := a.author(ctx, heart, id)
	if err != nil {
		return "", err
	}
	if isAuthor(who.Name, author) {
		return "", &page.RefusedError{
			Status: http.StatusForbidden, Reason: "the author of a commit approves no change of it", Hint: "ask another operator, or a reviewer of the pull request",
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
	a.log.Info("a person approves a change", "zone", zone.Key, "digest", digest, "by", who.Name)
	return "the change of " + cli.OneLine(zone.Key) + " is approved", nil
}

// author is who wrote the commit that declares a zone as it is not proved yet; empty where
// that is not known, and for drift, for which no one has asked.
func (a *actions) author(ctx context.Context, heart *controller.Controller, id edge.Scope) (author string, err error) {
	state, _ := heart.InForce()
	if !heart.CommitWork(id) {
		return "", nil
	}
	given, err := a.memory.Given(ctx)
	if err != nil {
		return "", err
	}
	commit := state.Commit
	if g, known := given[id]; known {
		commit = g.Commit
	}
	_, err = a.memory.History(ctx, reconcile.HistoryFilter{Commit: commit}, func(e reconcile.Entry) error {
		if e.Kind == reconcile.EntryCommit && e.Asked.Commit == commit {
			author = e.Asked.Author
		}
		return nil
	})
	return author, err
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
