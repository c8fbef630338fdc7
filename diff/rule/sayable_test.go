package rule

import (
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

// A rule that the platform has and the schema refuses is left out, so that all others can be
// imported.
func TestDeclareLeavesOutWhatTheSchemaRefuses(t *testing.T) {
	const rule, full = `{"ref":"r","expression":"true",`, `"status_code":403,"content_type":"text/html","content":"x"`
	for _, c := range []struct {
		kind Kind
		live string
		want bool
	}{
		{Custom, `"action":"block"}`, true},
		{Custom, `"action":"block","action_parameters":{"response":{` + full + `}}}`, true},
		{Custom, `"action":"block","action_parameters":{"response":{"content":"x"}}}`, false},
		{Custom, `"action":"block","action_parameters":{"response":{"status_code":503,"content_type":"text/html","content":"x"}}}`, false},
		{Custom, `"action":"managed_challenge","action_parameters":{"response":{` + full + `}}}`, false},
		{Custom, `"action":"block","logging":{"enabled":true}}`, false},
		{Custom, `"action":"skip","action_parameters":{"ruleset":"current"},"logging":{"enabled":true}}`, true},
		{Custom, `"action":"skip"}`, false},
		{Custom, `"action":"skip","action_parameters":{"ruleset":"c04e0000000000000000000000000003"}}`, false},
		{Custom, `"action":"skip","action_parameters":{"phases":["http_ratelimit"],"products":["waf"]}}`, true},
		{Custom, `"action":"skip","action_parameters":{"phases":["http_request_late_transform"]}}`, false},
		{Custom, `"action":"skip","action_parameters":{"phases":[]}}`, false},
		{Custom, `"expression":"ip.src eqq 192.0.2.9","action":"block"}`, false},
		{RateLimit, `"action":"block","ratelimit":{"characteristics":["cf.colo.id"],"period":60,"requests_per_period":9}}`, true},
		{RateLimit, `"action":"skip","ratelimit":{"characteristics":["cf.colo.id"],"period":60,"requests_per_period":9}}`, false},
		{RateLimit, `"action":"block","ratelimit":{"period":60,"requests_per_period":9}}`, false},
		{RateLimit, `"action":"block","ratelimit":{"characteristics":["cf.colo.id"],"period":60,"score_per_period":9}}`, false},
		{RateLimit, `"action":"block"}`, false},
	} {
		if got := c.kind.Declare(edge.Ruleset{Rules: living(t, rule+c.live)}); (len(got) == 1) != c.want {
			t.Errorf("%s: %s: %v", c.kind.name, c.live, got)
		}
	}
}

// An account has only rules that execute a ruleset, and a zone all others.
func TestDeclareOfAnAccount(t *testing.T) {
	for live, want := range map[string][2]bool{ // of an account, of a zone
		`{"ref":"r","expression":"true","action":"execute","action_parameters":{"id":"c04e0000000000000000000000000003"}}`:                {true, false},
		`{"ref":"r","expression":"true","action":"execute","action_parameters":{"id":"c04e0000000000000000000000000003","overrides":{}}}`: {false, false},
		`{"ref":"r","expression":"true","action":"block"}`:                                                                                {false, true},
		`{"ref":"r","expression":"true","action":"execute"}`:                                                                              {false, false},
	} {
		for i, kind := range []edge.Kind{edge.KindRoot, edge.KindZone} {
			if got := Custom.Declare(edge.Ruleset{Kind: kind, Rules: living(t, live)}); (len(got) == 1) != want[i] {
				t.Errorf("%s: %s: %v", kind, live, got)
			}
		}
	}
}
