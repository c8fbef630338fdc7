package schema_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestGuards(t *testing.T) {
	got := loaded(t, least+`
schedule: timezone: "Europe/Berlin"
approvals: expire: "36h"
guards: {
	"the fleet": {changes: {count: 100, share: "10%"}, weakening: {count: 0, floor: 2}}
	gold: {labels: {tier: "gold", region: "eu"}, approve: "weakening", changes: share: "100%"}
}
shrink: {floor: 10, share: "30%"}
freezes: weekend: {cron: "0 18 * * 5", for: "62h"}
freezes: "end of year": {cron: "0 0 20 12 *", for: "336h", timezone: "UTC", labels: tier: "gold", allow: "strengthens", override: false}
waves: [{labels: tier: "canary", soak: "1h"}, {size: 5, soak: "30m", halt: {non_convergent: 3, failed: "20%"}}, {size: "25%", soak: "0s"}]
`)
	berlin, err := time.LoadLocation("Europe/Berlin")
	must.Do(t, err)
	want := schema.Guards{
		ApprovalsExpire: 36 * time.Hour,
		Rules: []schema.Guard{
			schema.DefaultGuard(),
			{Name: "gold", Labels: map[string]string{"tier": "gold", "region": "eu"}, Approve: "weakening", Changes: &schema.Limit{Percent: new(100), Floor: 5}},
			{Name: "the fleet", Changes: &schema.Limit{Count: new(100), Percent: new(10), Floor: 5}, Weakening: &schema.Limit{Count: new(0), Floor: 2}},
		},
		Shrink: schema.Shrink{Floor: 10, Percent: 30},
		Freezes: []schema.Freeze{
			{Name: "end of year", Cron: "0 0 20 12 *", For: 336 * time.Hour, Timezone: time.UTC, Labels: map[string]string{"tier": "gold"}, Strengthening: true},
			{Name: "weekend", Cron: "0 18 * * 5", For: 62 * time.Hour, Timezone: berlin, Override: true},
		},
		Waves: []schema.Wave{
			{Labels: map[string]string{"tier": "canary"}, Soak: time.Hour, NonConvergent: 1, FailedPercent: 5},
			{Count: 5, Soak: 30 * time.Minute, NonConvergent: 3, FailedPercent: 20},
			{Percent: 25, NonConvergent: 1, FailedPercent: 5},
		},
	}
	zone := cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })
	if d := cmp.Diff(want, got.Guards, zone); d != "" {
		t.Errorf("guards (-want +got):\n%s", d)
	}
}

