package deployment

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/nearest"
)

func TestResolveErrors(t *testing.T) {
	twice := difftest.Managed()
	twice.Rules[3].Ref = "ref-0"
	noScore := difftest.Managed()
	noScore.Rules[8].ScoreThreshold = nil
	noParanoia, threeLevels := difftest.Managed(), difftest.Managed()
	for i := range 8 {
		noParanoia.Rules[i].Categories = []string{"sqli"}
	}
	threeLevels.Rules = append(threeLevels.Rules[:6:6], threeLevels.Rules[8])
	empty := difftest.Managed()
	empty.Rules = nil

	type problem struct {
		line          int
		message, hint string
	}
	for _, test := range []struct {
		name    string
		managed edge.Ruleset
		intent  desired.Deployment
		want    []problem
	}{
		{
			"unknown rule id", difftest.Managed(), difftest.Deployment(difftest.DisableRule(desired.RuleRef{ID: "ffffffffffffffffffffffffffffffff"})),
			[]problem{{
				9, `disable.rules: managed ruleset "Core Ruleset" has no rule ffffffffffffffffffffffffffffffff (version 7)`,
				"versions of the managed ruleset add and remove rules; a ref is more stable than an id",
			}},
		},
		{
			"rule id with a slip", difftest.Managed(), difftest.Deployment(difftest.DisableRule(desired.RuleRef{ID: "000000000000000000000000000ab003"})),
			[]problem{{
				9, `disable.rules: managed ruleset "Core Ruleset" has no rule 000000000000000000000000000ab003 (version 7)`,
				fmt.Sprintf("did you mean %s (ref-3)?", difftest.RuleID(3)),
			}},
		},
		{
			"unknown ref", difftest.Managed(), difftest.Deployment(difftest.DisableRule(desired.RuleRef{Ref: "scoer"})),
			[]problem{{9, `disable.rules: managed ruleset "Core Ruleset" has no rule with ref "scoer" (version 7)`, fmt.Sprintf(`the nearest: %s (score, "Anomaly score")`, difftest.RuleID(8))}},
		},
		{
			"ref of nothing near", difftest.Managed(), difftest.Deployment(difftest.DisableRule(desired.RuleRef{Ref: "something-else"})),
			[]problem{{9, `disable.rules: managed ruleset "Core Ruleset" has no rule with ref "something-else" (version 7)`, "seawall rules lists the rules"}},
		},
		{
			"ambiguous ref", twice, difftest.Deployment(difftest.DisableRule(desired.RuleRef{Ref: "ref-0"})),
			[]problem{{9, `disable.rules: managed ruleset "Core Ruleset" has 2 rules with ref "ref-0"`, fmt.Sprintf("name the rule by its id: %s (ref-0), %s (ref-0)", difftest.RuleID(0), difftest.RuleID(3))}},
		},
		{
			"unknown tag", difftest.Managed(), difftest.Deployment(difftest.DisableTag("sqlli"), difftest.DisableTag("wordpress")),
			[]problem{
				{10, `disable.tags: managed ruleset "Core Ruleset" has no tag "sqlli"`, `did you mean "sqli"?`},
				{10, `disable.tags: managed ruleset "Core Ruleset" has no tag "wordpress"`, ""},
			},
		},
		{
			"last rule beside threshold, by id and by ref", difftest.Managed(),
			difftest.Deployment(difftest.Threshold(40, "block"), difftest.DisabledRule(8), difftest.DisableRule(desired.RuleRef{Ref: "score"})),
			[]problem{
				{
					9, fmt.Sprintf(`disable.rules: %s is the last rule of "Core Ruleset", whose threshold is declared too`, difftest.RuleID(8)),
					"disable the rule or set its threshold, not both",
				},
				{
					9, `disable.rules: ref "score" is the last rule of "Core Ruleset", whose threshold is declared too`,
					"disable the rule or set its threshold, not both",
				},
			},
		},
		{
			"last rule without score_threshold", noScore, difftest.Deployment(difftest.Threshold(40, "block")),
			[]problem{{
				7, `threshold: the last rule of managed ruleset "Core Ruleset" carries no score_threshold`,
				"leave out threshold for a ruleset that does not score requests",
			}},
		},
		{
			"threshold on a ruleset without rules", empty, difftest.Deployment(difftest.Threshold(40, "block")),
			[]problem{{
				7, `threshold: the last rule of managed ruleset "Core Ruleset" carries no score_threshold`,
				"leave out threshold for a ruleset that does not score requests",
			}},
		},
		{
			"paranoia on a ruleset without paranoia tags", noParanoia, difftest.Deployment(difftest.Paranoia(1)),
			[]problem{{
				6, `paranoia: managed ruleset "Core Ruleset" has no rules tagged with a paranoia level`,
				"leave out paranoia for a ruleset without paranoia levels",
			}},
		},
		{
			"so is the highest, which disables nothing", noParanoia, difftest.Deployment(difftest.Paranoia(4)),
			[]problem{{
				6, `paranoia: managed ruleset "Core Ruleset" has no rules tagged with a paranoia level`,
				"leave out paranoia for a ruleset without paranoia levels",
			}},
		},
		{
			"a level that is missing", threeLevels, difftest.Deployment(difftest.Paranoia(2)),
			[]problem{{
				6, `paranoia: managed ruleset "Core Ruleset" has no rules tagged paranoia-level-4`,
				"leave out paranoia for a ruleset without paranoia levels",
			}},
		},
		{
			"a long form of a tag that is not there", difftest.Managed(), difftest.Deployment(difftest.Tag("sqll", difftest.Override("enabled: true"))),
			[]problem{{13, `tags: managed ruleset "Core Ruleset" has no tag "sqll"`, `did you mean "sqli"?`}},
		},
		{
			"a long form of a rule that is not there", difftest.Managed(), difftest.Deployment(difftest.RuleOf(desired.RuleRef{Ref: "ref-33"}, difftest.Override("enabled: true"))),
			[]problem{{14, `rules: managed ruleset "Core Ruleset" has no rule with ref "ref-33" (version 7)`, fmt.Sprintf("the nearest: %s (ref-3), %s (ref-0), %s (ref-1)", difftest.RuleID(3), difftest.RuleID(0), difftest.RuleID(1))}},
		},
		{
			"a score where there is none", difftest.Managed(), difftest.Deployment(difftest.RuleOf(desired.RuleRef{Ref: "ref-3"}, difftest.Override("score: 5"))),
			[]problem{{
				15, `rules: ref "ref-3" of managed ruleset "Core Ruleset" has no score`,
				"only the rule that evaluates the score of a request has one, usually the last",
			}},
		},
		{
			"one rule by id and by ref", difftest.Managed(),
			difftest.Deployment(difftest.DisabledRule(0), difftest.RuleOf(desired.RuleRef{Ref: "ref-0"}, difftest.Override("enabled: false, action: log"))),
			[]problem{{15, `rules: ref "ref-0": enabled is already declared at zones/shop.cue:9:2`, "declare it in one of the two places"}},
		},
		{
			"a threshold in both forms", difftest.Managed(),
			difftest.Deployment(difftest.Threshold(40, "log"), difftest.RuleOf(desired.RuleRef{Ref: "score"}, difftest.Override("score: 40, action: log"))),
			[]problem{
				{15, `rules: ref "score": action is already declared at zones/shop.cue:8:2`, "declare it in one of the two places"},
				{15, `rules: ref "score": score is already declared at zones/shop.cue:7:2`, "declare it in one of the two places"},
			},
		},
		{
			"a threshold of a rule that is disabled", difftest.Managed(),
			difftest.Deployment(difftest.Threshold(40, "log"), difftest.RuleOf(desired.RuleRef{Ref: "score"}, difftest.Override("enabled: false"))),
			[]problem{{15, `rules: ref "score" is disabled, but its score is declared, at zones/shop.cue:7:2`, "disable the rule or set its score, not both"}},
		},
		{
			"every mistake is told", noScore, difftest.Deployment(difftest.Paranoia(2), difftest.Threshold(40, "block"), difftest.DisableTag("nope-nope"), difftest.DisableRule(desired.RuleRef{Ref: "nope-nope"})),
			[]problem{
				{
					7, `threshold: the last rule of managed ruleset "Core Ruleset" carries no score_threshold`,
					"leave out threshold for a ruleset that does not score requests",
				},
				{10, `disable.tags: managed ruleset "Core Ruleset" has no tag "nope-nope"`, ""},
				{9, `disable.rules: managed ruleset "Core Ruleset" has no rule with ref "nope-nope" (version 7)`, "seawall rules lists the rules"},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, errs := resolve(test.intent, index(test.managed))
			var got []problem
			for _, e := range errs {
				got = append(got, problem{e.origin.Line, e.message, e.hint})
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// The reference's table of rule members has no tags. Where a platform shows
// none, nothing can be checked against them and everything passes.
func TestResolveWithoutTags(t *testing.T) {
	blind := difftest.Managed()
	for i := range blind.Rules {
		blind.Rules[i].Categories = nil
	}
	m := index(blind)
	c, errs := resolve(difftest.Deployment(difftest.Paranoia(3), difftest.DisableTag("anything")), m)
	if len(errs) > 0 {
		t.Fatalf("%+v", errs)
	}
	got := difftest.OverridesText(t, (&merger{managed: m}).merge(nil, c))
	if want := `{"categories":[{"category":"anything","enabled":false},{"category":"PL4","enabled":false}]}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestResolveByRef(t *testing.T) {
	c, errs := resolve(difftest.Deployment(difftest.DisableRule(desired.RuleRef{Ref: "ref-3"})), index(difftest.Managed()))
	if len(errs) > 0 || len(c.rules) != 1 || c.rules.of(string(difftest.RuleID(3))).enabled == nil || *c.rules.of(string(difftest.RuleID(3))).enabled {
		t.Errorf("got %+v, %+v", c, errs)
	}
}

func TestFindRuleset(t *testing.T) {
	ruleset := func(id, name string, kind edge.Kind, phase edge.Phase) edge.Ruleset {
		return edge.Ruleset{ID: edge.RulesetID(id), Name: name, Kind: kind, Phase: phase}
	}
	listed := []edge.Ruleset{
		ruleset("1", "Core Ruleset", edge.KindZone, edge.PhaseFirewallManaged),
		ruleset("2", "Core Ruleset", edge.KindManaged, "ddos_l7"),
		ruleset("3", "Managed Ruleset", edge.KindManaged, edge.PhaseFirewallManaged),
		ruleset("4", "Core Ruleset", edge.KindManaged, edge.PhaseFirewallManaged),
		ruleset("6", "Twin", edge.KindManaged, edge.PhaseFirewallManaged),
		ruleset("5", "Twin", edge.KindManaged, edge.PhaseFirewallManaged),
	}
	for _, test := range []struct {
		ref           desired.RulesetRef
		listed        []edge.Ruleset
		want          edge.RulesetID
		message, hint string
	}{
		{ref: desired.RulesetRef{Name: "Core Ruleset"}, listed: listed, want: "4"},
		{ref: desired.RulesetRef{ID: "5"}, listed: listed, want: "5"},
		{
			ref: desired.RulesetRef{ID: "1"}, listed: listed,
			message: "the account has no managed ruleset with id 1", hint: "it has: Core Ruleset, Managed Ruleset, Twin, Twin",
		},
		{
			ref: desired.RulesetRef{ID: "2"}, listed: listed[:3],
			message: "the account has no managed ruleset with id 2", hint: "it has: Managed Ruleset",
		},
		{
			ref: desired.RulesetRef{Name: "Core Rulset"}, listed: listed,
			message: `the account has no managed ruleset named "Core Rulset"`, hint: `did you mean "Core Ruleset"?`,
		},
		{
			ref: desired.RulesetRef{Name: "Exposed Credentials Check"}, listed: listed,
			message: `the account has no managed ruleset named "Exposed Credentials Check"`, hint: "it has: Core Ruleset, Managed Ruleset, Twin, Twin",
		},
		{
			ref: desired.RulesetRef{Name: "Twin"}, listed: listed,
			message: `the account has 2 managed rulesets named "Twin"`, hint: "declare it by id; candidates: 5, 6",
		},
		{
			ref: desired.RulesetRef{Name: "Core Ruleset"}, listed: listed[:2],
			message: `the account has no managed ruleset named "Core Ruleset"`, hint: "the account has no visible managed ruleset of this phase",
		},
	} {
		got, err := rulesets.Find(test.ref, test.listed)
		var problem *rulesets.Error
		if !errors.As(err, &problem) {
			problem = &rulesets.Error{}
		}
		if got.ID != test.want || problem.Message != test.message || problem.Hint != test.hint {
			t.Errorf("%+v: got %q, %+v", test.ref, got.ID, problem)
		}
		if err != nil && err.Error() != test.message {
			t.Errorf("error reads %q", err)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	for _, test := range []struct{ name, candidates, want string }{
		{"sql", "xss sqli php", `did you mean "sqli"?`},
		{"ab", "cdef", ""},
		{"paranoia-lvl-3", "paranoia-level-1 paranoia-level-3", `did you mean "paranoia-level-3"?`},
		{"kitten", "sitting", ""},
		{"kitten", "mitten kitchen", `did you mean "mitten"?`},
		{"anything", "", ""},
	} {
		if got := nearest.Hint(test.name, strings.Fields(test.candidates), ""); got != test.want {
			t.Errorf("%s among %s: got %q, want %q", test.name, test.candidates, got, test.want)
		}
	}
}
