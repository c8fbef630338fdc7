package render

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// bypassOf is a skip rule of the entry point of a zone.
func bypassOf(zone int, state diff.BypassState) diff.Bypass {
	return diff.Bypass{
		Account: "prod", Zone: fmt.Sprintf("shop-%02d.example", zone), Scope: edge.ZoneScope(edge.ZoneID(fmt.Sprintf("%032x", zone))), Deployment: "core",
		Level: edge.LevelZone, Phase: edge.PhaseFirewallManaged, Rule: edge.RuleID(fmt.Sprintf("5e1f%028x", zone)), Ref: "partner",
		Description: "partner scanner", Expression: "ip.src eq 192.0.2.7", All: true, State: state,
	}
}

// bypassPlan has a skip rule in each state.
func bypassPlan() diff.Plan {
	var all []diff.Bypass
	for zone := range 5 {
		all = append(all, bypassOf(zone, diff.BypassFound))
	}
	part := bypassOf(5, diff.BypassFound)
	part.Description, part.Ref, part.Level, part.Phase, part.All = "", string(part.Rule), edge.LevelAccount, edge.PhaseFirewallCustom, false
	part.Rules = []diff.SkippedRule{{ID: "a1", Description: "949110 anomaly score"}, {ID: "a2"}}
	always, expired := bypassOf(6, diff.BypassNew), bypassOf(7, diff.BypassExpired)
	always.Always, always.Expression = true, "true"
	expired.Owner, expired.Until, expired.Origin = "team-sre", "2026-01-31", difftest.At(12)
	one, other := bypassOf(8, diff.BypassAccepted), bypassOf(9, diff.BypassAccepted)
	one.Owner, one.Until, other.Owner = "team-sre", "2027-03-31", "team-sre"
	p := diff.NewPlan("c0ffee")
	p.Bypasses = append(all, part, always, expired, one, other)
	p.NotLookedAt = []diff.NotLookedAt{
		{Account: "prod", Level: edge.LevelZone, Phase: edge.PhaseRateLimit, Zones: 10, Reason: "off: bypass.phases is not set"},
		{Account: "test", Level: edge.LevelZone, Phase: edge.PhaseRateLimit, Zones: 2, Reason: "off: bypass.phases is not set"},
		{Account: "prod", Level: edge.LevelAccount, Phase: edge.PhaseFirewallCustom, Zones: 10, Reason: "403 Forbidden"},
	}
	for _, b := range []diff.Bypass{always, expired} {
		p.Problems = append(p.Problems, diff.Problem{
			Account: b.Account, Zone: b.Zone, Scope: b.Scope, Deployment: b.Deployment, State: diff.Bypassed, Reason: b.String(), Hint: "remove the rule, or accept it", Origin: difftest.At(3),
		})
	}
	p.Summary.Zones = 10
	return p.Sealed()
}

// A skip rule that needs a person is a problem, one that was there is shown once for all zones,
// and those that are accepted are counted.
func TestBypasses(t *testing.T) {
	out := render(t, func(b *bytes.Buffer) error { return Text(b, bypassPlan(), false) })
	for _, want := range []string{
		"! prod / shop-06.example / core  bypassed  ",
		"= prod / shop-00.example / core, prod / shop-01.example / core, prod / shop-02.example / core and 2 more  skip rule \"partner scanner\"  there since the first look\n" +
			"    skips all of core\n    for requests that match \"ip.src eq 192.0.2.7\"\n    in http_request_firewall_managed of the zone\n",
		"    skips 2 rules of core: a1 \"949110 anomaly score\", a2\n",
		"    in http_request_firewall_custom of the account, rule 5e1f0000000000000000000000000005\n",
		"= 2 skip rules accepted in 2 zones; -o json lists them\n",
		"10 zones: 8 in sync, 2 bypassed",
		"note: Seawall has not looked for skip rules in http_request_firewall_custom of 1 account with 10 zones (403 Forbidden); http_ratelimit of 12 zones (off: bypass.phases is not set)\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	if n := strings.Count(out, "shop-06.example"); n != 1 {
		t.Errorf("a rule that needs a person is told %d times:\n%s", n, out)
	}
	if plain := bypassPlan(); plain.Attention() != true {
		t.Error("no person is needed")
	}
	quiet := diff.Plan{Bypasses: []diff.Bypass{bypassOf(1, diff.BypassFound)}}
	if quiet.Attention() {
		t.Error("a rule that was there, and is not for each request, needs a person")
	}
}

// The words of a skip rule come from whoever may write to the zone: they end no quote.
func TestBypassIsQuoted(t *testing.T) {
	b := bypassOf(1, diff.BypassFound)
	b.Description, b.Expression = `x" (id 1); accepted by "`, "true\n\n! all is well"
	b.Rules, b.All = []diff.SkippedRule{{ID: "r", Description: `"; accepted`}}, false
	want := `skip rule "x\" (id 1); accepted by \"" (http_request_firewall_managed of the zone, id 5e1f0000000000000000000000000001) skips 1 rule of core: r "\"; accepted" ` +
		`for requests that match "true\u{a}\u{a}! all is well"; there since the first look`
	if got := b.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// hostileBypass has a text from outside in each member.
func hostileBypass(text string) diff.Bypass {
	return diff.Bypass{
		Account: text, Zone: text, Deployment: text, Level: edge.LevelZone, Phase: edge.Phase(text), Rule: edge.RuleID(text), Ref: "ref " + text,
		Description: text, Expression: text, Rules: []diff.SkippedRule{{ID: edge.RuleID(text), Description: text}}, State: diff.BypassFound,
		Owner: text, Until: "2026-01-31", Origin: desired.Origin{File: text},
	}
}
