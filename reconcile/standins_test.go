package reconcile

import (
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// The report of an apply has no id for what was not found by its name, as a plan has none.
func TestReportHasNoStandIns(t *testing.T) {
	plan := diff.NewPlan("c1")
	plan.Problems = []diff.Problem{
		{Zone: "a", Scope: edge.ZoneScope(desired.SoughtZone("prod", "a")), State: diff.Blocked},
		{Zone: "account:b", Scope: desired.AccountScope(desired.Account{Key: "b"}), State: diff.Blocked},
	}
	var out strings.Builder
	if err := (Report{Plan: plan}).JSON(&out); err != nil || strings.Contains(out.String(), "zone_id") {
		t.Errorf("%s, %v", out.String(), err)
	}
}
