// Package difftest has the fixtures of tests of plans: one account, one zone and one
// managed ruleset ([State], [Live]), scenes of many zones ([Zones], [Large]), tokens
// ([Token], [RecordOf]) and random values for laws ([GenDeployment],
// [GenOverrides]). It imports diff and no package below it, so that the tests of each
// can use it.
package difftest

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// What [State] declares and [Live] has: an account, a zone, the managed ruleset, the
// zone's entry point and the rule that executes the managed ruleset.
const (
	Account    edge.AccountID = "0123456789abcdef0123456789abcdef"
	Core       edge.RulesetID = "c04e0000000000000000000000000001"
	EntryPoint edge.RulesetID = "e0000000000000000000000000000001"
	Rule       edge.RuleID    = "d0000000000000000000000000000001"
)

// Zone is the zone.
var Zone = edge.ZoneScope("000000000000000000000000000000a1")

// RuleID is the id of a rule of [Managed], counted from 0.
func RuleID(i int) edge.RuleID { return edge.RuleID(fmt.Sprintf("%032x", 0xabc000+i)) }

// Managed has two rules at each paranoia level, with two more tags spread
// over them, one rule that is off by default, and a scoring last rule.
func Managed() edge.Ruleset {
	r := edge.Ruleset{
		ID: Core, Name: "Core Ruleset", Kind: edge.KindManaged,
		Phase: edge.PhaseFirewallManaged, Version: "7",
	}
	for i := range 8 {
		r.Rules = append(r.Rules, edge.Rule{
			ID: RuleID(i), Ref: fmt.Sprintf("ref-%d", i), Action: edge.ActionBlock,
			Categories: []string{edge.ParanoiaTag(i/2 + 1), []string{"sqli", "xss", "php"}[i%3]},
			Enabled:    new(i != 5),
		})
	}
	r.Rules = append(r.Rules, edge.Rule{
		ID: RuleID(8), Ref: "score", Description: new("Anomaly score"), Action: edge.ActionBlock,
		ScoreThreshold: new(40), Enabled: new(true),
	})
	return r
}

// Execute is the rule that executes [Managed], with overrides.
func Execute(o *edge.Overrides) edge.Rule {
	return edge.Rule{
		ID: Rule, Version: "3", Action: edge.ActionExecute, Expression: "true", Enabled: new(true), Ref: "deploy-core",
		Description: new("hand made"),
		ActionParameters: &edge.ActionParameters{
			ID: Core, Version: "latest", Overrides: o,
			Extra: map[string]json.RawMessage{"matched_data": json.RawMessage(`{"public_key":"k"}`)},
		},
		Extra: map[string]json.RawMessage{"logging": json.RawMessage(`{"enabled":true}`)},
	}
}

// Live is an observation of the zone, which has the rules given.
func Live(rules ...edge.Rule) diff.Live {
	return diff.Live{
		Accounts: map[edge.AccountID]diff.AccountLive{Account: {
			Listed:  diff.Observed[[]edge.Ruleset]{Value: []edge.Ruleset{Managed()}},
			Managed: map[edge.RulesetID]diff.Observed[edge.Ruleset]{Core: {Value: Managed()}},
		}},
		EntryPoints: map[edge.Place]diff.Observed[edge.Ruleset]{Zone.At(edge.PhaseFirewallManaged): {Value: edge.Ruleset{
			ID: EntryPoint, Kind: edge.KindZone, Phase: edge.PhaseFirewallManaged, Version: "11", Rules: rules,
		}}},
	}
}

// At is a line of the file that declares the zone.
func At(line int) desired.Origin {
	return desired.Origin{Commit: "c0ffee", File: "zones/shop.cue", Line: line, Column: 2}
}

// Declared is a value that a line declares.
func Declared[T any](line int, v T) *desired.Declared[T] {
	return &desired.Declared[T]{Value: v, Origin: At(line)}
}

// State declares one deployment of the zone.
func State(d desired.Deployment) desired.State {
	d.Ruleset, d.Origin = "core", At(4)
	return desired.State{Commit: "c0ffee", Accounts: []desired.Account{{
		Key: "prod", ID: Account,
		Rulesets: []desired.RulesetRef{{Key: "core", Name: "Core Ruleset"}},
		Zones:    []desired.Zone{{Key: "shop.example", Scope: Zone, Origin: At(3), Deployments: []desired.Deployment{d}}},
	}}}
}

// EnabledDeployment declares that the managed ruleset is on, and nothing else.
func EnabledDeployment() desired.Deployment {
	return desired.Deployment{Enabled: desired.Declared[bool]{Value: true}}
}

// MustChange returns the one change of a plan without problems.
func MustChange(t testing.TB, p diff.Plan) diff.Change {
	t.Helper()
	if len(p.Changes) != 1 || len(p.Problems) != 0 {
		t.Fatalf("want one change and no problem, got %+v", p)
	}
	return p.Changes[0]
}

