package rule

import (
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// A custom rule is declared as it is live, or not at all: one that git switches off and that somebody
// has switched on is as any other skip rule.
func TestACustomRuleThatSkips(t *testing.T) {
	live := difftest.Skip(0, "ip.src eq 192.0.2.7", `{"phases":["http_request_firewall_managed"]}`)
	for name, c := range map[string]struct {
		values   string
		declared bool
	}{
		"as declared":           {`"enabled":true,"expression":"ip.src eq 192.0.2.7","skip":{"phases":["http_request_firewall_managed"]}`, true},
		"switched off":          {`"enabled":false,"expression":"ip.src eq 192.0.2.7","skip":{"phases":["http_request_firewall_managed"]}`, false},
		"another expression":    {`"enabled":true,"expression":"ip.src eq 192.0.2.8","skip":{"phases":["http_request_firewall_managed"]}`, false},
		"less is to be skipped": {`"enabled":true,"expression":"ip.src eq 192.0.2.7","skip":{"phases":["http_ratelimit"]}`, false},
	} {
		o := desired.Other{Kind: desired.CustomRule, Key: live.Ref, Value: `{"action":"skip",` + c.values + `}`}
		said := Custom.Skips(diff.SkipAsked{
			Zone: desired.Zone{Scope: difftest.Zone, Others: []desired.Other{o}}, At: difftest.Zone.At(edge.PhaseFirewallCustom), Rule: live,
		})
		if said.Agrees != c.declared || (said.Kind != "") != c.declared {
			t.Errorf("%s: %+v", name, said)
		}
	}
}
