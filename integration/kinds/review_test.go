package kinds_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
	"github.com/seawall-dev/seawall/reconcile/review"
)

// board is a forge with one pull request, whose comment it keeps. What else a forge does is
// not asked of it.
type board struct {
	review.Forge
	comment string
	status  reconcile.CommitStatus
}

func (b *board) PullRequests(context.Context) ([]reconcile.PullRequest, error) {
	return []reconcile.PullRequest{{Number: 7, Author: "dev", AuthorID: 7}}, nil
}

func (b *board) Comment(_ context.Context, _ int, _, body string) error {
	b.comment = body
	return nil
}

func (b *board) Status(_ context.Context, _ string, s reconcile.CommitStatus) error {
	b.status = s
	return nil
}

// heads is the head of that pull request.
type heads struct{ *reconciletest.Repo }

func (h heads) Fetch(context.Context, []int) (map[int]string, map[int]error, error) {
	return map[int]string{7: h.Head}, nil, nil
}

// review looks at the head of a repository once, beside a state in force.
func (f *fixture) review(repo *reconciletest.Repo, base desired.State, lane reconcile.Lane) *board {
	f.Helper()
	forge := &board{}
	must.Do(f.T, review.New(review.Config{
		Forge: forge, Heads: heads{repo}, Base: func() (desired.State, bool) { return base, true }, Records: f.records,
		Lanes: reconcile.OneLane(lane), Now: f.Now, Comments: true, Guards: f.guards,
	}).Round(f.Context()))
	return forge
}

// The plan of a pull request shows what a merge would do to a third kind, and what its guards
// say, and sends nothing.
func TestAPullRequestShowsAThirdKind(t *testing.T) {
	fleet := reconciletest.NewFleet(t, mem.Config{Seed: mem.Fleet(2), Profile: mem.Extended})
	repo := reconciletest.NewRepo()
	repo.Push("p1", ruled("ip.src eq 192.0.2.1")...)
	base := reconciletest.State("c1", ruled("")...)
	calls, forge, clock := reconciletest.Record(fleet.Platform), &board{}, reconciletest.NewClock()
	reviews := review.New(review.Config{
		Forge: forge, Heads: heads{repo}, Base: func() (desired.State, bool) { return base, true }, Records: &reconcile.Forgetful{},
		Lanes: reconcile.OneLane(reconcile.Lane{Reader: calls, Concurrency: 1}), Now: clock.Now, Comments: true,
		Guards: reconcile.Guards{Rules: []guard.Rule{{Name: "all", Approve: guard.ApproveAll}}},
	})
	must.Do(t, reviews.Round(t.Context()))
	for _, want := range []string{"2 zones: 2 refused", "toy admins", "192.0.2.1", "guards.all", "seawall apply --approve sha256:"} {
		if !strings.Contains(forge.comment, want) {
			t.Errorf("%q is not in\n%s", want, forge.comment)
		}
	}
	if forge.status.State != reconcile.StatusPending || !strings.Contains(forge.status.Description, "wait for an approval") {
		t.Errorf("status %+v", forge.status)
	}
	for _, call := range calls.Calls() {
		if !strings.HasPrefix(call, "GET ") {
			t.Errorf("it has sent %s", call)
		}
	}
	repo.Push("p2", ruled("")...)
	clock.Advance(time.Minute)
	must.Do(t, reviews.Round(t.Context()))
	if forge.status.State != reconcile.StatusSuccess {
		t.Errorf("a head that changes nothing: %+v\n%s", forge.status, forge.comment)
	}
}
