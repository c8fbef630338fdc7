package mem_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestMergeKeepsWhatIsLeftOut(t *testing.T) {
	p := newPlatform(t, "patch=merge")
	before := entryPoint(t, p, mem.BlogZone)
	got, err := update(t, p, mem.BlogZone, `{"expression":null,"enabled":false,"action_parameters":{"overrides":{"categories":[{"category":"xss","enabled":false}],"rules":null}}}`)
	must.Do(t, err)
	want := before.Rules[0].Update()
	want.Enabled = new(false)
	want.ActionParameters.Overrides.Categories = []edge.CategoryOverride{{Category: "xss", Enabled: new(false)}}
	if diff := cmp.Diff(want, got.Rules[0].Update()); diff != "" {
		t.Error(diff)
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
	must.Do(t, p.SetQuirks(nil))
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
		"patch=both":                          `"both" is none of them`,
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
