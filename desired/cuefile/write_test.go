package cuefile_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
	"github.com/seawall-dev/seawall/desired/cuefile"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

var update = flag.Bool("update", false, "rewrite golden files")

func value[T any](v T) *desired.Declared[T] { return &desired.Declared[T]{Value: v} }

// run is a deployment of the core ruleset.
func run(paranoia, score int, tags ...string) desired.Deployment {
	d := desired.Deployment{Ruleset: "core", Enabled: *value(true), Expression: value("true"), Paranoia: value(paranoia)}
	d.Threshold = &desired.Threshold{Score: *value(score), Action: *value(edge.ActionManagedChallenge)}
	for _, tag := range tags {
		d.Disable.Tags = append(d.Disable.Tags, *value(tag))
	}
	return d
}

func zone(i int, name string, deployments ...desired.Deployment) cuefile.Zone {
	return cuefile.Zone{Zone: desired.Zone{Key: name, Scope: edge.ZoneScope(edge.ZoneID(fmt.Sprintf("%032x", i))), Deployments: deployments}}
}

func account(zones ...cuefile.Zone) cuefile.Account {
	return cuefile.Account{
		Account: desired.Account{
			Key: "prod", ID: "0123456789abcdef0123456789abcdef",
			Rulesets: []desired.RulesetRef{{Key: "core", Name: "Core Ruleset"}, {Key: "owasp", ID: "c04e0000000000000000000000000002"}},
		},
		Comment: "Example Ltd", RulesetComment: map[string]string{"owasp": "OWASP, the older of two"},
		Zones: zones,
		Words: cuefile.Words{Rule: func(_ string, ref desired.RuleRef) string {
			return map[string]string{"xss-script-tag": "Cross-site scripting by a script tag", "c04e0000000000000000000100000018": "Anomaly score"}[ref.Ref+string(ref.ID)]
		}, Skip: func(zone, _, rule string) []string {
			if rule == "partners" {
				return []string{"Of the account."}
			}
			return []string{"Of the zone " + zone + ".", "Each request matches."}
		}},
	}
}

// fleet has three tiers and five zones that differ from theirs.
func fleet() cuefile.Repository {
	var zones []cuefile.Zone
	for i := range 12 {
		zones = append(zones, zone(100+i, fmt.Sprintf("blog-%02d.example", i), run(1, 60, "wordpress")))
	}
	for i := range 8 {
		zones = append(zones, zone(200+i, fmt.Sprintf("shop-%02d.example", i), run(2, 40)))
	}
	strict := run(3, 25)
	strict.Disable.Rules = []desired.Declared[desired.RuleRef]{*value(desired.RuleRef{Ref: "xss-script-tag"})}
	for i := range 5 {
		zones = append(zones, zone(300+i, fmt.Sprintf("bank-%02d.example", i), strict))
	}
	zones[3].Deployments = []desired.Deployment{run(2, 60, "wordpress")}
	zones[7].Deployments = []desired.Deployment{run(1, 60)}
	zones[13].Deployments = []desired.Deployment{run(2, 30, "php")}
	logs := run(2, 40)
	logs.Rules = []desired.RuleOverride{{Rule: desired.RuleRef{ID: "c04e0000000000000000000100000003"}, Override: desired.Override{Action: value(edge.ActionLog)}}}
	zones[15].Deployments = []desired.Deployment{logs}
	narrow := strict
	narrow.Expression = value(`http.host ne "old.example"`)
	zones[22].Deployments = []desired.Deployment{narrow}
	ofAccount := desired.Accepted{Rule: "partners", Owner: "team-sre", Until: "2027-03-31", Expression: `(http.host eq "bank.example")`, All: true}
	for i := 20; i < 25; i++ {
		d := zones[i].Deployments[0]
		d.Accepted = []desired.Accepted{ofAccount}
		if i == 21 {
			d.Accepted = []desired.Accepted{{Rule: "a0000000000000000000000000000001", Owner: "TODO", Expression: "true", Rules: []edge.RuleID{
				"c04e0000000000000000000100000003", "c04e0000000000000000000100000018",
			}}, ofAccount}
		}
		zones[i].Deployments = []desired.Deployment{d}
	}
	zones = append(zones, zone(400, "new.example"), zone(401, "staging.example", desired.Deployment{
		Ruleset: "owasp", Enabled: *value(false), Expression: value("true"), Unmanaged: nil,
		All:       desired.Override{Action: value(edge.ActionLog)},
		Tags:      []desired.TagOverride{{Tag: "sqli", Override: desired.Override{Enabled: value(true), Sensitivity: value("low")}}},
		Decisions: []desired.Decision{{Unmanaged: desired.Keep, Tag: "gone"}},
	}))
	zones[len(zones)-2].Notes = []string{"Nothing is deployed in this zone."}
	return cuefile.Repository{Package: "edge", Base: "edge", Header: []string{"Imported from https://api.example/client/v4."}, Accounts: []cuefile.Account{account(zones...)}}
}

