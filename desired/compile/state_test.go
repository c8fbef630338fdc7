package compile_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
	"github.com/seawall-dev/seawall/edge"
)

// Templates, patterns, defaults and comprehensions: each value leads to the
// line that set it.
func TestOrigins(t *testing.T) {
	state := valid(t, map[string]string{
		"cue.mod/module.cue": mod,
		"base.cue": `package edge

_std: waf: core: {
	threshold: {score: 40, action: "block"}
	disable: tags: ["wordpress"]
}
account: [string]: zone: [string]: {
	labels: tier: *"free" | string
	waf: core: paranoia: *1 | int
}
account: prod: {
	id: "` + id1 + `"
	ruleset: core: name: "Core Ruleset"
}
`,
		"gold/zones.cue": `package edge

account: prod: zone: {
	shop: _std & {
		id: "` + id2 + `"
		labels: tier: "gold"
		waf: core: {
			paranoia: 3
			expression: "true"
			unmanaged: "keep", keep: [{all: true}], remove: [{tag: "x"}]
			disable: rules: ["` + id1 + `", {ref: "r1"}, {id: "` + id2 + `"}]
			all: action: "log"
			tags: [{tag: "beta", enabled: true, sensitivity: "low"}]
			rules: [{ref: "r2", action: "block"}, {id: "` + id2 + `"
				score: 25}]
		}
	}
	for n in ["a", "b"] {
		"\(n).example": {
			id: "0000000000000000000000000000000\(n)"
			waf: core: enabled: false
		}
	}
}
`,
	})
	var got []string
	note := func(name string, value any, o desired.Origin) {
		place := o.String()
		if place == "" {
			place = "schema"
		}
		got = append(got, fmt.Sprintf("%s = %v at %s", name, value, place))
	}
	note("account", state.Accounts[0].ID, state.Accounts[0].Origin)
	note("ruleset", state.Accounts[0].Rulesets[0].Name, state.Accounts[0].Rulesets[0].Origin)
	for _, z := range state.Accounts[0].Zones {
		note(z.Key, z.Labels["tier"], z.Origin)
		d := z.Deployments[0]
		note("  deployment", d.Ruleset, d.Origin)
		note("  enabled", d.Enabled.Value, d.Enabled.Origin)
		note("  paranoia", d.Paranoia.Value, d.Paranoia.Origin)
		if d.Threshold != nil {
			note("  score", d.Threshold.Score.Value, d.Threshold.Score.Origin)
			note("  action", d.Threshold.Action.Value, d.Threshold.Action.Origin)
			note("  expression", d.Expression.Value, d.Expression.Origin)
			note("  unmanaged", d.Unmanaged.Value, d.Unmanaged.Origin)
			note("  tag", d.Disable.Tags[0].Value, d.Disable.Tags[0].Origin)
			for _, r := range d.Disable.Rules {
				note("  rule", r.Value, r.Origin)
			}
			note("  all", d.All.Action.Value, d.All.Action.Origin)
			note("  tag", d.Tags[0].Tag, d.Tags[0].Origin)
			note("  tag enabled", d.Tags[0].Enabled.Value, d.Tags[0].Enabled.Origin)
			note("  tag sensitivity", d.Tags[0].Sensitivity.Value, d.Tags[0].Sensitivity.Origin)
			for _, r := range d.Rules {
				note("  override", r.Rule, r.Origin)
			}
			note("  decision", d.Decisions[0].Unmanaged+" "+desired.Unmanaged(d.Decisions[0].About()), d.Decisions[0].Origin)
			note("  decision", d.Decisions[1].Unmanaged+" "+desired.Unmanaged(d.Decisions[1].About()), d.Decisions[1].Origin)
			note("  rule score", d.Rules[1].Score.Value, d.Rules[1].Score.Origin)
		}
	}
	want := []string{
		"account = " + id1 + " at base.cue:12:2",
		"ruleset = Core Ruleset at base.cue:13:11",
		"a.example = free at gold/zones.cue:19:3",
		"  deployment = core at gold/zones.cue:21:9",
		"  enabled = false at gold/zones.cue:21:15",
		"  paranoia = 1 at base.cue:9:13",
		"b.example = free at gold/zones.cue:19:3",
		"  deployment = core at gold/zones.cue:21:9",
		"  enabled = false at gold/zones.cue:21:15",
		"  paranoia = 1 at base.cue:9:13",
		"shop = gold at gold/zones.cue:4:2",
		"  deployment = core at gold/zones.cue:7:8",
		"  enabled = true at schema",
		"  paranoia = 3 at gold/zones.cue:8:14",
		"  score = 40 at base.cue:4:14",
		"  action = block at base.cue:4:25",
		"  expression = true at gold/zones.cue:9:4",
		"  unmanaged = keep at gold/zones.cue:10:4",
		"  tag = wordpress at base.cue:5:18",
		"  rule = " + id1 + " at gold/zones.cue:11:21",
		`  rule = ref "r1" at gold/zones.cue:11:57`,
		"  rule = " + id2 + " at gold/zones.cue:11:70",
		"  all = log at gold/zones.cue:12:9",
		"  tag = beta at gold/zones.cue:13:11",
		"  tag enabled = true at gold/zones.cue:13:25",
		"  tag sensitivity = low at gold/zones.cue:13:40",
		`  override = ref "r2" at gold/zones.cue:14:12`,
		"  override = " + id2 + " at gold/zones.cue:14:42",
		"  decision = keep the override on all rules at gold/zones.cue:10:30",
		`  decision = remove the tag "x" at gold/zones.cue:10:53`,
		"  rule score = 25 at gold/zones.cue:15:5",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("origins (-want +got):\n%s", diff)
	}
}

