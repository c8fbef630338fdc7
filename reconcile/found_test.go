package reconcile

import (
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// What was changed without Seawall weakens where any member of it does, also where another
// strengthens: then what corrects it weakens, too.
func TestDirectionOfWhatWasFound(t *testing.T) {
	heals := func(fields ...diff.Direction) diff.Change {
		c := diff.Change{Zone: "shop", Scope: edge.ZoneScope("shop"), Direction: diff.Combine(fields...), Operation: diff.RuleOperation{Do: diff.ActionUpdate}}
		for _, d := range fields {
			c.Fields = append(c.Fields, diff.Field{Path: "enabled", Direction: d})
		}
		return c
	}
	for _, test := range []struct {
		heals diff.Change
		want  diff.Direction
	}{
		{heals(diff.Strengthens), diff.Weakens},
		{heals(diff.Weakens), diff.Strengthens},
		{heals(diff.Neutral), diff.Neutral},
		{heals(diff.Strengthens, diff.Weakens), diff.Weakens},
		{heals(diff.Weakens, diff.Neutral), diff.Strengthens},
	} {
		if got := FoundEntry(test.heals).Direction; got != test.want {
			t.Errorf("what a change corrects that %s: %s, want %s", test.heals.Direction, got, test.want)
		}
	}
}