func TestAFleetOfThreeTiersReadsAsOne(t *testing.T) {
	files, summary, err := cuefile.Write(fleet())
	must.Do(t, err)
	if summary.Tiers != 3 || summary.Exceptions != 6 || summary.Own != 1 {
		t.Errorf("%+v", summary)
	}
	for _, f := range files {
		golden := filepath.Join("testdata", "fleet", f.Name)
		if *update {
			must.Do(t, os.MkdirAll(filepath.Dir(golden), 0o755))
			must.Do(t, os.WriteFile(golden, f.Content, 0o644))
		}
		want, err := os.ReadFile(golden)
		if err != nil || string(want) != string(f.Content) {
			t.Errorf("%s differs (%v); -update writes it:\n%s", f.Name, err, f.Content)
		}
	}
	if sum := compiled(t, files); len(sum.Accounts[0].Zones) != 27 {
		t.Errorf("%d zones", len(sum.Accounts[0].Zones))
	}
}

type fataler interface{ Fatalf(string, ...any) }

// compiled is what files declare, evaluated as a repository is.
func compiled(t fataler, files []cuefile.File) desired.State {
	tree := fstest.MapFS{"cue.mod/module.cue": {Data: []byte("module: \"edge.example/desired\"\nlanguage: version: \"v0.16.0\"\n")}}
	for _, f := range files {
		tree[f.Name] = &fstest.MapFile{Data: f.Content}
	}
	state, problems := compiletest.Tree(tree, ".", "")
	if len(desired.Errors(problems)) > 0 {
		var b strings.Builder
		for _, f := range files {
			fmt.Fprintf(&b, "== %s\n%s\n", f.Name, f.Content)
		}
		t.Fatalf("%v\n%s", problems, b.String())
	}
	return state
}

// What was written for zones declares these zones, whatever they run and share.
func TestFilesDeclareWhatTheyWereWrittenFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shapes := rapid.SliceOfN(rapid.Custom(genDeployments), 1, 4).Draw(t, "shapes")
		var zones []cuefile.Zone
		for i := range rapid.IntRange(1, 14).Draw(t, "zones") {
			deployments := rapid.SampledFrom(shapes).Draw(t, "shape")
			if rapid.IntRange(0, 3).Draw(t, "exception") == 0 && len(deployments) > 0 {
				deployments = append([]desired.Deployment{}, deployments...)
				deployments[0] = genException(t, deployments[0])
			}
			zones = append(zones, zone(i, fmt.Sprintf("z%02d.example", i), deployments...))
		}
		files, _, err := cuefile.Write(cuefile.Repository{Package: "edge", Base: "edge", Accounts: []cuefile.Account{account(zones...)}})
		must.Do(t, err)
		state := compiled(t, files)
		for i, z := range state.Accounts[0].Zones {
			if !z.SameAs(zones[i].Zone) {
				for _, f := range files {
					t.Logf("== %s\n%s", f.Name, f.Content)
				}
				t.Fatalf("%s: declared\n%+v\nwant\n%+v", z.Key, z.Deployments, zones[i].Deployments)
			}
		}
	})
}

func genDeployments(t *rapid.T) (all []desired.Deployment) {
	for _, key := range []string{"core", "owasp"} {
		if rapid.IntRange(0, 3).Draw(t, "deployed") > 0 {
			d := genDeployment(t)
			d.Ruleset = key
			all = append(all, d)
		}
	}
	return all
}

// expressions are such as the schema's check takes, with what CUE must quote.
var expressions = []string{
	"true", `http.host eq "a"`, `http.host eq "a \"quoted\" one"`, `http.host eq "back\\slash"`, "ssl\nor http.host eq \"b\"",
	`http.host eq "ünïcode"`, `http.host eq r#"raw"#`, `http.host in {"a" "b"}`,
}

var texts = []string{"sqli", "xss", `a "quoted" one`, `back\slash`, "two\nlines", "ünïcode", `#"raw"#`, "a, b"}

