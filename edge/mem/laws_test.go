package mem_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

func optional[T any](g *rapid.Generator[T]) *rapid.Generator[*T] {
	return rapid.Custom(func(t *rapid.T) *T {
		if rapid.Bool().Draw(t, "absent") {
			return nil
		}
		v := g.Draw(t, "value")
		return &v
	})
}

var (
	anAction = rapid.SampledFrom([]edge.Action{edge.ActionBlock, edge.ActionLog, edge.ActionManagedChallenge})
	aRuleID  = rapid.Map(rapid.IntRange(1, 24), func(n int) edge.RuleID { return edge.RuleID("rule-" + strconv.Itoa(n)) })
	aTag     = rapid.SampledFrom([]string{"xss", "sqli", edge.ParanoiaTag(3), edge.ParanoiaTag(4)})
	anExtra  = rapid.SampledFrom([]map[string]json.RawMessage{nil, {"note": json.RawMessage(`"kept"`)}, {"n": json.RawMessage(`[1,2]`)}})
)

var aCategoryOverride = rapid.Custom(func(t *rapid.T) edge.CategoryOverride {
	return edge.CategoryOverride{
		Category: aTag.Draw(t, "tag"), Enabled: new(rapid.Bool().Draw(t, "enabled")),
		Action: optional(anAction).Draw(t, "action"), Extra: anExtra.Draw(t, "extra"),
	}
})

var aRuleOverride = rapid.Custom(func(t *rapid.T) edge.RuleOverride {
	return edge.RuleOverride{
		ID: aRuleID.Draw(t, "id"), Action: new(anAction.Draw(t, "action")), Enabled: optional(rapid.Bool()).Draw(t, "enabled"),
		ScoreThreshold: optional(rapid.IntRange(-5, 100)).Draw(t, "threshold"),
	}
})

// someOverrides are overrides that a server accepts: never empty.
var someOverrides = rapid.Custom(func(t *rapid.T) *edge.Overrides {
	o := edge.Overrides{
		Enabled: optional(rapid.Bool()).Draw(t, "enabled"), SensitivityLevel: optional(rapid.Just("medium")).Draw(t, "sensitivity"),
		Extra: anExtra.Draw(t, "extra"),
	}
	if n := rapid.SliceOfN(aCategoryOverride, 0, 3).Draw(t, "categories"); len(n) > 0 {
		o.Categories = n
	}
	if n := rapid.SliceOfN(aRuleOverride, 0, 3).Draw(t, "rules"); len(n) > 0 {
		o.Rules = n
	}
	if o.Enabled == nil && o.SensitivityLevel == nil && o.Extra == nil && o.Categories == nil && o.Rules == nil {
		return nil
	}
	return &o
})

// aBody is an update that a server accepts.
var aBody = rapid.Custom(func(t *rapid.T) edge.Rule {
	return edge.Rule{
		Action: edge.ActionExecute, Expression: rapid.SampledFrom([]string{"true", `http.host eq "a"`}).Draw(t, "expression"),
		ActionParameters: &edge.ActionParameters{
			ID: mem.CoreRuleset, Version: rapid.SampledFrom([]string{"", "latest"}).Draw(t, "version"),
			Overrides: someOverrides.Draw(t, "overrides"), Extra: anExtra.Draw(t, "parameters"),
		},
		Description: optional(rapid.SampledFrom([]string{"", "text"})).Draw(t, "description"),
		Ref:         rapid.SampledFrom([]string{"", "ref"}).Draw(t, "ref"),
		Enabled:     optional(rapid.Bool()).Draw(t, "enabled"), Extra: anExtra.Draw(t, "extra"),
	}
})

