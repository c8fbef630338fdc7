package guard_test

import (
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
)

// TestObserveSelects: an entry selects by account and labels, as declared or as last
// proved; a token is observed where everything is.
func TestObserveSelects(t *testing.T) {
	zone := diff.Change{Operation: diff.RuleOperation{Do: diff.ActionUpdate}, Account: "prod", Zone: "a.example", Scope: edge.ZoneScope("1"), Deployment: "core"}
	token := diff.Change{Operation: diff.Orphan{}, Scope: edge.CredentialScope(""), Token: "ci"}
	facts := guard.Facts{
		Zones:        map[edge.Scope]guard.Labels{edge.ZoneScope("1"): {"tier": "gold"}},
		LabelsBefore: map[edge.Scope][]guard.Selection{edge.ZoneScope("1"): {{Labels: guard.Labels{"tier": "silver"}}}},
		Holds:        []diff.Hold{{Zone: "a.example"}},
	}
	for name, test := range map[string]struct {
		observe     []guard.Observe
		zone, token bool
	}{
		"nothing":            {nil, false, false},
		"everything":         {[]guard.Observe{{}}, true, true},
		"account":            {[]guard.Observe{{Account: "prod"}}, true, false},
		"other account":      {[]guard.Observe{{Account: "test"}}, false, false},
		"label":              {[]guard.Observe{{Labels: guard.Labels{"tier": "gold"}}}, true, false},
		"label before":       {[]guard.Observe{{Labels: guard.Labels{"tier": "silver"}}}, true, false},
		"account, no label":  {[]guard.Observe{{Account: "prod", Labels: guard.Labels{"tier": "tin"}}}, false, false},
		"one of two entries": {[]guard.Observe{{Account: "test"}, {Account: "prod"}}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			facts.Observe = test.observe
			plan := guard.Check(diff.Plan{Changes: []diff.Change{zone, token}}, facts)
			if got := plan.Changes[0].Refused.Observed(); got != test.zone {
				t.Errorf("zone: observed %t, want %t", got, test.zone)
			}
			if got := plan.Changes[1].Refused.Observed(); got != test.token {
				t.Errorf("token: observed %t, want %t", got, test.token)
			}
			if got := plan.Observed(); got != (test.zone || test.token) {
				t.Errorf("plan: observed %t", got)
			}
		})
	}
}
