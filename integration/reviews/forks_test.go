package reviews

import (
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"

	forges "github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/forge/forgetest"
)

// A fork of a stranger waits until a label asks for its plan; the branch goes on beside it.
func TestForkWaitsForAPerson(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, forges.GitLab, 2, "@every 1s")
	r.forge.Restrict("mallory")
	r.Repo.Commit("edge.cue", harness.Declare(2, 25))
	head := r.head("edge.cue", harness.Declare(2, 26))
	r.forge.Open(forgetest.Pull{Number: 1, Author: "mallory", Fork: true})
	r.Start()
	r.Poll("what it waits for is told", func() bool { return strings.Contains(r.comment(), "no plan yet") && r.marked(head) == "pending" })
	if text := r.comment(); !strings.Contains(text, "label `seawall-plan`") || !strings.Contains(text, "comment `seawall plan`") {
		t.Errorf("the comment:\n%s", text)
	}
	r.forge.Set(1, func(p *forgetest.Pull) { p.Labels = []string{"seawall-plan"} })
	r.Poll("the plan is told", func() bool {
		return strings.Contains(r.comment(), "2 to change") && r.marked(head) == "pending success"
	})
	r.Signal(syscall.SIGTERM)
	r.WantEnd(0)
}

// An approval whose review is dismissed before the merge releases nothing, and both are in
// the history.
func TestDismissedReviewReleasesNothing(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, forges.GitHub, "")
	g.begin()
	head := g.proposed(30)
	review := g.forge.Review(1, "ana", "APPROVED")
	g.Poll("the approval is on record", func() bool { return len(g.Logged("a plan was approved by a review")) > 0 })
	g.forge.Dismiss(review)
	g.Poll("the approval is withdrawn", func() bool { return len(g.Logged("an approval was withdrawn")) > 0 })
	g.merge(head)
	g.Poll("the merge is told as a failure", func() bool { return strings.HasSuffix(g.marked(head), "pending failure") })
	g.settle()
	if got := g.threshold(); got != 25 {
		t.Errorf("the threshold is %d", got)
	}
	harness.Run(t, nil, "history", "--config", g.ConfigFile()).Want(t, 0, "approve", "withdraw", "the review of pull request 1 by ana was taken back")
	g.Signal(syscall.SIGTERM)
	g.WantEnd(0)
}
