package deployment

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

func TestMerge(t *testing.T) {
	for _, test := range []struct {
		name      string
		live      string
		intent    desired.Deployment
		before    map[diff.Member]bool
		want      string
		merging   string // what a platform is sent that merges, where that is something else
		leftovers string
	}{
		{
			name:   "nothing declared on nothing",
			intent: difftest.Deployment(),
		},
		{
			name:   "a first declaration",
			intent: difftest.Deployment(difftest.Paranoia(2), difftest.Threshold(25, "log"), difftest.DisabledRule(0), difftest.DisableTag("sqli")),
			want: `{"categories":[{"category":"PL3","enabled":false},{"category":"PL4","enabled":false},{"category":"sqli","enabled":false}],` +
				`"rules":[{"id":"R0","enabled":false},{"id":"R8","action":"log","score_threshold":25}]}`,
		},
		{
			name:   "unmanaged categories keep live order, ours come last and sorted",
			live:   `{"categories":[{"category":"PL4","enabled":false},{"category":"xss","action":"log"},{"category":"aaa","enabled":false},{"category":"php","action":"log"}]}`,
			intent: difftest.Deployment(difftest.Paranoia(2), difftest.DisableTag("sqli"), difftest.Keep),
			want: `{"categories":[{"category":"xss","action":"log"},{"category":"aaa","enabled":false},{"category":"php","action":"log"},` +
				`{"category":"PL3","enabled":false},{"category":"PL4","enabled":false},{"category":"sqli","enabled":false}]}`,
			leftovers: `overrides.categories["aaa"].enabled overrides.categories["php"].action overrides.categories["xss"].action`,
		},
		{
			name:      "rules are sorted whatever their live order",
			live:      `{"rules":[{"id":"R7","action":"log"},{"id":"R2","enabled":false},{"id":"R1","action":"log"}]}`,
			intent:    difftest.Deployment(difftest.DisabledRule(2), difftest.Keep),
			want:      `{"rules":[{"id":"R1","action":"log"},{"id":"R2","enabled":false},{"id":"R7","action":"log"}]}`,
			leftovers: `overrides.rules["R1"].action overrides.rules["R7"].action`,
		},
		{
			name: "entries listed twice count once, where they stand last",
			live: `{"categories":[{"category":"sqli","action":"log"},{"category":"xss","enabled":false},{"category":"sqli","action":"block","enabled":false}],` +
				`"rules":[{"id":"R1","action":"log"},{"id":"R1","enabled":false}]}`,
			intent: difftest.Deployment(difftest.Keep),
			want: `{"categories":[{"category":"xss","enabled":false},{"category":"sqli","action":"block","enabled":false}],` +
				`"rules":[{"id":"R1","action":"log","enabled":false}]}`,
			leftovers: `overrides.categories["sqli"].action overrides.categories["sqli"].enabled overrides.categories["xss"].enabled ` +
				`overrides.rules["R1"].action overrides.rules["R1"].enabled`,
		},
		{
			name: "undecided keeps and names",
			live: `{"action":"log","enabled":false,"sensitivity_level":"low","categories":[{"category":"sqli","sensitivity_level":"low"}],` +
				`"rules":[{"id":"R8","score_threshold":60}]}`,
			intent: difftest.Deployment(),
			want: `{"action":"log","enabled":false,"sensitivity_level":"low","categories":[{"category":"sqli","sensitivity_level":"low"}],` +
				`"rules":[{"id":"R8","score_threshold":60}]}`,
			leftovers: `overrides.action overrides.categories["sqli"].sensitivity_level overrides.enabled ` +
				`overrides.rules["R8"].score_threshold overrides.sensitivity_level`,
		},
		{
			name: "remove removes what nobody declares, ruleset-wide members too",
			live: `{"action":"log","enabled":false,"sensitivity_level":"low","categories":[{"category":"sqli","action":"log"}],` +
				`"rules":[{"id":"R0","action":"log"},{"id":"R8","score_threshold":60}]}`,
			intent:    difftest.Deployment(difftest.Paranoia(3), difftest.Threshold(40, "block"), difftest.Remove),
			want:      `{"categories":[{"category":"PL4","enabled":false}],"rules":[{"id":"R8","action":"block","score_threshold":40}]}`,
			leftovers: `overrides.action overrides.categories["sqli"].action overrides.enabled overrides.rules["R0"].action overrides.sensitivity_level`,
		},
		{
			name:      "a claimed entry keeps the members nobody claims",
			live:      `{"rules":[{"id":"R8","action":"log","enabled":false,"score_threshold":60,"sensitivity_level":"low"}]}`,
			intent:    difftest.Deployment(difftest.Threshold(40, "block"), difftest.Keep),
			want:      `{"rules":[{"id":"R8","action":"block","enabled":false,"score_threshold":40,"sensitivity_level":"low"}]}`,
			leftovers: `overrides.rules["R8"].enabled overrides.rules["R8"].sensitivity_level`,
		},
		{
			name:      "remove takes them from it",
			live:      `{"rules":[{"id":"R8","action":"log","enabled":false,"score_threshold":60,"sensitivity_level":"low"}]}`,
			intent:    difftest.Deployment(difftest.Threshold(40, "block"), difftest.Remove),
			want:      `{"rules":[{"id":"R8","action":"block","score_threshold":40}]}`,
			leftovers: `overrides.rules["R8"].enabled overrides.rules["R8"].sensitivity_level`,
		},
		{
			name:   "a tag at or below the level must not be off, and is not written",
			live:   `{"categories":[{"category":"PL1","enabled":false},{"category":"PL2","enabled":true},{"category":"PL3","enabled":true}]}`,
			intent: difftest.Deployment(difftest.Paranoia(2)),
			want:   `{"categories":[{"category":"PL2","enabled":true},{"category":"PL3","enabled":false},{"category":"PL4","enabled":false}]}`,
		},
		{
			name:      "a tag at or below the level keeps its action",
			live:      `{"categories":[{"category":"PL1","enabled":false,"action":"log"}]}`,
			intent:    difftest.Deployment(difftest.Paranoia(3), difftest.Keep),
			want:      `{"categories":[{"category":"PL1","action":"log"},{"category":"PL4","enabled":false}]}`,
			leftovers: `overrides.categories["PL1"].action`,
		},
		{
			name:      "unless that is to be removed",
			live:      `{"categories":[{"category":"PL1","enabled":false,"action":"log"}]}`,
			intent:    difftest.Deployment(difftest.Paranoia(3), difftest.Remove),
			want:      `{"categories":[{"category":"PL4","enabled":false}]}`,
			leftovers: `overrides.categories["PL1"].action`,
		},
		{
			name:    "paranoia from 3 to 4 leaves the list out, or an entry that says nothing",
			live:    `{"categories":[{"category":"PL4","enabled":false}]}`,
			intent:  difftest.Deployment(difftest.Paranoia(4)),
			merging: `{"categories":[{"category":"PL4","enabled":true}]}`,
		},
		{
			name:    "where the level has a rule that is off by default, another member says nothing",
			live:    `{"categories":[{"category":"PL3","enabled":false}]}`,
			intent:  difftest.Deployment(difftest.Paranoia(4)),
			merging: `{"categories":[{"category":"PL3","action":"block"}]}`,
		},
		{
			name:   "what stands in stays where it is not known yet that the platform merges",
			live:   `{"categories":[{"category":"PL3","action":"block"}]}`,
			intent: difftest.Deployment(difftest.Paranoia(4)),
			before: difftest.Members(`overrides.categories["PL3"]`, `overrides.categories["PL3"].action`),
			want:   `{"categories":[{"category":"PL3","action":"block"}]}`,
		},
		{
			name:   "what was declared and says nothing goes",
			live:   `{"categories":[{"category":"PL3","action":"block"}]}`,
			intent: difftest.Deployment(difftest.Paranoia(4)),
			before: difftest.Members(`overrides.categories["PL3"].action`),
		},
		{
			name:    "another entry of the list may stand in",
			live:    `{"categories":[{"category":"PL3","enabled":false},{"category":"PL4","enabled":false}]}`,
			intent:  difftest.Deployment(difftest.Paranoia(4)),
			merging: `{"categories":[{"category":"PL3","action":"block"}]}`,
		},
		{
			name:    "so does the last disabled rule",
			live:    `{"rules":[{"id":"R0","enabled":false}]}`,
			intent:  difftest.Deployment(difftest.Keep),
			before:  difftest.Members(`overrides.rules["R0"].enabled`),
			merging: `{"rules":[{"id":"R0","enabled":true}]}`,
		},
		{
			name:    "a threshold no longer declared does, too",
			live:    `{"rules":[{"id":"R8","action":"log","score_threshold":60}]}`,
			intent:  difftest.Deployment(),
			before:  difftest.Members(`overrides.rules["R8"].action`, `overrides.rules["R8"].score_threshold`),
			merging: `{"rules":[{"id":"R8","enabled":true}]}`,
		},
		{
			name: "keep takes back what was ours, and only that",
			live: `{"categories":[{"category":"sqli","enabled":false,"action":"log"},{"category":"xss","enabled":false}],` +
				`"rules":[{"id":"R1","enabled":false},{"id":"R2","enabled":false}]}`,
			intent:    difftest.Deployment(difftest.Keep),
			before:    difftest.Members(`overrides.categories["sqli"].enabled`, `overrides.rules["R1"].enabled`),
			want:      `{"categories":[{"category":"sqli","action":"log"},{"category":"xss","enabled":false}],"rules":[{"id":"R2","enabled":false}]}`,
			leftovers: `overrides.categories["sqli"].action overrides.categories["xss"].enabled overrides.rules["R2"].enabled`,
		},
		{
			name: "unknown members survive at every level, byte for byte",
			live: `{"x_wide":1.50,"categories":[{"category":"sqli","enabled":false,"x_tag":{"b":1,"a":[12345678901234567890123]}}],` +
				`"rules":[{"id":"R8","score_threshold":60,"x_rule":"\u00e9"},{"id":"R0","x_lone":null}]}`,
			intent: difftest.Deployment(difftest.DisableTag("sqli"), difftest.Threshold(40, "block"), difftest.Keep),
			want: `{"categories":[{"category":"sqli","enabled":false,"x_tag":{"b":1,"a":[12345678901234567890123]}}],` +
				`"rules":[{"id":"R0","x_lone":null},{"id":"R8","action":"block","score_threshold":40,"x_rule":"\u00e9"}],"x_wide":1.50}`,
			leftovers: `overrides.categories["sqli"].x_tag overrides.rules["R0"].x_lone overrides.rules["R8"].x_rule overrides.x_wide`,
		},
		{
			name:      "remove takes unknown members, also those of claimed entries",
			live:      `{"x_wide":1.50,"categories":[{"category":"sqli","enabled":false,"x_tag":1}],"rules":[{"id":"R1","x_lone":null}]}`,
			intent:    difftest.Deployment(difftest.DisableTag("sqli"), difftest.Remove),
			want:      `{"categories":[{"category":"sqli","enabled":false}]}`,
			merging:   `{"categories":[{"category":"sqli","enabled":false}],"rules":[{"id":"R1","enabled":true}]}`,
			leftovers: `overrides.categories["sqli"].x_tag overrides.rules["R1"].x_lone overrides.x_wide`,
		},
		{
			name:      "an entry that says nothing is not sent back",
			live:      `{"categories":[{"category":"sqli"}],"rules":[{"id":"R0"},{"id":"R1","action":"log"}]}`,
			intent:    difftest.Deployment(difftest.Keep),
			want:      `{"rules":[{"id":"R1","action":"log"}]}`,
			merging:   `{"categories":[{"category":"sqli","enabled":true}],"rules":[{"id":"R1","action":"log"}]}`,
			leftovers: `overrides.rules["R1"].action`,
		},
		{
			name:   "a harmless entry stands before ours and is no leftover",
			live:   `{"categories":[{"category":"PL3","enabled":false},{"category":"sqli","enabled":true}]}`,
			intent: difftest.Deployment(difftest.Paranoia(2)),
			want:   `{"categories":[{"category":"sqli","enabled":true},{"category":"PL3","enabled":false},{"category":"PL4","enabled":false}]}`,
		},
		{
			name:      "a rule that is on against a disabled level is a leftover",
			live:      `{"rules":[{"id":"R4","enabled":true}]}`,
			intent:    difftest.Deployment(difftest.Paranoia(2)),
			want:      `{"categories":[{"category":"PL3","enabled":false},{"category":"PL4","enabled":false}],"rules":[{"id":"R4","enabled":true}]}`,
			leftovers: `overrides.rules["R4"].enabled`,
		},
		{
			name:      "remove takes it away",
			live:      `{"rules":[{"id":"R4","enabled":true},{"id":"R1","enabled":true}]}`,
			intent:    difftest.Deployment(difftest.Paranoia(2), difftest.Remove),
			want:      `{"categories":[{"category":"PL3","enabled":false},{"category":"PL4","enabled":false}],"rules":[{"id":"R1","enabled":true}]}`,
			leftovers: `overrides.rules["R4"].enabled`,
		},
		{
			name:   "a rule that is gone is never one",
			live:   `{"rules":[{"id":"R0","enabled":false},{"id":"R9","enabled":true}]}`,
			intent: difftest.Deployment(difftest.DisabledRule(0)),
			want:   `{"rules":[{"id":"R0","enabled":false},{"id":"R9","enabled":true}]}`,
		},
		{
			name:   "a stand-in of ours that now means something is taken back without a word",
			live:   `{"rules":[{"id":"R0","enabled":true}]}`,
			intent: difftest.Deployment(difftest.DisableTag("sqli"), difftest.DisabledRule(1)),
			before: difftest.Members(`overrides.rules["R0"]`),
			want:   `{"categories":[{"category":"sqli","enabled":false}],"rules":[{"id":"R1","enabled":false}]}`,
		},
		{
			name:      "the same entry of somebody else is named",
			live:      `{"rules":[{"id":"R0","enabled":true}]}`,
			intent:    difftest.Deployment(difftest.DisableTag("sqli"), difftest.DisabledRule(1)),
			want:      `{"categories":[{"category":"sqli","enabled":false}],"rules":[{"id":"R0","enabled":true},{"id":"R1","enabled":false}]}`,
			leftovers: `overrides.rules["R0"].enabled`,
		},
		{
			name: "long forms on a first declaration",
			intent: difftest.Deployment(
				difftest.All(difftest.Override("action: log, sensitivity: low")),
				difftest.Tag("xss", difftest.Override("enabled: true, action: block")), difftest.Tag("php", difftest.Override("sensitivity: default")),
				difftest.RuleOf(desired.RuleRef{Ref: "ref-5"}, difftest.Override("enabled: true")),
				difftest.RuleOf(desired.RuleRef{Ref: "score"}, difftest.Override("score: 25"))),
			want: `{"action":"log","sensitivity_level":"low","categories":[{"category":"xss","action":"block","enabled":true},` +
				`{"category":"php","sensitivity_level":"default"}],"rules":[{"id":"R5","enabled":true},{"id":"R8","score_threshold":25}]}`,
		},
		{
			name: "tags in their order, then those that a short form disables",
			live: `{"categories":[{"category":"php","enabled":false},{"category":"zzz","action":"log"}]}`,
			intent: difftest.Deployment(difftest.Keep, difftest.Paranoia(2), difftest.Tag("xss", difftest.Override("enabled: true")),
				difftest.Tag("paranoia-level-3", difftest.Override("action: log")), difftest.Tag("php", difftest.Override("enabled: true")),
				difftest.Tag("paranoia-level-1", difftest.Override("action: log"))),
			want: `{"categories":[{"category":"zzz","action":"log"},{"category":"xss","enabled":true},{"category":"php","enabled":true},` +
				`{"category":"PL1","action":"log"},{"category":"PL3","action":"log","enabled":false},{"category":"PL4","enabled":false}]}`,
			leftovers: `overrides.categories["zzz"].action`,
		},
		{
			name:      "a ruleset-wide member that is declared, beside one that is not",
			live:      `{"action":"log","enabled":false}`,
			intent:    difftest.Deployment(difftest.Remove, difftest.All(difftest.Override("action: block"))),
			want:      `{"action":"block"}`,
			leftovers: `overrides.enabled`,
		},
		{
			name:   "ruleset-wide members that are no longer declared",
			live:   `{"action":"log","sensitivity_level":"low","enabled":false}`,
			intent: difftest.Deployment(difftest.Keep, difftest.All(difftest.Override("enabled: true"))),
			before: difftest.Members("overrides.action", "overrides.sensitivity_level", "overrides.enabled"),
			want:   `{"enabled":true}`,
		},
		{
			name:   "a threshold and the rest of its rule",
			live:   `{"rules":[{"id":"R8","enabled":false}]}`,
			intent: difftest.Deployment(difftest.Threshold(40, "block"), difftest.RuleOf(desired.RuleRef{Ref: "score"}, difftest.Override("enabled: true, sensitivity: low"))),
			want:   `{"rules":[{"id":"R8","action":"block","enabled":true,"score_threshold":40,"sensitivity_level":"low"}]}`,
		},
		{
			name: "decisions on single overrides",
			live: `{"action":"log","enabled":false,"categories":[{"category":"sqli","action":"log"},{"category":"gone","enabled":false}],` +
				`"rules":[{"id":"R0","action":"log"},{"id":"R1","action":"log"},{"id":"R9","enabled":false}]}`,
			intent: difftest.Deployment(difftest.Remove, difftest.Decide(desired.Keep, desired.Decision{All: true}, desired.Decision{Tag: "gone"},
				desired.Decision{Rule: desired.RuleRef{Ref: "ref-0"}}, desired.Decision{Rule: desired.RuleRef{ID: difftest.RuleID(9)}})),
			want: `{"action":"log","enabled":false,"categories":[{"category":"gone","enabled":false}],"rules":[{"id":"R0","action":"log"},{"id":"R9","enabled":false}]}`,
			leftovers: `overrides.action overrides.categories["gone"].enabled overrides.categories["sqli"].action overrides.enabled ` +
				`overrides.rules["R0"].action overrides.rules["R1"].action overrides.rules["R9"].enabled`,
		},
		{
			name:      "what somebody put where a stand-in was is theirs",
			live:      `{"rules":[{"id":"R0","enabled":false}]}`,
			intent:    difftest.Deployment(difftest.Keep),
			before:    difftest.Members(`overrides.rules["R0"]`),
			want:      `{"rules":[{"id":"R0","enabled":false}]}`,
			leftovers: `overrides.rules["R0"].enabled`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := index(difftest.Managed())
			c, errs := resolve(test.intent, m)
			if len(errs) > 0 {
				t.Fatalf("resolving: %+v", errs)
			}
			decided, errs := m.decide(test.intent)
			if len(errs) > 0 {
				t.Fatalf("deciding: %+v", errs)
			}
			mg := merger{managed: m, before: setOf(slices.Collect(maps.Keys(test.before))), decisions: decided, merges: true}
			if got := difftest.OverridesText(t, mg.merge(difftest.ParseOverrides(t, test.live), c)); test.merging != "" && got != test.merging {
				t.Errorf("merging\ngot  %s\nwant %s", got, test.merging)
			}
			mg = merger{managed: m, before: setOf(slices.Collect(maps.Keys(test.before))), decisions: decided}
			if got := difftest.OverridesText(t, mg.merge(difftest.ParseOverrides(t, test.live), c)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if got := difftest.Paths(mg.leftovers); got != test.leftovers {
				t.Errorf("leftovers\ngot  %s\nwant %s", got, test.leftovers)
			}
		})
	}
}

