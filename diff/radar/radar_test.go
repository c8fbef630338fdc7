package radar_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

var update = flag.Bool("update", false, "rewrite golden files")

var monday = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// seen are versions of the managed ruleset, a week apart.
func seen(versions ...edge.Ruleset) (all []rulesets.Seen) {
	for i, v := range versions {
		v.Version = fmt.Sprint(11 + i)
		all = append(all, rulesets.Seen{Account: difftest.Account, At: monday.AddDate(0, 0, 7*i), Ruleset: v})
	}
	return all
}

// tiers declares zones of every sort: gold ones with a threshold and a level, silver ones with a
// rule and a tag that are off, a plain one, one that is pinned and one that is off.
func tiers() desired.State {
	state := difftest.State(difftest.Deployment())
	add := func(name string, n int, intents ...difftest.Intent) {
		d := difftest.Deployment(intents...)
		d.Ruleset, d.Origin = "core", desired.Origin{File: "tiers.cue", Line: 10 * (1 + len(state.Accounts[0].Zones)), Column: 3}
		for i := range n {
			state.Accounts[0].Zones = append(state.Accounts[0].Zones, desired.Zone{
				Key: fmt.Sprintf("%s-%d.example", name, i+1), Scope: edge.ZoneScope(edge.ZoneID(fmt.Sprintf("%s%d", name, i))), Deployments: []desired.Deployment{d},
			})
		}
	}
	add("gold", 5, difftest.Paranoia(2), difftest.Threshold(25, "block"))
	add("silver", 2, difftest.DisabledRule(1), difftest.DisableTag("php"))
	add("pinned", 1, func(d *desired.Deployment) { d.Version = difftest.Declared(5, "11") })
	add("off", 1, func(d *desired.Deployment) { d.Enabled.Value = false })
	return state
}

// news are new versions that between them change a ruleset in each way.
func news() map[string]edge.Ruleset {
	changing, before := difftest.Changing, difftest.Managed()
	return map[string]edge.Ruleset{
		"added": difftest.Next(before, difftest.With(edge.Rule{
			ID: difftest.RuleID(20), Ref: "sqli-union", Description: new("SQL injection by a union"), Action: edge.ActionBlock, Categories: []string{"paranoia-level-1", "sqli"},
		})),
		"removed": difftest.Next(before, difftest.Without(1, 6)),
		"default": difftest.Next(before, changing(0, func(r *edge.Rule) { r.Action = edge.ActionLog }), changing(2, func(r *edge.Rule) { r.Enabled = new(false) }),
			changing(5, func(r *edge.Rule) { r.Enabled = new(true) })),
		"last": difftest.Next(before, changing(8, func(r *edge.Rule) {
			r.ID, r.Ref, r.Description, r.ScoreThreshold = difftest.RuleID(30), "score-2", new("Anomaly score, second edition"), new(60)
		})),
		"tags": difftest.Next(before, changing(1, func(r *edge.Rule) { r.Categories = []string{"paranoia-level-3", "xss"} }),
			changing(2, func(r *edge.Rule) { r.Categories = []string{"paranoia-level-2", "java"} }), changing(5, func(r *edge.Rule) { r.Categories = nil })),
		"revised": difftest.Next(before, changing(3, func(r *edge.Rule) { r.Version = "8" })),
	}
}

func TestGolden(t *testing.T) {
	for name, after := range news() {
		report := radar.Make(radar.Input{State: tiers(), Seen: seen(difftest.Managed(), after)})
		golden(t, name+".text", func(b *bytes.Buffer) error { return radar.Text(b, report, radar.Format{}) })
		golden(t, name+".markdown", func(b *bytes.Buffer) error { return radar.Markdown(b, report, radar.Format{}) })
		golden(t, name+".json", func(b *bytes.Buffer) error {
			e := json.NewEncoder(b)
			e.SetIndent("", "  ")
			return e.Encode(report)
		})
	}
}