const allForms = `package tokens

import "example.com/edge/seawall"

let accountID = "` + id1 + `"
let zoneID = "` + id2 + `"
_groups: [{id: "g2", name: "DNS Write"}, {id: "g1"}]

user: "u-1"
token: all: {
	name: "all forms"
	policies: [
		{effect: "allow", permission_groups: _groups, resources: {
			"com.vendor.api.account.\(accountID)": "*"
			"com.vendor.api.account.zone.\(zoneID)": "*"
			"com.vendor.api.account.*": "*"
		}},
		{effect: "deny", permission_groups: _groups, resources: {
			"com.vendor.api.account.\(accountID)": "com.vendor.api.account.zone.*": "*"
			"com.vendor.api.account.zone.*": "*"
			"com.vendor.api.user.u-1": "*"
		}},
	]
	not_before: "2026-01-01T00:00:00Z"
	expires_on: "2027-01-01T00:00:00Z"
	condition: "request.ip": {in: ["192.0.2.0/24", "2001:db8::/32"], not_in: ["192.0.2.7/32"]}
	sink: {name: "ci", key: "dns/token"}
	prune: true
}
token: helped: {
	policies: [
		for r in [
			seawall.#AccountResource & {account: "` + id1 + `"},
			seawall.#AllAccountsResource,
			seawall.#ZoneResource & {zone: "` + id2 + `"},
			seawall.#AccountZonesResource & {account: "` + id1 + `"},
			seawall.#AllZonesResource,
			seawall.#UserResource & {user: "u-1"},
		] {effect: "allow", permission_groups: _groups, resources: r.resources},
	]
	rotate: {every: "720h", overlap: "24h"}
}
`