// Entries that only say what is so anyway are nobody's business, whatever the
// decision; ones that switch something on are.
func TestMergeNeutralEntries(t *testing.T) {
	const (
		neutral = `{"categories":[{"category":"sqli","enabled":true},{"category":"gone","enabled":true}],"rules":[{"id":"R0","enabled":true},{"id":"R9","enabled":true}]}`
		telling = `{"categories":[{"category":"php","enabled":true}],"rules":[{"id":"R5","enabled":true}]}`
		both    = `overrides.categories["php"].enabled overrides.rules["R5"].enabled`
	)
	for _, test := range []struct {
		live      string
		decision  desired.Unmanaged
		want      string
		leftovers string
	}{
		{neutral, "", neutral, ""},
		{neutral, desired.Keep, neutral, ""},
		{neutral, desired.Remove, neutral, ""},
		{telling, "", telling, both},
		{telling, desired.Keep, telling, both},
		{telling, desired.Remove, "", both},
	} {
		mg := merger{managed: index(difftest.Managed()), decisions: decisions{byDefault: difftest.Declared(11, test.decision)}}
		if got := difftest.OverridesText(t, mg.merge(difftest.ParseOverrides(t, test.live), claims{})); got != test.want {
			t.Errorf("decision %q: got %s, want %s", test.decision, got, test.want)
		}
		if got := difftest.Paths(mg.leftovers); got != test.leftovers {
			t.Errorf("decision %q: leftovers %s, want %s", test.decision, got, test.leftovers)
		}
	}
}