// GenDeployment draws a deployment.
func GenDeployment(t *rapid.T) desired.Deployment {
	d := EnabledDeployment()
	d.Enabled.Value = rapid.Bool().Draw(t, "enabled")
	if rapid.Bool().Draw(t, "has expression") {
		d.Expression = Declared(5, rapid.SampledFrom([]string{"true", `http.host eq "a"`}).Draw(t, "expression"))
	}
	if rapid.Bool().Draw(t, "has paranoia") {
		d.Paranoia = Declared(6, rapid.IntRange(1, 4).Draw(t, "paranoia"))
	}
	if rapid.Bool().Draw(t, "has threshold") {
		d.Threshold = &desired.Threshold{
			Score:  *Declared(7, rapid.IntRange(1, 99).Draw(t, "score")),
			Action: *Declared(8, rapid.SampledFrom([]edge.Action{"block", "log", "challenge"}).Draw(t, "action")),
		}
	}
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, 7), 0, 3, rapid.ID).Draw(t, "disabled rules") {
		d.Disable.Rules = append(d.Disable.Rules, *Declared(9, desired.RuleRef{ID: RuleID(i)}))
	}
	for _, tag := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"sqli", "xss", "php"}), 0, 2, rapid.ID).Draw(t, "disabled tags") {
		d.Disable.Tags = append(d.Disable.Tags, *Declared(10, tag))
	}
	if rapid.Bool().Draw(t, "long forms") {
		genOverridesDeclared(t, &d)
	}
	return d
}

// genOverridesDeclared draws long forms that declare no member twice.
func genOverridesDeclared(t *rapid.T, d *desired.Deployment) {
	d.All = genOverride(t, 20)
	if d.Paranoia != nil && d.All.Enabled != nil {
		d.All.Enabled.Value = true
	}
	enabledTag, enabledRule := map[string]bool{}, map[edge.RuleID]bool{}
	for _, tag := range d.Disable.Tags {
		enabledTag[tag.Value] = true
	}
	for level := 1; level <= edge.MaxParanoia && d.Paranoia != nil; level++ {
		enabledTag[edge.ParanoiaTag(level)] = true
	}
	for _, rule := range d.Disable.Rules {
		enabledRule[rule.Value.ID] = true
	}
	genTagsDeclared(t, d, enabledTag)
	genRulesDeclared(t, d, enabledRule)
}

func genTagsDeclared(t *rapid.T, d *desired.Deployment, enabledTag map[string]bool) {
	tags := []string{"paranoia-level-1", "paranoia-level-3", "sqli", "xss", "php"}
	for i, tag := range rapid.SliceOfNDistinct(rapid.SampledFrom(tags), 0, 3, rapid.ID).Draw(t, "tags") {
		o := genOverride(t, 30+i)
		if enabledTag[tag] {
			o.Enabled = nil
		}
		if !o.IsZero() {
			d.Tags = append(d.Tags, desired.TagOverride{Tag: tag, Origin: At(30 + i), Override: o})
		}
	}
}

func genRulesDeclared(t *rapid.T, d *desired.Deployment, enabledRule map[edge.RuleID]bool) {
	for i, rule := range rapid.SliceOfNDistinct(rapid.IntRange(0, 8), 0, 3, rapid.ID).Draw(t, "rules") {
		o := genOverride(t, 40+i)
		switch {
		case enabledRule[RuleID(rule)]:
			o.Enabled = nil
		case rule == 8 && d.Threshold != nil:
			o.Action, o.Enabled = nil, nil
		case rule == 8 && rapid.Bool().Draw(t, "scores"):
			o.Enabled, o.Score = nil, Declared(40+i, rapid.IntRange(1, 99).Draw(t, "rule score"))
		}
		if !o.IsZero() {
			d.Rules = append(d.Rules, desired.RuleOverride{Rule: desired.RuleRef{ID: RuleID(rule)}, Origin: At(40 + i), Override: o})
		}
	}
}

// genOverride draws an override that is declared in a line, which may be zero.
func genOverride(t *rapid.T, line int) (o desired.Override) {
	if rapid.Bool().Draw(t, "enabled is declared") {
		o.Enabled = Declared(line, rapid.Bool().Draw(t, "enabled"))
	}
	if rapid.Bool().Draw(t, "action is declared") {
		o.Action = Declared(line, rapid.SampledFrom([]edge.Action{"block", "log", "challenge"}).Draw(t, "action"))
	}
	if rapid.IntRange(0, 3).Draw(t, "sensitivity is declared") == 0 {
		o.Sensitivity = Declared(line, rapid.SampledFrom([]string{"default", "medium", "low", "eoff"}).Draw(t, "sensitivity"))
	}
	return o
}

