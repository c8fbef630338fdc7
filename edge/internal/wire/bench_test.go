package wire

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// benchAnswer is the entry point of a tuned zone, as it comes over the wire.
func benchAnswer(b *testing.B) Response {
	b.Helper()
	rules := make([]edge.RuleOverride, 10)
	for i := range rules {
		rules[i] = edge.RuleOverride{ID: edge.RuleID(fmt.Sprintf("%032x", i)), Enabled: new(false)}
	}
	ruleset := edge.Ruleset{
		ID: "00000000000000000000000000000e01", Name: "default", Kind: edge.KindZone, Version: "7", Phase: edge.PhaseFirewallManaged,
		Rules: []edge.Rule{{
			ID: "00000000000000000000000000000f01", Action: edge.ActionExecute, Expression: "true", Enabled: new(true),
			ActionParameters: &edge.ActionParameters{
				ID: "c04e0000000000000000000000000001", Version: "latest",
				Overrides: &edge.Overrides{
					Categories: []edge.CategoryOverride{{Category: "paranoia-level-3", Enabled: new(false)}, {Category: "paranoia-level-4", Enabled: new(false)}},
					Rules:      rules,
				},
			},
		}},
	}
	envelope, err := EncodeResult(ruleset, nil)
	must.Do(b, err)
	body, err := envelope.Bytes()
	must.Do(b, err)
	return Response{Call: "GET /zones/a/rulesets", Status: 200, Body: body}
}

// BenchmarkDecode decodes one entry point, beside what encoding/json does with
// the same text where members that are not known may be lost.
func BenchmarkDecode(b *testing.B) {
	answer := benchAnswer(b)
	b.Run("entry_point", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var got edge.Ruleset
			if _, err := answer.Decode(&got); err != nil || len(got.Rules) != 1 {
				b.Fatal(err)
			}
		}
	})
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var got any
			must.Do(b, json.Unmarshal(answer.Body, &got))
		}
	})
}
