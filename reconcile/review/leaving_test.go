package review

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
)

// TestReviewShowsWhatLeaves: the comment names each zone that a head takes out of a guard,
// with a digest, and an approving review covers it. What base has taken out already is not
// of this pull request.
func TestReviewShowsWhatLeaves(t *testing.T) {
	f := newFixture(t, 3)
	f.approvedBy("alice")
	f.Guards.Rules = []guard.Rule{{Name: "gold", Labels: guard.Labels{"tier": "gold"}, Approve: guard.ApproveWeakening}}
	one, two := fleetZone(1, core("xss")), fleetZone(2, core("xss"))
	one.Labels, two.Labels = guard.Labels{"tier": "gold"}, guard.Labels{"tier": "gold"}
	f.converge("c1", one, two)
	two.Labels = nil
	inForce := stateOf("c2", one, two)
	f.inForce = &inForce
	one.Labels = nil
	f.open(1, "p1", one, two)
	f.round()
	text := f.forge.comments[1]
	if !strings.Contains(text, "zone-00001.example") || !strings.Contains(text, "leaves guards.gold (tier=gold)") || strings.Count(text, "leaves ") != 1 {
		t.Fatalf("comment\n%s", text)
	}
	record, err := f.records.Restore(t.Context())
	must.Do(t, err)
	leaving, _ := control.Departures(record, f.Guards, f.heads.commits["p1"].state)
	f.clock.Advance(time.Second)
	f.forge.approve(1, "p1", f.clock.Now(), "alice")
	f.round()
	if len(leaving) != 2 || !slices.ContainsFunc(f.records.approved, func(a reconcile.Approval) bool { return a.Digest == leaving[0].Digest }) ||
		!strings.Contains(text, leaving[0].Digest) {
		t.Errorf("approved %+v, and %+v leaves", f.records.approved, leaving)
	}
	if slices.ContainsFunc(f.records.approved, func(a reconcile.Approval) bool { return a.Digest == leaving[1].Digest }) {
		t.Error("what another commit takes out of a guard is approved as well")
	}
}
