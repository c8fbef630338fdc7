package importer

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
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
	declared := edge.Rule{ID: "a0000000000000000000000000000004", Ref: "office", Action: edge.ActionSkip}
	acting := []diff.Bypass{{Rule: skipA}, {Rule: skipA}} // on two deployments
	for _, test := range []struct {
		rules    []edge.Rule
		declared []string
		want     string
	}{
		{[]edge.Rule{runs}, nil, ""},
		{[]edge.Rule{declared}, []string{"office"}, ""},
		{[]edge.Rule{declared}, nil, "Its entry point has 1 other rule, which Seawall does not change: 1 skip rule without an effect on a deployment."},
		{[]edge.Rule{skip, runs}, nil, "Its entry point has 1 other rule, which Seawall does not change: 1 skip rule accepted below."},
		{
			[]edge.Rule{skip, runs, behind, log},
			nil,
			"Its entry point has 3 other rules, which Seawall does not change: 1 skip rule accepted below, 1 skip rule without an effect on a deployment, 1 rule of another kind.",
		},
	} {
		if got := otherRules(edge.Ruleset{Rules: test.rules}, acting, test.declared); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// withSkipRules puts skip rules of each form somewhere into an entry point.
func withSkipRules(t *rapid.T, entryPoint edge.Ruleset) edge.Ruleset {
	managed := managedRulesets()[1]
	of := []edge.Skip{
		{Current: true},
		{Rulesets: []edge.RulesetID{managed.ID}},
		{Rules: map[edge.RulesetID][]edge.RuleID{managed.ID: {managed.Rules[0].ID, managed.Rules[2].ID}}},
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "skip rules") {
		rule := mem.SkipRule(rapid.SampledFrom([]string{"ip.src eq 192.0.2.7", "true", `not http.host eq "a"`}).Draw(t, "of requests"), rapid.SampledFrom(of).Draw(t, "skips"))
		rule.ID, rule.Ref = edge.RuleID(fmt.Sprintf("a%031x", i)), rapid.SampledFrom([]string{"", "partners", "two words"}).Draw(t, "ref")
		entryPoint.Rules = slices.Insert(entryPoint.Rules, rapid.IntRange(0, len(entryPoint.Rules)).Draw(t, "at"), rule)
	}
	return entryPoint
}

// unexpected are problems that a plan of what was imported or absorbed must not have: skip rules
// that turn something off for each request need a person, as nobody owns their acceptance.
func unexpected(p diff.Plan) []diff.Problem {
	return slices.DeleteFunc(p.Problems, func(p diff.Problem) bool {
		return p.State == diff.Bypassed && strings.Contains(p.Reason, "keeps all requests") && strings.Contains(p.Reason, "accepted without an owner")
	})
}

// Places in which nobody can look for skip rules are named once, whatever the call was.
func TestPlacesThatCannotBeLookedAtAreNamed(t *testing.T) {
	l := rapid.Custom(genLive).Example(3)
	l.ahead = func(id edge.Scope) (edge.Ruleset, error) {
		return edge.Ruleset{}, fmt.Errorf("reading: %w", &edge.Error{Call: "GET " + id.String(), Status: 403})
	}
	dir := filepath.Join(t.TempDir(), "edge")
	out, err := importInto(t, inProcess(t), l, dir, false, false)
	if err != nil || strings.Count(out, "Seawall has not looked for skip rules in http_request_firewall_custom of ") != 1 || !strings.Contains(out, "403") {
		t.Errorf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "edge.cue"))
	if must.Do(t, err); strings.Count(string(text), "// Seawall has not looked for skip rules") != 2 { // of each account
		t.Errorf("%s", text)
	}
}