func golden(t *testing.T, name string, write func(*bytes.Buffer) error) {
	t.Helper()
	var got bytes.Buffer
	if err := write(&got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

// Each report is as its schema says, and the schema knows each of its members.
func TestSchema(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(radar.Schema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	unknown := tiers()
	unknown.Accounts[0].Rulesets = append(unknown.Accounts[0].Rulesets, desired.RulesetRef{Key: "other", Name: "Other"})
	unknown.Accounts[0].Zones[0].Deployments = append(unknown.Accounts[0].Zones[0].Deployments, desired.Deployment{Ruleset: "other"})
	for name, after := range news() {
		data, err := json.Marshal(radar.Make(radar.Input{State: unknown, Seen: seen(difftest.Managed(), after)}))
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is said of a zone does not depend on others, and each zone is in one group or counted
// as unchanged.
func TestZonesByThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		versions := seen(difftest.GenVersion(t), difftest.GenVersion(t))
		state := difftest.State(difftest.Deployment())
		account := &state.Accounts[0]
		account.Zones = nil
		for i := range rapid.IntRange(1, 4).Draw(t, "zones") {
			d := difftest.GenDeployment(t)
			d.Ruleset = "core"
			account.Zones = append(account.Zones, desired.Zone{
				Key: fmt.Sprint(i), Scope: edge.ZoneScope(edge.ZoneID(fmt.Sprint(i))), Deployments: []desired.Deployment{d},
			})
		}
		all := radar.Make(radar.Input{State: state, Seen: versions}).Rulesets[0]
		if n := all.Unchanged + all.Count(func(radar.Group) bool { return true }); n != len(account.Zones) {
			t.Fatalf("%d of %d zones", n, len(account.Zones))
		}
		for _, z := range account.Zones {
			one := state
			one.Accounts = slices.Clone(state.Accounts)
			one.Accounts[0].Zones = []desired.Zone{z}
			alone := radar.Make(radar.Input{State: one, Seen: versions}).Rulesets[0]
			var among []radar.Group
			for _, g := range all.Groups {
				if slices.ContainsFunc(g.Zones, func(of radar.Zone) bool { return of.Zone == z.Key }) {
					g.Zones = nil
					among = append(among, g)
				}
			}
			for i := range alone.Groups {
				alone.Groups[i].Zones = nil
			}
			if d := cmp.Diff(alone.Groups, among, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Origin" }, cmp.Ignore()), equateEmpty); d != "" {
				t.Fatalf("zone %s alone (-), among others (+):\n%s", z.Key, d)
			}
		}
	})
}

var equateEmpty = cmp.FilterValues(func(a, b []radar.Group) bool { return len(a)+len(b) == 0 }, cmp.Ignore())

func TestSince(t *testing.T) {
	versions := seen(difftest.Managed(), news()["removed"], news()["removed"], news()["last"])
	from := func(since radar.Since) string {
		report := radar.Make(radar.Input{State: tiers(), Seen: versions, Since: since})
		if len(report.Problems) > 0 {
			return report.Problems[0].Reason + "; " + report.Problems[0].Hint
		}
		p := report.Rulesets[0]
		return fmt.Sprintf("%d from %s, early %v", len(p.Versions), p.Versions[0].Version, p.Early)
	}
	for _, c := range []struct {
		since radar.Since
		want  string
	}{
		{radar.Since{}, "2 from 13, early false"},
		{radar.Since{Version: "11"}, "4 from 11, early false"},
		{radar.Since{Version: "14"}, "1 from 14, early false"},
		{radar.Since{Version: "9"}, "version 9 is not on record; the versions on record are 11 to 14 (4 of them), seen since 2026-03-02T12:00:00Z"},
		{radar.Since{Time: monday}, "4 from 11, early false"},
		{radar.Since{Time: monday.Add(-1)}, "4 from 11, early true"},
		{radar.Since{Time: monday.AddDate(0, 0, 8)}, "3 from 12, early false"},
		{radar.Since{Time: monday.AddDate(0, 0, 21)}, "1 from 14, early false"},
	} {
		if got := from(c.since); got != c.want {
			t.Errorf("since %+v: %s, want %s", c.since, got, c.want)
		}
	}
}

// A ruleset is found by its id where one is declared, and by its name only where one alone on
// record has it; of what cannot be found it is said so.
func TestRulesetOfADeclaration(t *testing.T) {
	versions := seen(difftest.Managed(), news()["removed"])
	twin := versions[1]
	twin.Ruleset.ID = "c04e0000000000000000000000000009"
	other := versions[1]
	other.Account = "another"
	for name, c := range map[string]struct {
		ref     desired.RulesetRef
		seen    []rulesets.Seen
		ruleset string
		want    string
	}{
		"by name":                   {desired.RulesetRef{Name: "Core Ruleset"}, versions, "", "weakens"},
		"by id":                     {desired.RulesetRef{ID: difftest.Core}, append(versions, twin), "", "weakens"},
		"two of that name":          {desired.RulesetRef{Name: "Core Ruleset"}, append(versions, twin), "", `by the versions on record, the account has 2 managed rulesets named "Core Ruleset"`},
		"nothing on record":         {desired.RulesetRef{ID: difftest.Core}, nil, "", "no version of it is on record"},
		"only of another account":   {desired.RulesetRef{Name: "Core Ruleset"}, []rulesets.Seen{other}, "", "no version of it is on record"},
		"another name":              {desired.RulesetRef{Name: "Core"}, versions, "", `by the versions on record, the account has no managed ruleset named "Core"`},
		"asked for by key":          {desired.RulesetRef{Name: "Core Ruleset"}, versions, "core", "weakens"},
		"asked for by name":         {desired.RulesetRef{ID: difftest.Core}, versions, "Core Ruleset", "weakens"},
		"asked for by id":           {desired.RulesetRef{Name: "Core Ruleset"}, versions, string(difftest.Core), "weakens"},
		"asked for by a wrong name": {desired.RulesetRef{Name: "Core Ruleset"}, versions, "cores", "nothing of core, Core Ruleset, " + string(difftest.Core)},
	} {
		t.Run(name, func(t *testing.T) {
			state := tiers()
			c.ref.Key = "core"
			state.Accounts[0].Rulesets = []desired.RulesetRef{c.ref}
			report := radar.Make(radar.Input{State: state, Seen: c.seen, Ruleset: c.ruleset})
			got := string(report.Direction)
			switch {
			case len(report.Problems) > 0:
				got = report.Problems[0].Reason
			case len(report.Rulesets) == 0:
				got = "nothing of " + strings.Join(report.Known(), ", ")
			}
			if got != c.want {
				t.Errorf("it is %s, want %s", got, c.want)
			}
		})
	}
}

// Accounts that had the same versions are one, and each names its zones.
func TestAccountsWithTheSameVersions(t *testing.T) {
	state := tiers()
	second := state.Accounts[0]
	second.Key, second.ID = "staging", "another"
	state.Accounts = append(state.Accounts, second)
	versions := seen(difftest.Managed(), news()["removed"])
	for _, s := range slices.Clone(versions) {
		s.Account = "another"
		versions = append(versions, s)
	}
	report := radar.Make(radar.Input{State: state, Seen: versions})
	if len(report.Rulesets) != 1 || len(report.Rulesets[0].Accounts) != 2 || report.Towards(diff.Weakens) != 16 {
		t.Errorf("it is %+v", report.Rulesets)
	}
	var text bytes.Buffer
	if err := radar.Text(&text, report, radar.Format{All: true}); err != nil || !strings.Contains(text.String(), "staging / gold-5.example") {
		t.Errorf("%v:\n%s", err, text.String())
	}
}

// Text of the vendor can be no markup, and cannot control the terminal.
func TestNothingIsHidden(t *testing.T) {
	after := difftest.Next(difftest.Managed(), difftest.With(edge.Rule{
		ID: "\x1b[31m", Ref: "<b>`x`", Description: new("a\nb\x1b[2J\u202e**x**"), Action: "\x1b[1m", Categories: []string{"\u200b<i>"},
	}))
	after.Name = "\x1b[31m<script>"
	state := tiers()
	state.Accounts[0].Rulesets[0] = desired.RulesetRef{Key: "core", ID: difftest.Core}
	report := radar.Make(radar.Input{State: state, Seen: seen(difftest.Managed(), after)})
	var text, markdown bytes.Buffer
	if err := radar.Text(&text, report, radar.Format{}); err != nil {
		t.Fatal(err)
	}
	if err := radar.Markdown(&markdown, report, radar.Format{}); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{text.String(), markdown.String()} {
		if strings.ContainsAny(out, "\x1b\u202e\u200b") {
			t.Errorf("it is\n%q", out)
		}
	}
	for line := range strings.Lines(markdown.String()) {
		outside := ""
		for i, part := range strings.Split(line, "`") {
			if i%2 == 0 {
				outside += part
			}
		}
		if strings.Contains(outside, "<") && !strings.Contains(line, "`` ") {
			t.Errorf("outside of code: %s", line)
		}
	}
}
