package edge

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSkip(t *testing.T) {
	for _, test := range []struct {
		parameters string
		want       Skip
		err        string
	}{
		{`{}`, Skip{}, ""},
		{`{"products":["waf"]}`, Skip{}, ""},
		{`{"ruleset":"current"}`, Skip{Current: true}, ""},
		{`{"phase":"current"}`, Skip{Current: true}, ""},
		{`{"ruleset":null,"rulesets":["a","b"]}`, Skip{Rulesets: []RulesetID{"a", "b"}}, ""},
		{`{"rules":{"a":["b"]},"phases":["c"]}`, Skip{Rules: map[RulesetID][]RuleID{"a": {"b"}}, Phases: []Phase{"c"}}, ""},
		{`{"ruleset":"a"}`, Skip{}, `ruleset of the skip rule s is "a" and not current`},
		{`{"phase":"a","ruleset":"b"}`, Skip{}, `phase of the skip rule s is "a" and not current`},
		{`{"rules":[],"rulesets":{},"phases":1}`, Skip{}, "phases of the skip rule s: json: cannot unmarshal number into Go value of type []edge.Phase"},
		{`{"tags":[],"categories":[]}`, Skip{}, `the skip rule s has the parameter "categories", which is not known here`},
	} {
		rule := Rule{ID: "s", Action: ActionSkip, ActionParameters: &ActionParameters{}}
		if err := json.Unmarshal([]byte(test.parameters), rule.ActionParameters); err != nil {
			t.Fatal(err)
		}
		for range 5 { // the order of a map is another each time
			got, is, err := rule.Skip()
			if !is || !cmp.Equal(got, test.want) || (err != nil || test.err != "") && fmt.Sprint(err) != test.err {
				t.Errorf("%s: %+v, %v, %v", test.parameters, got, is, err)
			}
		}
		rule.Action = ActionLog
		if got, is, err := rule.Skip(); is || err != nil || !cmp.Equal(got, Skip{}) {
			t.Errorf("%s of another action: %+v, %v, %v", test.parameters, got, is, err)
		}
	}
}
