package review

import (
	"context"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// strict accepts an update of a rule to what it is, and nothing else.
type strict struct {
	edge.DryRunner
	asked int
}

func (s *strict) Try(_ context.Context, w edge.Write) error {
	s.asked++
	if w.Rules[0].ActionParameters.Overrides == nil {
		return nil
	}
	return &edge.Error{Status: 400, Details: []edge.ErrorDetail{{Code: edge.CodeNotEntitled, Message: "not entitled to overrides"}}}
}

// A pull request of the project is tried with the platform, and the comment says what it
// would not accept. One from a fork is not: what strangers write is sent nowhere.
func TestReviewTriesAMerge(t *testing.T) {
	for _, fork := range []bool{false, true} {
		f := newFixture(t, 1)
		runner := &strict{}
		f.DryRuns = zone.DryRuns{Lanes: reconcile.OneLane(reconcile.Lane{DryRunner: runner}), Concurrency: 1, Careful: true}
		f.converge("main", fleetZone(1, core()))
		f.open(1, "p1", fleetZone(1, core("xss")))
		f.forge.pulls[0].Fork = fork
		f.round()
		comment := f.forge.comments[1]
		said := strings.Contains(comment, "not entitled to overrides") && strings.Contains(comment, "asked about 1 change")
		if said == fork || (runner.asked == 2) == fork || (runner.asked == 0) != fork {
			t.Errorf("fork %v: %d dry runs, comment:\n%s", fork, runner.asked, comment)
		}
	}
}