func TestTokens(t *testing.T) {
	fsys := tree(map[string]string{"cue.mod/module.cue": mod, "tokens/all.cue": allForms})
	maps.Copy(fsys, exported())
	state, problems := compiletest.Tree(fsys, ".", "")
	for _, p := range problems {
		t.Fatal(p)
	}
	groups := []desired.PermissionGroup{
		{ID: "g2", Name: "DNS Write", Origin: desired.Origin{File: "tokens/all.cue", Line: 7, Column: 11}},
		{ID: "g1", Origin: desired.Origin{File: "tokens/all.cue", Line: 7, Column: 42}},
	}
	at := func(line, column int) desired.Origin {
		return desired.Origin{File: "tokens/all.cue", Line: line, Column: column}
	}
	want := desired.Token{
		Key: "all", Name: "all forms", Origin: at(10, 8),
		Policies: []desired.Policy{
			{Origin: at(13, 3), Effect: "allow", PermissionGroups: groups, Resources: []desired.Resource{
				{Key: "com.vendor.api.account.*"}, {Key: "com.vendor.api.account." + id1}, {Key: "com.vendor.api.account.zone." + id2},
			}},
			{Origin: at(18, 3), Effect: "deny", PermissionGroups: groups, Resources: []desired.Resource{
				{Key: "com.vendor.api.account." + id1, AllZones: true}, {Key: "com.vendor.api.account.zone.*"}, {Key: "com.vendor.api.user.u-1"},
			}},
		},
		NotBefore: "2026-01-01T00:00:00Z", ExpiresOn: "2027-01-01T00:00:00Z",
		Condition: &desired.Condition{In: []string{"192.0.2.0/24", "2001:db8::/32"}, NotIn: []string{"192.0.2.7/32"}},
		Sink:      &desired.Sink{Name: "ci", Key: "dns/token"},
		Prune:     true,
		Places: map[string]desired.Origin{
			"name": at(11, 2), "not_before": at(24, 2), "expires_on": at(25, 2), "condition.request.ip.in": at(26, 28),
			"condition.request.ip.not_in": at(26, 67), "sink.name": at(27, 9), "sink.key": at(27, 21), "prune": at(28, 2),
		},
	}
	if diff := cmp.Diff(want, state.Tokens[0]); diff != "" {
		t.Errorf("token in the documented form (-want +got):\n%s", diff)
	}
	helped := state.Tokens[1]
	var keys []string
	for _, p := range helped.Policies {
		keys = append(keys, fmt.Sprintf("%s %t", p.Resources[0].Key, p.Resources[0].AllZones))
	}
	wantKeys := []string{
		"com.vendor.api.account." + id1 + " false", "com.vendor.api.account.* false",
		"com.vendor.api.account.zone." + id2 + " false", "com.vendor.api.account." + id1 + " true",
		"com.vendor.api.account.zone.* false", "com.vendor.api.user.u-1 false",
	}
	if diff := cmp.Diff(wantKeys, keys); diff != "" {
		t.Errorf("the six helpers (-want +got):\n%s", diff)
	}
	if helped.Name != "helped" || helped.Rotate == nil || *helped.Rotate != (desired.Rotate{Every: 720 * time.Hour, Overlap: 24 * time.Hour}) {
		t.Errorf("token by helpers: %+v", helped)
	}
	if state.User == nil || state.User.Value != "u-1" || state.User.Origin != at(9, 1) {
		t.Errorf("user: %+v", state.User)
	}
}

func TestMaskedRanges(t *testing.T) {
	state, problems := compiletest.Tree(tree(map[string]string{"a.cue": `package a
token: a: {
	policies: [{effect: "allow", resources: "com.vendor.api.account.*": "*", permission_groups: [{id: "g"}]}]
	condition: "request.ip": in: ["192.0.2.9/24", "2001:DB8::1/32"]
}`}), ".", "")
	if len(problems) != 2 || !problems[0].Warning || !problems[1].Warning {
		t.Errorf("problems: got %v, want two warnings", problems)
	}
	if diff := cmp.Diff([]string{"192.0.2.0/24", "2001:db8::/32"}, state.Tokens[0].Condition.In); diff != "" {
		t.Errorf("ranges (-want +got):\n%s", diff)
	}
}

