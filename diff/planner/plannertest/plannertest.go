// Package plannertest makes plans for tests of what is done with plans. It is not
// for tests of packages that planner imports: those cannot import it.
package plannertest

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
)

// One plans one deployment of one zone, which has the rules given.
func One(d desired.Deployment, rules ...edge.Rule) diff.Plan {
	return planner.Make(planner.Input{State: difftest.State(d), Live: difftest.Live(rules...)})
}

// OfScene plans a scene.
func OfScene(s difftest.Scene) diff.Plan {
	return planner.Make(planner.Input{State: s.State, Live: s.Live, Applied: s.Applied})
}

// Tokens plans tokens at a time.
func Tokens(now time.Time, live diff.TokensLive, tokens ...desired.Token) diff.Plan {
	return planner.Make(planner.Input{State: desired.State{Tokens: tokens}, Live: diff.Live{Tokens: live}, Now: now})
}
