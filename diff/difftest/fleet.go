package difftest

import (
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Noon is a time for guards that depend on one.
var Noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// FleetZone is the id of a zone of a fleet.
func FleetZone(i int) edge.Scope { return edge.ZoneScope(edge.ZoneID(fmt.Sprintf("%032d", i))) }

// FleetChange is a change to the one deployment of a zone of a fleet.
func FleetChange(i int, d diff.Direction) diff.Change {
	return diff.Change{
		Kind: "deployment", Account: "prod", Zone: fmt.Sprintf("z%d", i), Scope: FleetZone(i), Deployment: "core",
		Operation: diff.RuleOperation{Do: diff.ActionUpdate, Target: diff.Target{Version: "7"}},
		Direction: d, Fields: []diff.Field{{Path: "enabled", Old: false, New: true, Direction: d}},
	}
}

// TokenChange creates a token; one that rotates is like the one that it follows.
func TokenChange(key string, action diff.Action, d diff.Direction) diff.Change {
	creation := diff.Creation{As: action, Key: key, Spec: edge.TokenSpec{Name: key}, Sink: &desired.Sink{Name: "vault", Key: key}}
	if action == diff.ActionRotate {
		creation.Lifetime, creation.Every = 48*time.Hour, 24*time.Hour
		creation.Follows = &diff.Followed{Sink: creation.Sink, Spec: creation.Spec, Lifetime: creation.Lifetime, Every: creation.Every}
	}
	return diff.Change{Kind: "token", Scope: edge.CredentialScope(creation.Owner), Token: key, Direction: d, Fields: []diff.Field{}, Operation: creation}
}

// PlanOf is a plan that has some changes.
func PlanOf(changes ...diff.Change) diff.Plan {
	return diff.Plan{Version: diff.PlanVersion, Commit: "c0ffee", Changes: changes, Problems: []diff.Problem{}}.Sealed()
}

// ChangesTo returns changes to zones 1 to n, of which the first few weaken.
func ChangesTo(n, weakening int) []diff.Change {
	var changes []diff.Change
	for i := 1; i <= n; i++ {
		d := diff.Strengthens
		if i <= weakening {
			d = diff.Weakens
		}
		changes = append(changes, FleetChange(i, d))
	}
	return changes
}