// Ruleset-wide "enabled" has a neutral form exactly where every rule is on.
func TestMergeWideEnabled(t *testing.T) {
	allOn := difftest.Managed()
	allOn.Rules[5].Enabled = nil
	for _, test := range []struct {
		managed   edge.Ruleset
		merges    bool
		live      string
		decision  desired.Unmanaged
		want      string
		leftovers string
	}{
		{allOn, false, `{"enabled":true}`, "", `{"enabled":true}`, ""},
		{allOn, false, `{"enabled":true}`, desired.Remove, `{"enabled":true}`, ""},
		{allOn, false, `{"enabled":false}`, desired.Remove, "", "overrides.enabled"},
		{allOn, true, `{"enabled":false}`, desired.Remove, `{"enabled":true}`, "overrides.enabled"},
		{allOn, false, `{"enabled":false}`, desired.Keep, `{"enabled":false}`, "overrides.enabled"},
		{difftest.Managed(), false, `{"enabled":true}`, "", `{"enabled":true}`, "overrides.enabled"},
		{difftest.Managed(), false, `{"enabled":true}`, desired.Remove, "", "overrides.enabled"},
		{difftest.Managed(), true, `{"enabled":false}`, desired.Remove, "", "overrides.enabled"},
	} {
		mg := merger{managed: index(test.managed), decisions: decisions{byDefault: difftest.Declared(11, test.decision)}, merges: test.merges}
		if got := difftest.OverridesText(t, mg.merge(difftest.ParseOverrides(t, test.live), claims{})); got != test.want {
			t.Errorf("%s %q: got %s, want %s", test.live, test.decision, got, test.want)
		}
		if got := difftest.Paths(mg.leftovers); got != test.leftovers {
			t.Errorf("%s %q: leftovers %s, want %s", test.live, test.decision, got, test.leftovers)
		}
	}
}