func genDeployment(t *rapid.T) desired.Deployment {
	d := desired.Deployment{Enabled: *value(rapid.IntRange(0, 5).Draw(t, "off") > 0)}
	if rapid.Bool().Draw(t, "expression") {
		d.Expression = value(rapid.SampledFrom(expressions).Draw(t, "text"))
	}
	if rapid.Bool().Draw(t, "paranoia") {
		d.Paranoia = value(rapid.IntRange(1, 4).Draw(t, "level"))
	}
	if rapid.Bool().Draw(t, "threshold") {
		d.Threshold = &desired.Threshold{Score: *value(rapid.IntRange(1, 90).Draw(t, "score")), Action: *value(edge.ActionLog)}
	}
	genLists(t, &d)
	genAccepted(t, &d)
	if rapid.IntRange(0, 3).Draw(t, "all") == 0 {
		d.All = genOverride(t)
		if d.Paranoia != nil {
			d.All.Enabled = nil
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "unmanaged") == 0 {
		d.Unmanaged = value(desired.Keep)
	}
	return d
}

func genLists(t *rapid.T, d *desired.Deployment) {
	tags := rapid.SliceOfNDistinct(rapid.SampledFrom(texts), 0, 4, rapid.ID).Draw(t, "tags")
	for i, tag := range tags {
		if i%2 == 0 {
			d.Disable.Tags = append(d.Disable.Tags, *value(tag))
		} else if o := genOverride(t); !o.IsZero() {
			d.Tags = append(d.Tags, desired.TagOverride{Tag: tag, Override: o})
		}
	}
	refs := []desired.RuleRef{{Ref: "xss-script-tag"}, {Ref: "b"}, {ID: "c04e0000000000000000000100000018"}, {ID: "c04e0000000000000000000100000003"}}
	for i, ref := range rapid.SliceOfNDistinct(rapid.SampledFrom(refs), 0, 4, rapid.ID).Draw(t, "rules") {
		switch o := genOverride(t); {
		case i == 0:
			d.Disable.Rules = append(d.Disable.Rules, *value(ref))
		case i == 1 && !o.IsZero():
			d.Rules = append(d.Rules, desired.RuleOverride{Rule: ref, Override: o})
		case i == 2:
			d.Decisions = append(d.Decisions, desired.Decision{Unmanaged: desired.Keep, Rule: ref})
		}
	}
}

func genAccepted(t *rapid.T, d *desired.Deployment) {
	d.Bypass = rapid.SampledFrom([]*desired.Declared[desired.Bypass]{nil, nil, value(desired.RemoveBypass)}).Draw(t, "bypass")
	var rules []string
	for _, text := range texts {
		if !strings.Contains(text, "\n") { // a ref of several lines is no key
			rules = append(rules, text)
		}
	}
	for _, rule := range slices.Sorted(slices.Values(rapid.SliceOfNDistinct(rapid.SampledFrom(rules), 0, 2, rapid.ID).Draw(t, "accepted"))) {
		a := desired.Accepted{Rule: rule, Owner: "team", Expression: rapid.SampledFrom(texts).Draw(t, "of requests"), All: rapid.Bool().Draw(t, "all of it")}
		if rapid.Bool().Draw(t, "ends") {
			a.Until = "2027-03-31"
		}
		if !a.All {
			a.Rules = rapid.SampledFrom([][]edge.RuleID{{"c04e0000000000000000000100000003"}, {"c04e0000000000000000000100000003", "c04e0000000000000000000100000018"}}).Draw(t, "skips")
		}
		d.Accepted = append(d.Accepted, a)
	}
}

func genOverride(t *rapid.T) (o desired.Override) {
	o.Enabled = rapid.Ptr(rapid.Map(rapid.Bool(), func(b bool) desired.Declared[bool] { return *value(b) }), true).Draw(t, "enabled")
	if rapid.Bool().Draw(t, "action") {
		o.Action = value(rapid.SampledFrom([]edge.Action{"log", "block"}).Draw(t, "which"))
	}
	if rapid.IntRange(0, 2).Draw(t, "sensitivity") == 0 {
		o.Sensitivity = value("low")
	}
	return o
}

// genException changes a deployment in one place.
func genException(t *rapid.T, d desired.Deployment) desired.Deployment {
	other := genDeployment(t)
	switch rapid.IntRange(0, 8).Draw(t, "which") {
	case 0:
		d.Enabled = other.Enabled
	case 1:
		d.Expression = other.Expression
	case 2:
		if d.Paranoia = other.Paranoia; d.Paranoia != nil {
			d.All.Enabled = nil
		}
	case 3:
		d.Threshold = other.Threshold
	case 4:
		d.Disable.Tags, d.Tags = other.Disable.Tags, other.Tags
	case 5:
		d.Disable.Rules, d.Rules, d.Decisions = other.Disable.Rules, other.Rules, other.Decisions
	case 6:
		d.Unmanaged = other.Unmanaged
	case 7:
		d.Bypass, d.Accepted = other.Bypass, other.Accepted
	}
	return d
}
