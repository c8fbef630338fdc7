package guard_test

import (
	"fmt"

	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/guard"
)

func ExampleCheck() {
	plan := guard.Check(difftest.PlanOf(difftest.ChangesTo(2, 1)...), guard.Facts{
		Rules: []guard.Rule{{Name: "calm", Approve: guard.ApproveWeakening}},
	})
	for _, change := range plan.Changes {
		if change.Refused != nil {
			fmt.Println(change.Zone, change.Refused.Guard, change.Refused.Reason)
		}
	}
	// Output:
	// z1 approval guards.calm requires approval of changes that weaken, and this change is not approved
}