// An entry of ours that says nothing stays ours for as long as it is there,
// even while a paranoia level claims that it must not be off.
func TestStandInsAreRemembered(t *testing.T) {
	for _, test := range []struct {
		name   string
		live   string
		intent desired.Deployment
		before map[diff.Member]bool
		want   string
	}{
		{"new", `{"rules":[{"id":"R0","enabled":false}]}`, difftest.Deployment(), difftest.Members(`overrides.rules["R0"].enabled`), `overrides.rules["R0"]`},
		{"still there", `{"rules":[{"id":"R0","enabled":true}]}`, difftest.Deployment(), difftest.Members(`overrides.rules["R0"]`), `overrides.rules["R0"]`},
		{"of somebody else", `{"rules":[{"id":"R0","enabled":true}]}`, difftest.Deployment(), nil, ``},
		{"at the level", `{"categories":[{"category":"PL4","enabled":true}]}`, difftest.Deployment(difftest.Paranoia(4)), difftest.Members(`overrides.categories["PL4"]`), `overrides.categories["PL4"]`},
		{"at the level, of somebody else", `{"categories":[{"category":"PL4","enabled":true}]}`, difftest.Deployment(difftest.Paranoia(4)), nil, ``},
		{"now claimed", `{"rules":[{"id":"R0","enabled":true}]}`, difftest.Deployment(difftest.DisabledRule(0)), difftest.Members(`overrides.rules["R0"]`), ``},
		{"now meaning something", `{"rules":[{"id":"R0","enabled":true}]}`, difftest.Deployment(difftest.DisableTag("sqli")), difftest.Members(`overrides.rules["R0"]`), ``},
	} {
		c, _ := resolve(test.intent, index(difftest.Managed()))
		mg := merger{managed: index(difftest.Managed()), before: setOf(slices.Collect(maps.Keys(test.before))), merges: test.name == "new"}
		mg.merge(difftest.ParseOverrides(t, test.live), c)
		var got []string
		for _, m := range mg.standIns {
			got = append(got, difftest.Names(true).Replace(string(m)))
		}
		if fmt.Sprint(got) != fmt.Sprint(strings.Fields(test.want)) {
			t.Errorf("%s: got %v, want %s", test.name, got, test.want)
		}
	}
}