// store sends a body to the shop's execute rule and returns the rule as it is
// then read, having checked that both versions grew by exactly 1.
func store(t *rapid.T, p *mem.Platform, body edge.Rule) edge.Rule {
	before := entryPoint(t, p, mem.ShopZone)
	if _, err := p.Send(t.Context(), edge.UpdateRule(mem.ShopZone, before.ID, before.Rules[0].ID, body)); err != nil {
		t.Fatal(err)
	}
	after := entryPoint(t, p, mem.ShopZone)
	if !follows(before.Version, after.Version) || !follows(before.Rules[0].Version, after.Rules[0].Version) {
		t.Fatalf("versions %s, %s became %s, %s", before.Version, before.Rules[0].Version, after.Version, after.Rules[0].Version)
	}
	if after.ID != before.ID || after.Rules[0].ID != before.Rules[0].ID || len(after.Rules) != len(before.Rules) {
		t.Fatalf("ids changed: %+v", after)
	}
	return after.Rules[0]
}

func follows(before, after string) bool {
	b, errB := strconv.Atoi(before)
	a, errA := strconv.Atoi(after)
	return errB == nil && errA == nil && a == b+1
}

// Law: what a replacing server is sent is what is read, whatever was there.
func TestLawReplaceThenRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := start(t, mem.Config{})
		for _, body := range rapid.SliceOfN(aBody, 1, 4).Draw(t, "bodies") {
			if diff := cmp.Diff(body, store(t, p, body).Update()); diff != "" {
				t.Fatalf("sent and read differ:\n%s", diff)
			}
		}
	})
}

// Law: a merging server keeps what is left out, and takes the rest; lists are
// taken whole.
func TestLawMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := start(t, mem.Config{Quirks: []string{"patch=merge"}})
		entry := entryPoint(t, p, mem.ShopZone)
		want := entry.Rules[0].Update()
		for _, body := range rapid.SliceOfN(aBody, 1, 4).Draw(t, "bodies") {
			want = mergedRule(want, body)
			if diff := cmp.Diff(want, store(t, p, body).Update()); diff != "" {
				t.Fatalf("merged and read differ:\n%s", diff)
			}
		}
	})
}

// Law: a body is refused or stored whole; sending it again changes only
// versions and times.
func TestLawUpdateIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quirk := rapid.SampledFrom([]string{"patch=replace", "patch=merge"}).Draw(t, "quirk")
		p := start(t, mem.Config{Quirks: []string{quirk}})
		body := aBody.Draw(t, "body")
		once := store(t, p, body)
		if diff := cmp.Diff(once.Update(), store(t, p, body).Update()); diff != "" {
			t.Fatalf("the second time differs:\n%s", diff)
		}
	})
}

// The model of merging, on types instead of JSON.

func mergedRule(live, body edge.Rule) edge.Rule {
	live.Action, live.Expression = body.Action, body.Expression
	live.Ref = orText(body.Ref, live.Ref)
	live.Description, live.Enabled = or(body.Description, live.Description), or(body.Enabled, live.Enabled)
	live.Extra = mergedExtra(live.Extra, body.Extra)
	parameters := *live.ActionParameters
	parameters.ID = body.ActionParameters.ID
	parameters.Version = orText(body.ActionParameters.Version, parameters.Version)
	parameters.Extra = mergedExtra(parameters.Extra, body.ActionParameters.Extra)
	parameters.Overrides = mergedOverrides(parameters.Overrides, body.ActionParameters.Overrides)
	live.ActionParameters = &parameters
	return live
}

func mergedOverrides(live, body *edge.Overrides) *edge.Overrides {
	if live == nil || body == nil {
		return or(body, live)
	}
	merged := edge.Overrides{
		Enabled: or(body.Enabled, live.Enabled), SensitivityLevel: or(body.SensitivityLevel, live.SensitivityLevel),
		Categories: live.Categories, Rules: live.Rules, Extra: mergedExtra(live.Extra, body.Extra),
	}
	if body.Categories != nil {
		merged.Categories = body.Categories
	}
	if body.Rules != nil {
		merged.Rules = body.Rules
	}
	return &merged
}

func mergedExtra(live, body map[string]json.RawMessage) map[string]json.RawMessage {
	if live == nil && body == nil {
		return nil
	}
	merged := map[string]json.RawMessage{}
	for _, extra := range []map[string]json.RawMessage{live, body} {
		for name, value := range extra {
			merged[name] = value
		}
	}
	return merged
}

func or[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

func orText(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
