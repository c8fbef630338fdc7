package inspect

import (
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// bypassedZones are zones of which one has all that is known of skip rules.
func bypassedZones() ZoneList {
	list := someZones()
	z := &list.Zones[0]
	z.Bypasses = []diff.Bypass{{
		Account: "prod", Zone: "shop.example", Scope: edge.ZoneScope("a01"), Deployment: "core", Level: edge.LevelAccount, Phase: edge.PhaseFirewallCustom,
		Rule: "5e1f", Ref: "partner", Description: "partner", Expression: `http.host eq "other.example"`, Rules: []diff.SkippedRule{{ID: "r1", Description: "SQL injection"}},
		State: diff.BypassAccepted, Owner: "team-sre", Until: "2027-03-31", Origin: desired.Origin{File: "a.cue", Line: 12, Column: 2},
	}}
	z.Looked = []LookedAt{{edge.LevelAccount, edge.PhaseFirewallCustom, noon.Add(-time.Minute)}}
	z.NotLookedAt = []diff.NotLookedAt{{Account: "prod", Level: edge.LevelZone, Phase: edge.PhaseFirewallCustom, Zones: 7, Reason: "403 Forbidden", At: noon.Add(-time.Hour)}}
	z.Why = z.Sentences(noon)
	return list
}

// Each skip rule is said once, with who accepts it, and when earlier phases were looked at.
func TestSkipRules(t *testing.T) {
	list := bypassedZones()
	if err := compiled(t, ZoneSchema).Validate(instance(t, list)); err != nil {
		t.Error(err)
	}
	why, status := new(strings.Builder), new(strings.Builder)
	if err := list.Why(why); err != nil {
		t.Fatal(err)
	}
	if err := list.Text(status); err != nil {
		t.Fatal(err)
	}
	const rule = `"partner" (http_request_firewall_custom of the account, id 5e1f) skips 1 rule of core: r1 "SQL injection" for requests that match ` +
		`"http.host eq \"other.example\""; accepted by "team-sre" until 2027-03-31 (a.cue:12)`
	for _, line := range []string{
		"Skip rule " + rule + ".\n",
		"Seawall has looked for skip rules in earlier phases: http_request_firewall_custom of the account 1m00s ago; " +
			"http_request_firewall_custom of the zone: no (403 Forbidden), last 1h00m ago.\n",
	} {
		if strings.Count(why.String(), line) != 1 {
			t.Errorf("why does not say %q once:\n%s", line, why)
		}
	}
	for _, line := range []string{"skip rule  " + rule, "looked at  http_request_firewall_custom of the account, 1m00s ago", "looked at  http_request_firewall_custom of the zone: no (403 Forbidden)"} {
		if strings.Count(status.String(), line+"\n") != 1 {
			t.Errorf("status does not say %q once:\n%s", line, status)
		}
	}

	z := list.Zones[0]
	z.Bypasses[0].State, z.Outcome = diff.BypassNew, Bypassed
	z.Decisions = []Decision{{Deployment: "core", Stage: StagePlan, Outcome: Bypassed, Reason: "skip rule 5e1f keeps requests", Since: noon}}
	if text := strings.Join(z.Sentences(noon), "\n"); strings.Count(text, "5e1f") != 1 || !strings.HasPrefix(text, "shop.example (account prod) is bypassed: ") {
		t.Errorf("what a decision says is said again:\n%s", text)
	}
}

// A skip rule of an account may name other zones: who may not see them is not told its words.
func TestSkipRulesAlone(t *testing.T) {
	z := bypassedZones().Zones[0]
	own := z.Bypasses[0]
	own.Level, own.Description, own.Expression, own.Rule = edge.LevelZone, "own rule", `http.host eq "shop.example"`, "0f0f"
	z.Bypasses[0].Description, z.Bypasses[0].Ref = "for other.example", "other.example"
	z.Bypasses = append(z.Bypasses, own)
	z.Decisions = []Decision{{Deployment: "core", Stage: StagePlan, Outcome: Bypassed, Reason: `skip rule keeps http.host eq "other.example"`, Release: `accepted: {expression: "other.example"}`, Since: noon}}
	page := ZonePage{Zone: z, History: []reconcile.Entry{reconcile.SkipRuleEntry(nil, &z.Bypasses[0])}}.Alone(noon.Add(time.Minute))
	var b strings.Builder
	if err := JSON(&b, page); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Contains(text, "other.example") || strings.Contains(text, `"zones": 7`) || !strings.Contains(text, "own rule") || !strings.Contains(text, "5e1f") {
		t.Errorf("said is %s", text)
	}
}

// The history says of a skip rule that it was changed outside Seawall.
func TestEntryOfASkipRule(t *testing.T) {
	b := bypassedZones().Zones[0].Bypasses[0]
	e := reconcile.SkipRuleEntry(nil, &b)
	if got := EntryWhat(e); got != "changed outside Seawall: skip rule 5e1f of prod / shop.example / core" {
		t.Error(got)
	}
	if got := EntryAsked(e, func(string) string { return "" }); got != "who changed it is not known, weakens" {
		t.Error(got)
	}
	want := []string{
		`expression  unset → http.host eq "other.example"  (partner)`, `skips  unset → 1 rule of core: r1 "SQL injection"  (partner)`,
		`place  unset → http_request_firewall_custom of the account  (partner)`,
	}
	for i, m := range e.Members {
		if got := EntryMember(m)[0]; got != want[i] {
			t.Errorf("got %s, want %s", got, want[i])
		}
	}
}

// A length of time is read with days and weeks; one that does not fit is refused, and is no other one.
func TestLength(t *testing.T) {
	for text, want := range map[string]time.Duration{"45m": 45 * time.Minute, "2d": 48 * time.Hour, "1d12h": 36 * time.Hour, "2w": 336 * time.Hour, "0d": 0} {
		if got, err := Length(text); err != nil || got != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "2", "d", "1d-1h", "1d1d", "1.5d", "-1d", "31000w", "99999w", "106751d999h"} {
		if got, err := Length(text); err == nil {
			t.Errorf("%q: %s", text, got)
		}
	}
}