// A zone of the folder above reaches the folders below: it is one declaration.
// An account's rulesets may come from another folder than its zones, and
// values from a package of the same module.
func TestFoldersBecomeOneState(t *testing.T) {
	state := valid(t, map[string]string{
		"cue.mod/module.cue": mod,
		"base.cue": `package edge
account: prod: {
	id: "` + id1 + `"
	ruleset: core: id: "` + id2 + `"
	zone: root: {id: "00000000000000000000000000000009", waf: core: {}}
}
`,
		"defaults/d.cue": "package defaults\n#Paranoia: 2\n",
		"b/b.cue": `package edge
import "example.com/edge/defaults"
account: prod: zone: b: {id: "0000000000000000000000000000000b", waf: core: paranoia: defaults.#Paranoia}
`,
		"a/deep/a.cue": `package edge
account: prod: zone: a: {id: "0000000000000000000000000000000a", waf: core: {}}
`,
		"_drafts/x.cue":   "nonsense",
		".hidden/x.cue":   "nonsense",
		"b/_ignored.cue":  "nonsense",
		"b/run_tool.cue":  "nonsense",
		"b/some_test.cue": "nonsense",
	})
	var zones []string
	for _, z := range state.Accounts[0].Zones {
		zones = append(zones, fmt.Sprintf("%s %s %s", z.Key, z.Scope, z.Origin))
	}
	want := []string{
		"a 0000000000000000000000000000000a a/deep/a.cue:2:22",
		"b 0000000000000000000000000000000b b/b.cue:3:22",
		"root 00000000000000000000000000000009 base.cue:5:8",
	}
	if diff := cmp.Diff(want, zones); diff != "" {
		t.Errorf("zones (-want +got):\n%s", diff)
	}
	if state.Accounts[0].Rulesets[0].ID != edge.RulesetID(id2) || state.Commit != "c0ffee" {
		t.Errorf("state: %+v", state)
	}
}

func TestEmptyOnPurpose(t *testing.T) {
	state := valid(t, map[string]string{"a.cue": "package a\naccount: {}\n"})
	if state.Commit != "c0ffee" || state.Zones() != 0 {
		t.Errorf("state: %+v", state)
	}
	valid(t, map[string]string{"a.cue": "package a\n_helpers: 1\n#Defs: {x: int}\n"})
}

// The exported schema is itself a folder that declares nothing.
func TestExportedSchemaIsValid(t *testing.T) {
	state, problems := compiletest.Tree(exported(), ".", "")
	if len(problems) > 0 || state.Zones() != 0 {
		t.Errorf("exported schema: %v, %+v", problems, state)
	}
}

// The path of the configuration narrows what is compiled; positions stay
// relative to the repository, and files of the package above are inherited.
func TestRootBelowModule(t *testing.T) {
	files := map[string]string{
		"cue.mod/module.cue": mod,
		"base.cue":           "package edge\naccount: prod: id: \"" + id1 + "\"\n",
		"live/z.cue":         "package edge\naccount: prod: zone: x: {id: \"" + id2 + "\", waf: {}}\n",
		"other/z.cue":        "broken {",
	}
	state, problems := compiletest.Tree(tree(files), "live", "")
	if len(problems) > 0 || state.Zones() != 1 || state.Accounts[0].Zones[0].Origin.File != "live/z.cue" {
		t.Errorf("got %+v, %v", state, problems)
	}
}

func TestMergeOfNothing(t *testing.T) {
	if _, problems := compile.Merge(nil, "c"); len(desired.Errors(problems)) != 1 {
		t.Errorf("got %v, want one error", problems)
	}
}

// A folder that fails takes its rulesets with it; the zones of other folders
// are not blamed for that.
func TestMistakesDoNotCascade(t *testing.T) {
	_, problems := compiletest.Tree(tree(map[string]string{
		"cue.mod/module.cue": mod,
		"base.cue":           "package edge\naccount: prod: id: \"" + id1 + "\"\n",
		"a/rulesets.cue":     "package edge\naccount: prod: ruleset: core: nam: \"Core\"\n",
		"b/zones.cue":        "package edge\naccount: prod: zone: b: {id: \"" + id2 + "\", waf: core: {}}\n",
	}), ".", "")
	want := "a/rulesets.cue:2:31: account.prod.ruleset.core.nam: unknown field\n    did you mean \"name\"?\n"
	if got := report(problems); got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
}

// Rulesets and zones of one account may stand in different folders.
func TestRulesetsOfAnotherFolder(t *testing.T) {
	state := valid(t, map[string]string{
		"cue.mod/module.cue": mod,
		"base.cue":           "package edge\naccount: prod: id: \"" + id1 + "\"\n",
		"a/rulesets.cue":     "package edge\naccount: prod: ruleset: core: name: \"Core\"\n",
		"b/zones.cue":        "package edge\naccount: prod: zone: b: {id: \"" + id2 + "\", waf: core: {}}\n",
	})
	if state.Deployments() != 1 || len(state.Accounts[0].Rulesets) != 1 {
		t.Errorf("state: %+v", state)
	}
}
