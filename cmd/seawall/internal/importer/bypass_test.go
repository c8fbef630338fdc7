package importer

import (
	"reflect"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

const (
	skipA edge.RuleID = "a0000000000000000000000000000001"
	skipB edge.RuleID = "a0000000000000000000000000000002"
)

// What is accepted stays; what is accepted as something else keeps who accepts it and until when;
// what is over needs a person's word; and what nobody accepts is accepted by nobody yet.
func TestAccept(t *testing.T) {
	for _, test := range []struct {
		name     string
		declared []desired.Accepted
		acting   []diff.Bypass
		want     []desired.Accepted
	}{
		{"nothing acts", []desired.Accepted{{Rule: "gone", Owner: "team", All: true}}, nil, []desired.Accepted{{Rule: "gone", Owner: "team", All: true}}},
		{"by the ref", nil, []diff.Bypass{{Rule: skipA, Ref: "partners", Expression: "x", All: true, State: diff.BypassFound}}, []desired.Accepted{
			{Rule: "partners", Owner: "TODO", Expression: "x", All: true},
		}},
		{"two of one ref, in two phases", nil, []diff.Bypass{
			{Rule: skipA, Ref: "partners", Expression: "x", Rules: []diff.SkippedRule{{ID: "r1"}, {ID: "r2"}}, State: diff.BypassFound},
			{Rule: skipB, Ref: "partners", Expression: "y", All: true, State: diff.BypassFound},
		}, []desired.Accepted{
			{Rule: string(skipA), Owner: "TODO", Expression: "x", Rules: []edge.RuleID{"r1", "r2"}},
			{Rule: string(skipB), Owner: "TODO", Expression: "y", All: true},
		}},
		{"a ref that is an id", nil, []diff.Bypass{{Rule: skipA, Ref: string(skipB), Expression: "x", All: true, State: diff.BypassFound}}, []desired.Accepted{
			{Rule: string(skipA), Owner: "TODO", Expression: "x", All: true},
		}},
		{
			"each state",
			[]desired.Accepted{
				{Rule: "as it is", Owner: "a", Expression: "more", All: true},
				{Rule: "differs", Owner: "b", Until: "2099-01-01", Expression: "old", Rules: []edge.RuleID{"r1"}},
				{Rule: "over", Owner: "c", Until: "2020-01-01", Expression: "old", All: true},
			},
			[]diff.Bypass{
				{Rule: skipA, Ref: "differs", Expression: "new", All: true, State: diff.BypassDiffers},
				{Rule: skipB, Ref: "over", Expression: "new", All: true, State: diff.BypassExpired},
				{Rule: "a0000000000000000000000000000003", Ref: "as it is", Expression: "more", Rules: []diff.SkippedRule{{ID: "r1"}}, State: diff.BypassAccepted},
			},
			[]desired.Accepted{
				{Rule: "as it is", Owner: "a", Expression: "more", All: true},
				{Rule: "differs", Owner: "b", Until: "2099-01-01", Expression: "new", All: true},
				{Rule: "over", Owner: "c", Until: "2020-01-01", Expression: "old", All: true},
			},
		},
	} {
		if got := accept(test.declared, test.acting); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got\n%+v\nwant\n%+v", test.name, got, test.want)
		}
	}
}

func TestOtherRules(t *testing.T) {
	skip := edge.Rule{ID: skipA, Action: edge.ActionSkip}
	behind := edge.Rule{ID: skipB, Action: edge.ActionSkip}
	log := edge.Rule{ID: "a0000000000000000000000000000003", Action: "log"}
	runs := edge.Rule{Action: edge.ActionExecute, ActionParameters: &edge.ActionParameters{ID: "m"}}
	acting := []diff.Bypass{{Rule: skipA}, {Rule: skipA}} // on two deployments
	for _, test := range []struct {
		rules  []edge.Rule
		beside int
		want   string
	}{
		{[]edge.Rule{runs}, 0, ""},
		{[]edge.Rule{log}, 1, ""}, // another kind declares it
		{[]edge.Rule{skip, runs}, 0, "Its entry point has 1 other rule, which Seawall does not change: 1 skip rule accepted below."},
		{
			[]edge.Rule{skip, runs, behind, log}, 0,
			"Its entry point has 3 other rules, which Seawall does not change: 1 skip rule accepted below, 1 skip rule without an effect on a deployment, 1 rule of another kind.",
		},
	} {
		if got := otherRules(edge.Ruleset{Rules: test.rules}, acting, test.beside); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