func TestOwnedIsWhatWasWritten(t *testing.T) {
	d := difftest.Deployment(difftest.Paranoia(3), difftest.Threshold(25, "log"), difftest.DisabledRule(0), difftest.DisableTag("sqli"))
	c, _ := resolve(d, index(difftest.Managed()))
	var got []string
	for _, m := range owned(c, []diff.Member{ruleMember(difftest.RuleID(3), "")}) {
		got = append(got, difftest.Names(true).Replace(string(m)))
	}
	want := []string{
		`overrides.categories["PL4"].enabled`, `overrides.categories["sqli"].enabled`, `overrides.rules["R0"].enabled`,
		`overrides.rules["R3"]`, `overrides.rules["R8"].action`, `overrides.rules["R8"].score_threshold`,
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A history of commits that Seawall alone has written is never refused for
// something it left behind itself, and every commit converges.
func TestNothingOfOursIsLaidAtSomebodyElsesDoor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live, applied := difftest.Execute(nil), diff.Applied{}
		for range rapid.IntRange(1, 5).Draw(t, "commits") {
			d := difftest.GenDeployment(t)
			plan := planScene(difftest.Scene{State: difftest.State(d), Live: difftest.Live(live), Applied: applied})
			for _, p := range plan.Problems {
				if p.State == diff.Undecided {
					t.Fatalf("undecided: %+v\nlive %+v\napplied %v", p, overridesOf(live), applied)
				}
			}
			for _, c := range plan.Changes {
				live = replaced(live, difftest.UpdateOf(c).Body)
				applied = diff.Applied{c.ID(): c.Do().Owned()}
			}
			for _, s := range plan.Settled {
				applied = diff.Applied{s.ID: s.Owned}
			}
		}
	})
}
