package diff

import (
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Guard passes a plan through every guard. Guards are functions from plan to
// plan: a refused change stays where it is, with the reason and with what would
// release it. The first refusal counts.
func Guard(plan Plan, facts Facts) Plan {
	refuse := func(guard func(Change) *Refusal) {
		for i := range plan.Changes {
			if plan.Changes[i].Refused == nil {
				plan.Changes[i].Refused = guard(plan.Changes[i])
			}
		}
	}
	plan.Changes = append([]Change{}, plan.Changes...)
	plan.Problems = refuseCommit(plan.Problems, facts)
	refuse(func(Change) *Refusal { return refuseShrunk(facts) })
	refuse(refuseUndecided)
	refuse(func(c Change) *Refusal { return refuseToken(c, facts) })
	refuse(func(c Change) *Refusal { return refuseNonConvergent(c, facts) })
	return plan.seal()
}

// Facts are what guards need to know beside the plan. The zero Facts refuse
// nothing that depends on history.
type Facts struct {
	Before, After Size // what the last accepted commit declared, and what this one does
	AllowShrink   bool // a person has agreed that After may be much smaller

	// Now decides what is expired.
	Now time.Time
	// CheckSink reports why a sink could not take a secret; nil takes any.
	CheckSink func(desired.Sink) error

	// NonConvergent holds, for each deployment, the fingerprint of a change that
	// was written and not kept by the platform.
	NonConvergent map[DeploymentID]string
	// NonConvergentTokens is the same for updates of tokens.
	NonConvergentTokens map[edge.TokenID]string
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