func TestGuardMistakes(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`guards: a: {}`, `c.cue:5:9: guards.a: guards nothing (give it changes, weakening or approve)`},
		{`guards: a: labels: tier: "gold"`, `c.cue:5:9: guards.a: guards nothing (give it changes, weakening or approve)`},
		{`guards: a: changes: floor: 3`, `c.cue:5:12: guards.a.changes: limits nothing (give it a count, a share, or both)`},
		{`guards: a: weakening: {}`, `c.cue:5:12: guards.a.weakening: limits nothing (give it a count, a share, or both)`},
		{`guards: default: {}`, `c.cue:5:9: guards.default: guards nothing (give it changes, weakening or approve)`},
		{`guards: default: {off: true, weakening: count: 3}`, `c.cue:5:9: guards.default: is off and guards something (leave out off, or all else)`},
		{`guards: default: wekening: count: 3`, `c.cue:5:18: guards.default.wekening: unknown field (did you mean "weakening"?)`},
		{`guards: a: off: true`, `c.cue:5:12: guards.a.off: unknown field (known here: approve, changes, labels, weakening)`},
		{`guards: a: aprove: "all"`, `c.cue:5:12: guards.a.aprove: unknown field (did you mean "approve"?)`},
		{`guards: a: approve: "everything"`, `c.cue:5:21: guards.a.approve: "everything" is not one of weakening, all`},
		{`guards: a: changes: count: -1`, `c.cue:5:28: guards.a.changes.count: -1 must be at least 0`},
		{`guards: a: changes: share: "0%"`, `c.cue:5:28: guards.a.changes.share: "0%" must be a share such as "10%", from 1% to 100%`},
		{`guards: a: changes: share: "101%"`, `c.cue:5:28: guards.a.changes.share: "101%" must be a share such as "10%", from 1% to 100%`},
		{`guards: a: changes: share: "10"`, `c.cue:5:28: guards.a.changes.share: "10" must be a share such as "10%", from 1% to 100%`},
		{`shrink: share: "100%"`, `c.cue:5:9: shrink.share: "100%" is not between 10% and 90%`},
		{`shrink: share: "9%"`, `c.cue:5:9: shrink.share: "9%" is not between 10% and 90%`},
		{`shrink: floor: 0`, `c.cue:5:16: shrink.floor: 0 must be at least 1`},
		{`freezes: f: {cron: "* *", for: "1h"}`, `c.cue:5:14: freezes.f.cron: "* *" is not a cron expression: expected exactly 5 fields, found 2: [* *] (five fields such as "0 18 * * 5", or @daily)`},
		{`freezes: f: {cron: "@every 5m", for: "1h"}`, `c.cue:5:14: freezes.f.cron: "@every 5m" is not a cron expression: @every has no start time (five fields such as "0 18 * * 5", or @daily)`},
		{`freezes: f: {cron: "@daily", for: "0s"}`, `c.cue:5:30: freezes.f."for": "0s" is not a duration above zero`},
		{`freezes: f: {cron: "@daily"}`, `c.cue:5:10: freezes.f.for: required field is missing`},
		{`freezes: "a b": {cron: "@daily", for: "1h", timezone: "Mars/Base"}`, `c.cue:5:45: freezes."a b".timezone: "Mars/Base" is not a known time zone (write a name of the IANA database, such as "Europe/Berlin")`},
		{`freezes: f: {cron: "@daily", for: "1h", allow: "weakens"}`, `c.cue:5:48: freezes.f.allow: "weakens" must be strengthens`},
		{`waves: [{size: 3}]`, `c.cue:5:9: waves[0].soak: required field is missing`},
		{`waves: [{soak: "1h", size: 0}]`, `c.cue:5:28: waves[0].size: 0 must be a number of zones, 1 or more, or a share such as "10%"`},
		{`waves: [{soak: "1h"}, {soak: "-1h"}]`, `c.cue:5:24: waves[1].soak: "-1h0m0s" is below zero`},
	} {
		wantMistakes(t, least+test.text, test.want)
	}
}

// Without a word of the configuration there is a limit on what weakens; what is set takes its
// place as a whole, and one line switches it off.
func TestDefaultGuard(t *testing.T) {
	for text, want := range map[string][]schema.Guard{
		``:                                     {{Name: "default", Weakening: &schema.Limit{Percent: new(20), Floor: 5}}},
		`guards: default: off: true`:           {{Name: "default", Off: true}},
		`guards: default: weakening: count: 3`: {{Name: "default", Weakening: &schema.Limit{Count: new(3), Floor: 5}}},
		`guards: default: approve: "all"`:      {{Name: "default", Approve: "all"}},
	} {
		got := loaded(t, least+text)
		if d := cmp.Diff(want, got.Guards.Rules); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}

// The comment in the schema, which the documents show, has the numbers of the default.
func TestDefaultGuardIsDocumented(t *testing.T) {
	text, err := os.ReadFile("guards.cue")
	must.Do(t, err)
	limit := schema.DefaultGuard().Weakening
	want := fmt.Sprintf(`default is {weakening: {share: "%d%%", floor: %d}} for all zones`, *limit.Percent, limit.Floor)
	if !strings.Contains(string(text), want) {
		t.Errorf("guards.cue does not say %q", want)
	}
}
