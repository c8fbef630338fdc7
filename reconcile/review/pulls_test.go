package review

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// shownNow is what people see of the open pull requests, a line each.
func (f *fixture) shownNow() (lines []string) {
	for _, p := range f.pulls.list(f.clock.Now()).PullRequests {
		text := fmt.Sprint(p.Number, " ", p.Head, " ", p.Verdict, " ", p.Summary)
		if p.Problem != "" {
			text += " (" + p.Problem + ")"
		}
		lines = append(lines, text)
	}
	return lines
}

// A review is shown as on the forge, while its pull request is open.
func TestReviewsAreShown(t *testing.T) {
	f := newFixture(t, 2)
	changes := 0
	f.pulls.changed = func() { changes++ }
	f.converge("base", fleetZone(1, core("xss")))
	if list := f.pulls.list(f.clock.Now()); !list.LookedAt.IsZero() || len(list.PullRequests) != 0 {
		t.Errorf("before the first round: %+v", list)
	}
	f.open(7, "head", fleetZone(1, core("xss", "sqli")))
	f.round()
	one, ok := f.pulls.one(7)
	if !ok || one.Head != "head" || one.Plan != f.forge.comments[7] || one.ReviewedAt.IsZero() || one.Author != "dev" || one.Verdict != "success" {
		t.Errorf("after a round: %+v, want the plan\n%s", one, f.forge.comments[7])
	}
	if list := f.pulls.list(f.clock.Now()); list.LookedAt.IsZero() || len(list.PullRequests) != 1 || list.PullRequests[0].Plan != "" {
		t.Errorf("the list is %+v", list)
	}
	before := changes
	f.heads.failed[7], f.heads.at[7] = errors.New("too large: v4Secret-never"), ""
	f.round()
	if one, _ := f.pulls.one(7); one.Verdict != "failure" || !strings.Contains(one.Plan, "too large") || changes == before {
		t.Errorf("one that cannot be read: %+v", one)
	}
	f.forge.pulls = nil
	f.round()
	if got := f.shownNow(); len(got) != 0 {
		t.Errorf("one that is closed: %q", got)
	}
	if _, ok := f.pulls.one(7); ok {
		t.Error("one that is closed has a page")
	}
}

// Why a pull request has no review of its newest commit is said, beside the review before it.
func TestPullRequestsWithoutReview(t *testing.T) {
	f := newFixture(t, 1)
	f.converge("base", fleetZone(1, core("xss")))
	f.open(7, "head", fleetZone(1, core("xss", "sqli")))
	f.round()
	f.forge.pulls[0].Head = "newer"
	f.pulls.listed(f.forge.pulls, f.clock.Now())
	if one, _ := f.pulls.one(7); one.Head != "head" || one.Problem != "its newest commit is not reviewed yet" {
		t.Errorf("with a newer commit: %+v", one)
	}
	f.pulls.failed(7, "because")
	if one, _ := f.pulls.one(7); one.Problem != "because" || one.Plan == "" {
		t.Errorf("after a failure: %+v", one)
	}
}

// What strangers open, and how much of it, costs no more than a bound, and shows no secret.
func TestPullRequestsAreBounded(t *testing.T) {
	f := newFixture(t, 1)
	secret := edge.NewSecret("v4Secret-never-shown-0123456789abcdef0123")
	var open []reconcile.PullRequest
	for n := range inspect.MostRows + 5 {
		open = append(open, reconcile.PullRequest{Number: n + 1, Title: strings.Repeat("ü", 5000), Author: "x\ny"})
	}
	open[0].Title = "take " + secret.Reveal()
	f.pulls.listed(open, f.clock.Now())
	list := f.pulls.list(f.clock.Now())
	if len(list.PullRequests) != inspect.MostRows || list.LeftOut != 5 {
		t.Errorf("%d are listed, %d are left out", len(list.PullRequests), list.LeftOut)
	}
	for _, p := range list.PullRequests {
		if len(p.Title) > mostText || p.Author != "x y" || strings.Contains(p.Title, secret.Reveal()) {
			t.Fatalf("%+v", p)
		}
	}
	f.pulls.reviewed(1, "head", reconcile.CommitStatus{State: reconcile.StatusSuccess}, strings.Repeat("ü", mostShown)+secret.Reveal(), f.clock.Now())
	if one, _ := f.pulls.one(1); len(one.Plan) > mostShown+200 || !strings.Contains(one.Plan, "seawall plan") {
		t.Errorf("the plan has %d bytes", len(one.Plan))
	}
	f.pulls.dropPlans(nil)
	if one, _ := f.pulls.one(1); one.Plan != "" {
		t.Error("a pull request that is not reviewed any more has a plan")
	}
}
