package guard

import (
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// What guards do not know is refused by each of them that could let it pass by mistake, and by
// all together.
func TestUnknownIsRefused(t *testing.T) {
	unknown := difftest.FleetChange(1, diff.Weakens)
	unknown.Kind, unknown.Scope = "list", edge.Scope{}
	facts := Facts{
		Rules:   []Rule{{Name: "few", Labels: Labels{"tier": "gold"}, Weakening: &Limit{Count: new(int)}, Approve: ApproveWeakening}},
		Freezes: []Freeze{{Name: "gold", Labels: Labels{"tier": "gold"}}},
		Observe: []Observe{{Setting: "observe", Labels: Labels{"tier": "gold"}}},
	}
	for _, level := range []edge.Level{"", "list"} {
		c := unknown
		c.Scope = edge.Scope{Level: level, ID: "1"}
		other := c
		other.Scope.ID = "2"
		if level != "" && c.ApprovalDigest() == other.ApprovalDigest() {
			t.Errorf("level %q: two have one digest", level)
		}
		if got := Check(diff.Plan{Changes: []diff.Change{c}}, Facts{}).Changes[0].Refused; got == nil || got.Guard != diff.GuardUnknown {
			t.Errorf("all guards, level %q: %+v", level, got)
		}
	}
	for name, refused := range map[string]bool{
		"hold":     refuseHeld(unknown, facts) != nil,
		"wave":     refuseEarly(unknown, facts) != nil,
		"freeze":   refuseFrozen(unknown, facts) != nil,
		"observe":  refuseObserved(unknown, facts) != nil,
		"limit":    len(facts.exceeded([]diff.Change{unknown})) == 1,
		"approval": len(facts.unapproved([]diff.Change{unknown})) == 1,
		"worsened": facts.Worsened(difftest.FleetChange(1, diff.Neutral), unknown) != nil,
	} {
		if !refused {
			t.Errorf("%s lets it pass", name)
		}
	}
}