// GenOverrides draws live overrides, nil for none.
func GenOverrides(t *rapid.T) *edge.Overrides {
	o := edge.Overrides{Categories: genCategories(t), Rules: genRules(t)}
	if rapid.IntRange(0, 5).Draw(t, "wide") == 0 {
		o.Enabled, o.Action = maybeBool.Draw(t, "wide enabled"), maybeAction.Draw(t, "wide action")
		o.SensitivityLevel = maybeLevel.Draw(t, "wide sensitivity")
		o.Extra = genExtra(t)
	}
	if o.Action == nil && o.Enabled == nil && o.SensitivityLevel == nil && len(o.Categories) == 0 && len(o.Rules) == 0 && o.Extra == nil {
		return nil
	}
	return &o
}

var (
	maybeBool   = rapid.Ptr(rapid.Bool(), true)
	maybeAction = rapid.Ptr(rapid.SampledFrom([]edge.Action{"block", "log"}), true)
	maybeLevel  = rapid.Custom(func(t *rapid.T) *string {
		return rapid.SampledFrom([]*string{nil, nil, nil, nil, new("default"), new("low")}).Draw(t, "level")
	})
)

// genExtra draws the members of an entry that are not known here.
func genExtra(t *rapid.T) map[string]json.RawMessage {
	if rapid.IntRange(0, 3).Draw(t, "extra") > 0 {
		return nil
	}
	return map[string]json.RawMessage{"x_future": json.RawMessage(`{"a":1}`)}
}

func genCategories(t *rapid.T) (list []edge.CategoryOverride) {
	tags := []string{"paranoia-level-1", "paranoia-level-2", "paranoia-level-3", "paranoia-level-4", "sqli", "xss", "gone"}
	for _, tag := range rapid.SliceOfN(rapid.SampledFrom(tags), 0, 5).Draw(t, "live tags") {
		c := edge.CategoryOverride{
			Category: tag, Enabled: maybeBool.Draw(t, "tag enabled"), Action: maybeAction.Draw(t, "tag action"),
			SensitivityLevel: maybeLevel.Draw(t, "tag sensitivity"), Extra: genExtra(t),
		}
		if c.Enabled != nil || c.Action != nil || c.SensitivityLevel != nil || c.Extra != nil {
			list = append(list, c)
		}
	}
	return list
}

func genRules(t *rapid.T) (list []edge.RuleOverride) {
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, 10), 0, 4, rapid.ID).Draw(t, "live rules") {
		r := edge.RuleOverride{
			ID: RuleID(i), Enabled: maybeBool.Draw(t, "rule enabled"), Action: maybeAction.Draw(t, "rule action"),
			SensitivityLevel: maybeLevel.Draw(t, "rule sensitivity"), Extra: genExtra(t),
		}
		if i == 8 {
			r.ScoreThreshold = rapid.Ptr(rapid.IntRange(1, 99), true).Draw(t, "live score")
		}
		if r.Enabled != nil || r.Action != nil || r.ScoreThreshold != nil || r.SensitivityLevel != nil || r.Extra != nil {
			list = append(list, r)
		}
	}
	return list
}

// UpdateOf is what a change of a deployment writes; zero where it writes nothing.
func UpdateOf(c diff.Change) diff.RuleOperation {
	u, _ := c.Operation.(diff.RuleOperation)
	return u
}

// AlterUpdate alters what a change of a deployment writes.
func AlterUpdate(c *diff.Change, alter func(*diff.RuleOperation)) {
	u := UpdateOf(*c)
	alter(&u)
	c.Operation = u
}

// Scene is what a plan is made from.
type Scene struct {
	State   desired.State
	Live    diff.Live
	Applied diff.Applied

	Prunable diff.Pruning
}

// JSONText is a value as JSON, with the short names of [Names].
func JSONText(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return Names(true).Replace(string(data))
}

// Zones makes n zones named z0 to zn, each with the deployment and rule given.
func Zones(n int, d func(int) desired.Deployment, rule func(int) edge.Rule) Scene {
	in := Scene{State: State(desired.Deployment{}), Live: Live()}
	account := &in.State.Accounts[0]
	account.Zones, in.Live.EntryPoints = nil, map[edge.Place]diff.Observed[edge.Ruleset]{}
	for i := range n {
		id := edge.ZoneScope(edge.ZoneID(fmt.Sprintf("%032x", 0xa00000+i)))
		declaration := d(i)
		declaration.Ruleset, declaration.Origin = "core", At(100+i)
		account.Zones = append(account.Zones, desired.Zone{Key: fmt.Sprintf("z%d", i), Scope: id, Origin: At(i), Deployments: []desired.Deployment{declaration}})
		in.Live.EntryPoints[id.At(edge.PhaseFirewallManaged)] = diff.Observed[edge.Ruleset]{Value: edge.Ruleset{ID: EntryPoint, Version: "1", Rules: []edge.Rule{rule(i)}}}
	}
	return in
}
