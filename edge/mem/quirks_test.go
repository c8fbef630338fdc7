package mem_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

func TestMergeKeepsWhatIsLeftOut(t *testing.T) {
	p := newPlatform(t, "patch=merge")
	before := entryPoint(t, p, mem.BlogZone)
	got, err := update(t, p, mem.BlogZone, `{"expression":null,"enabled":false,"action_parameters":{"overrides":{"categories":[{"category":"xss","enabled":false}],"rules":null}}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := before.Rules[0].Update()
	want.Enabled = new(false)
	want.ActionParameters.Overrides.Categories = []edge.CategoryOverride{{Category: "xss", Enabled: new(false)}}
	if diff := cmp.Diff(want, got.Rules[0].Update()); diff != "" {
		t.Error(diff)
	}
}

func TestMergeRefusesWhatIsEmpty(t *testing.T) {
	p := newPlatform(t, "patch=merge")
	before := p.State()
	for _, body := range []string{
		`{"action_parameters":{"overrides":{}}}`,
		`{"action_parameters":{"overrides":{"rules":[]}}}`,
		`{"action_parameters":{"overrides":{"categories":[]}}}`,
		`{"action_parameters":{"id":""}}`,
		`{"expression":""}`,
		`{"action":" "}`,
	} {
		if _, err := update(t, p, mem.BlogZone, body); !errors.Is(err, edge.ErrInvalid) {
			t.Errorf("%s: %v", body, err)
		}
	}
	if diff := cmp.Diff(before, p.State()); diff != "" {
		t.Errorf("the state changed all the same:\n%s", diff)
	}
}

// A write that is lost looks like one that was made: only what is read tells.
func TestIgnoredUpdatesLookAccepted(t *testing.T) {
	p := newPlatform(t, "patch=ignored")
	before := entryPoint(t, p, mem.BlogZone)
	got, err := update(t, p, mem.BlogZone, `{"action":"execute","action_parameters":{"id":"c04e0000000000000000000000000001"},"expression":"false"}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Rules[0].Update(), got.Rules[0].Update()); diff != "" {
		t.Errorf("the rule changed:\n%s", diff)
	}
	if got.Version != "2" || got.Rules[0].Version != "2" || got.LastUpdated == before.LastUpdated {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff(*got, entryPoint(t, p, mem.BlogZone)); diff != "" {
		t.Errorf("answer and state differ:\n%s", diff)
	}
	if _, err := update(t, p, mem.BlogZone, `{"action":"log","expression":" "}`); !errors.Is(err, edge.ErrInvalid) {
		t.Errorf("a bad body: %v", err)
	}
	if err := p.SetQuirks(nil); err != nil {
		t.Fatal(err)
	}
	if got, err = update(t, p, mem.BlogZone, `{"action":"execute","action_parameters":{"id":"c04e0000000000000000000000000001"},"expression":"false"}`); err != nil || got.Rules[0].Expression != "false" {
		t.Errorf("without the quirk: %+v, %v", got, err)
	}
}

func TestReorderTurnsRulesAndNeverCategories(t *testing.T) {
	p := newPlatform(t, "reorder")
	body := `{"action":"execute","expression":"true","action_parameters":{"id":"c04e0000000000000000000000000001","overrides":{` +
		`"categories":[{"category":"a","enabled":true},{"category":"b","enabled":false}],` +
		`"rules":[{"id":"1","enabled":true},{"id":"2","enabled":false},{"id":"3","action":"log"}]}}}`
	answer, err := update(t, p, mem.ShopZone, body)
	if err != nil {
		t.Fatal(err)
	}
	for name, entry := range map[string]edge.Ruleset{"answer": *answer, "read": entryPoint(t, p, mem.ShopZone)} {
		overrides := entry.Rules[0].ActionParameters.Overrides
		var order string
		for _, c := range overrides.Categories {
			order += c.Category
		}
		for _, r := range overrides.Rules {
			order += string(r.ID)
		}
		if order != "ab321" {
			t.Errorf("%s: order %s", name, order)
		}
	}
	if id := p.State().Zones[0].EntryPoint.Rules[0].ActionParameters.Overrides.Rules[0].ID; id != "1" {
		t.Errorf("the quirk changed the state: first is rule %s", id)
	}
}

func TestDefaultsFillsAnswersOnly(t *testing.T) {
	p := newPlatform(t, "defaults")
	answer, err := update(t, p, mem.ShopZone, `{"action":"execute","expression":"true","action_parameters":{"id":"c04e0000000000000000000000000001","overrides":{"rules":[{"id":"1","action":"log"}]}}}`)
	if err != nil {
		t.Fatal(err)
	}
	rule := answer.Rules[0]
	if rule.Enabled == nil || !*rule.Enabled || rule.Description == nil || *rule.Description != "" ||
		rule.Ref != string(rule.ID) || rule.ActionParameters.Version != "latest" {
		t.Errorf("not filled: %+v", rule)
	}
	want := &edge.Overrides{Rules: []edge.RuleOverride{{ID: "1", Action: new(edge.ActionLog)}}}
	if diff := cmp.Diff(want, rule.ActionParameters.Overrides); diff != "" {
		t.Errorf("overrides were filled:\n%s", diff)
	}
	if stored := p.State().Zones[0].EntryPoint.Rules[0]; stored.Enabled != nil || stored.Ref != "" {
		t.Errorf("the quirk changed the state: %+v", stored)
	}
}

func TestOmitEmptyRules(t *testing.T) {
	for quirk, missing := range map[string]bool{"omit-empty-rules": true, "patch=replace": false} {
		p := newPlatform(t, quirk)
		if err := p.SetEntryPoint(mem.NewZone, edge.Ruleset{}); err != nil {
			t.Fatal(err)
		}
		if entry := entryPoint(t, p, mem.NewZone); (entry.Rules == nil) != missing || len(entry.Rules) > 0 {
			t.Errorf("%s: rules %#v", quirk, entry.Rules)
		}
		if shop := entryPoint(t, p, mem.ShopZone); len(shop.Rules) != 1 {
			t.Errorf("%s: %d rules in a zone that has one", quirk, len(shop.Rules))
		}
	}
}

func TestRulesetBumpAtEveryNthRead(t *testing.T) {
	p := newPlatform(t, "ruleset-bump=3")
	read := func(id edge.RulesetID) edge.Ruleset {
		r, err := p.Ruleset(t.Context(), edge.AccountScope(mem.Account), id)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := read(mem.CoreRuleset)
	read(mem.CustomRuleset) // not a managed one: not counted
	second, third := read(mem.CoreRuleset), read(mem.CoreRuleset)
	if first.Version != "1" || second.Version != "1" || third.Version != "2" || third.LastUpdated == first.LastUpdated {
		t.Errorf("versions %s, %s, %s", first.Version, second.Version, third.Version)
	}
	if diff := cmp.Diff(first.Rules, third.Rules); diff != "" {
		t.Errorf("the rules changed:\n%s", diff)
	}
}

func TestSetQuirksReplacesThem(t *testing.T) {
	p := newPlatform(t, "defaults")
	if err := p.SetQuirks([]string{"nonsense"}); err == nil {
		t.Error("an unknown quirk is taken")
	}
	if _, err := update(t, p, mem.ShopZone, `{"action":"execute","action_parameters":{"id":"c04e0000000000000000000000000001"},"expression":"true"}`); err != nil {
		t.Fatal(err)
	}
	if entryPoint(t, p, mem.ShopZone).Rules[0].Enabled == nil {
		t.Error("a refused list took the quirks away")
	}
	if err := p.SetQuirks(nil); err != nil {
		t.Fatal(err)
	}
	if entryPoint(t, p, mem.ShopZone).Rules[0].Enabled != nil {
		t.Error("the quirk is still there")
	}
}

func TestParseQuirksExplainsMistakes(t *testing.T) {
	table := append(mem.Quirks(), mem.Quirk{Name: "slow", Argument: mem.Duration},
		mem.Quirk{Name: "zone", Argument: mem.Zones}, mem.Quirk{Name: "zone-for", Argument: mem.ZonesFor})
	for item, want := range map[string]string{
		"reordr":                              "did you mean reorder?",
		"ruleset-bmup":                        "did you mean ruleset-bump=N?",
		"patch":                               "write patch=replace|merge|ignored",
		"patch=both":                          `"both" is neither of them`,
		"ruleset-bump":                        "the count is a whole number from 1",
		"ruleset-bump=0":                      "the count is a whole number from 1",
		"reorder=1":                           "it takes no value",
		"slow=fast":                           "written such as 250ms",
		"slow=-1s":                            "written such as 250ms",
		"zone":                                "write zone=ZONE_ID",
		"zone=shop":                           `"shop" is no zone id`,
		"zone-for=shop":                       "write zone-for=ZONE_ID:DURATION",
		"zone-for=" + mem.ShopZone.String():   "written such as 250ms",
		"zone=" + mem.ShopZone.String() + ",": "is no zone id",
		"quite-else":                          "the quirks are patch, reorder",
	} {
		_, err := mem.ParseQuirks(table, []string{item})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", item, err, want)
		}
	}
	both := mem.ShopZone.String() + "," + mem.BlogZone.String()
	if _, err := mem.ParseQuirks(table, []string{"zone=" + both, "zone-for=" + both + ":3s"}); err != nil {
		t.Error(err)
	}
	if _, err := mem.ParseQuirks(table, []string{"reorder", "reorder"}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("twice: %v", err)
	}
	if _, err := mem.New(mem.Config{Quirks: []string{"slow=1s"}}); err == nil {
		t.Error("a quirk of transport is taken in memory")
	}
}
