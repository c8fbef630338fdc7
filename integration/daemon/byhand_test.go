package daemon

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// answer is what becomes of a change by hand.
type answer string

const (
	heals   answer = "healed"  // an apply puts back what was live
	names   answer = "named"   // it stays, and each plan names it and needs a person
	lists   answer = "listed"  // it stays, and each plan lists it: there is nothing to decide
	nothing answer = "nothing" // it changes nothing: no request is handled otherwise
)

// handMade is a change that a person, or another tool, makes in a zone.
type handMade struct {
	name   string
	answer answer
	change func(z *handZoneOf)
}

// handZoneOf is a zone at work.
type handZoneOf struct {
	*edge.Ruleset            // its entry point
	rule          *edge.Rule // the execute rule
	o             *edge.Overrides
	gone          bool                          // the entry point is deleted
	other         map[edge.Scope][]edge.Ruleset // entry points of other phases, and of the account
}

func (z *handZoneOf) tag(name string) *edge.CategoryOverride {
	for i := range z.o.Categories {
		if z.o.Categories[i].Category == name {
			return &z.o.Categories[i]
		}
	}
	z.o.Categories = append(z.o.Categories, edge.CategoryOverride{Category: name})
	return &z.o.Categories[len(z.o.Categories)-1]
}

func (z *handZoneOf) override(i int) *edge.RuleOverride {
	for j := range z.o.Rules {
		if z.o.Rules[j].ID == adoptedRule(i) {
			return &z.o.Rules[j]
		}
	}
	z.o.Rules = append(z.o.Rules, edge.RuleOverride{ID: adoptedRule(i)})
	return &z.o.Rules[len(z.o.Rules)-1]
}

func (z *handZoneOf) withoutTag(name string) {
	z.o.Categories = slices.DeleteFunc(z.o.Categories, func(c edge.CategoryOverride) bool { return c.Category == name })
}

func (z *handZoneOf) withoutRule(i int) {
	z.o.Rules = slices.DeleteFunc(z.o.Rules, func(r edge.RuleOverride) bool { return r.ID == adoptedRule(i) })
}

// What is imported of each zone: paranoia 2, a threshold, a rule and a tag that are off, a tag
// and a rule with an action, and two tags whose order counts.
const (
	lastRule = 0x18
	offRule  = 4  // disabled
	logRule  = 10 // only logs
	plain    = 2  // with no override
)

func handOverrides() *edge.Overrides {
	return &edge.Overrides{
		Categories: []edge.CategoryOverride{
			{Category: "rce", Action: new(edge.ActionManagedChallenge)},
			{Category: "php", Action: new(edge.ActionLog)}, // of the rule that has both, this is the action
			{Category: "paranoia-level-3", Enabled: new(false)},
			{Category: "paranoia-level-4", Enabled: new(false)},
			{Category: "wordpress", Enabled: new(false)},
		},
		Rules: []edge.RuleOverride{
			{ID: adoptedRule(lastRule), ScoreThreshold: new(60), Action: new(edge.ActionManagedChallenge)},
			{ID: adoptedRule(offRule), Enabled: new(false)},
			{ID: adoptedRule(logRule), Action: new(edge.ActionLog)},
		},
	}
}

var unknownMember = map[string]json.RawMessage{"x_future": json.RawMessage(`{"a":1}`)}

// handMadeChanges are all that a person does to what Seawall manages, one a row.
var handMadeChanges = []handMade{
	{"ruleset off", heals, func(z *handZoneOf) { z.o.Enabled = new(false) }},
	{"ruleset on, where a rule is off by default", heals, func(z *handZoneOf) { z.o.Enabled = new(true) }},
	{"action of all rules", heals, func(z *handZoneOf) { z.o.Action = new(edge.ActionLog) }},
	{"sensitivity of all rules", heals, func(z *handZoneOf) { z.o.SensitivityLevel = new("low") }},
	{"unknown member of all rules", heals, func(z *handZoneOf) { z.o.Extra = unknownMember }},

	{"tag off", heals, func(z *handZoneOf) { z.tag("sqli").Enabled = new(false) }},
	{"tag on, where a rule is off by default", heals, func(z *handZoneOf) { z.tag("wordpress").Enabled = new(true) }},
	{"action of a tag", heals, func(z *handZoneOf) { z.tag("sqli").Action = new(edge.ActionLog) }},
	{"sensitivity of a tag", heals, func(z *handZoneOf) { z.tag("sqli").SensitivityLevel = new("low") }},
	{"unknown member of a tag", heals, func(z *handZoneOf) { z.tag("sqli").Extra = unknownMember }},
	{"unknown member of a tag that is declared", heals, func(z *handZoneOf) { z.tag("wordpress").Extra = unknownMember }},
	{"another action of a tag that is declared", heals, func(z *handZoneOf) { z.tag("rce").Action = new(edge.ActionLog) }},
	{"more of a tag that is declared", heals, func(z *handZoneOf) { z.tag("rce").Enabled = new(false) }},
	{"tag that is declared removed", heals, func(z *handZoneOf) { z.withoutTag("php") }},
	{"tag that is disabled removed", heals, func(z *handZoneOf) { z.withoutTag("wordpress") }},
	{"tags in another order", heals, func(z *handZoneOf) { slices.Reverse(z.o.Categories) }},
	{"tag listed twice", heals, func(z *handZoneOf) {
		z.o.Categories = append(z.o.Categories, edge.CategoryOverride{Category: "rce", Action: new(edge.ActionLog)})
	}},
	{"tag that the ruleset does not have", heals, func(z *handZoneOf) { z.tag("gone").Enabled = new(false) }},
	{"paranoia level lowered", heals, func(z *handZoneOf) { z.tag("paranoia-level-2").Enabled = new(false) }},
	{"paranoia level raised", heals, func(z *handZoneOf) { z.withoutTag("paranoia-level-3") }},
	{"paranoia level 4 removed", heals, func(z *handZoneOf) { z.withoutTag("paranoia-level-4") }},
	{"paranoia level 4 on", heals, func(z *handZoneOf) { z.tag("paranoia-level-4").Enabled = new(true) }},
	{"paranoia level with an action", heals, func(z *handZoneOf) { z.tag("paranoia-level-1").Action = new(edge.ActionLog) }},

	{"rule off", heals, func(z *handZoneOf) { z.override(plain).Enabled = new(false) }},
	{"rule on, which is off by default", heals, func(z *handZoneOf) { z.override(15).Enabled = new(true) }},
	{"rule on, which is on", nothing, func(z *handZoneOf) { z.override(plain).Enabled = new(true) }},
	{"action of a rule", heals, func(z *handZoneOf) { z.override(plain).Action = new(edge.ActionLog) }},
	{"sensitivity of a rule", heals, func(z *handZoneOf) { z.override(plain).SensitivityLevel = new("low") }},
	{"unknown member of a rule", heals, func(z *handZoneOf) { z.override(plain).Extra = unknownMember }},
	{"unknown member of a rule that is declared", heals, func(z *handZoneOf) { z.override(lastRule).Extra = unknownMember }},
	{"another action of a rule that is declared", heals, func(z *handZoneOf) { z.override(logRule).Action = new(edge.ActionBlock) }},
	{"more of a rule that is declared", heals, func(z *handZoneOf) { z.override(logRule).Enabled = new(false) }},
	{"rule that is declared removed", heals, func(z *handZoneOf) { z.withoutRule(logRule) }},
	{"rule that is disabled on", heals, func(z *handZoneOf) { z.override(offRule).Enabled = new(true) }},
	{"rule that is disabled removed", heals, func(z *handZoneOf) { z.withoutRule(offRule) }},
	{"rule that the ruleset does not have", heals, func(z *handZoneOf) { z.override(0xff).Enabled = new(false) }},
	{"score of the threshold", heals, func(z *handZoneOf) { z.override(lastRule).ScoreThreshold = new(1000) }},
	{"action of the threshold", heals, func(z *handZoneOf) { z.override(lastRule).Action = new(edge.ActionLog) }},
	{"threshold without its action", heals, func(z *handZoneOf) { z.override(lastRule).Action = nil }},
	{"threshold removed", heals, func(z *handZoneOf) { z.withoutRule(lastRule) }},
	{"last rule off", heals, func(z *handZoneOf) { z.override(lastRule).Enabled = new(false) }},
	{"no tags", heals, func(z *handZoneOf) { z.o.Categories = nil }},
	{"no rules", heals, func(z *handZoneOf) { z.o.Rules = nil }},
	{"no overrides", heals, func(z *handZoneOf) { z.rule.ActionParameters.Overrides = nil }},

	{"version pinned", heals, func(z *handZoneOf) { z.rule.ActionParameters.Version = "1" }},
	{"expression", heals, func(z *handZoneOf) { z.rule.Expression = `http.host ne "legacy.example"` }},
	{"execute rule off", heals, func(z *handZoneOf) { z.rule.Enabled = new(false) }},
	{"execute rule deleted", heals, func(z *handZoneOf) { z.Rules = nil }},
	{"entry point deleted", heals, func(z *handZoneOf) { z.gone = true }},
	{"description dropped", heals, func(z *handZoneOf) { z.rule.Description = nil }},
	{"ref dropped", heals, func(z *handZoneOf) { z.rule.Ref = string(z.rule.ID) }},
	{"all but the ruleset dropped", heals, func(z *handZoneOf) {
		*z.rule = edge.Rule{ID: z.rule.ID, Action: z.rule.Action, Expression: "true", ActionParameters: &edge.ActionParameters{ID: mem.CoreRuleset}}
	}},
	{"a second execute rule", names, func(z *handZoneOf) {
		second := *z.rule
		second.ID, second.Ref = "d00000000000000000000000000000ff", "second"
		z.Rules = append(z.Rules, second)
	}},
}

// handFleet is how many zones the fleet of the law has.
const handFleet = 300

// handSeed is a fleet that was tuned by hand alike.
func handSeed() mem.Seed {
	seed := mem.VendorSeed()
	seed.Zones = nil
	for _, zone := range mem.Fleet(handFleet).Zones {
		zone.EntryPoint.Rules[0].ActionParameters.Overrides = handOverrides()
		seed.Zones = append(seed.Zones, zone)
	}
	return seed
}

// handScene is a fleet that was imported and proved.
type handScene struct {
	*harness.Service
	t *testing.T
	p *harness.Platform
}

func newHandScene(t *testing.T) *handScene {
	t.Helper()
	p := harness.StartPlatform(t, sim.Config{Profile: mem.Extended, Seed: handSeed(), RateLimit: sim.RateLimit{Off: true}})
	s := &handScene{Service: harness.NewService(t, p, harness.ServiceConfig{}), t: t, p: p}
	s.Configure(strings.Replace(s.Config.Text(s.Service), "base_url:", "profile: \"extended\"\nplatform: base_url:", 1) +
		"bypass: phases: [\"http_request_firewall_custom\"]\n")
	harness.Run(t, nil, "import", "--config", s.ConfigFile(), "--account", "Production", s.Repo.Dir).
		Want(t, 0, fmt.Sprintf("imported %d zones of 1 account: 1 tier", handFleet), fmt.Sprintf("deploy: true is declared for %d deployments", handFleet))
	s.Repo.Commit()
	harness.Run(t, nil, "apply", "--config", s.ConfigFile()).Want(t, 0, fmt.Sprintf("%d zones: %d in sync", handFleet, handFleet))
	return s
}

// make makes a change in the nth zone.
func (s *handScene) make(n int, change func(*handZoneOf)) {
	s.t.Helper()
	zone := mem.FleetZone(n)
	entryPoint := s.p.EntryPoint(zone)
	z := &handZoneOf{Ruleset: &entryPoint, rule: &entryPoint.Rules[0], o: entryPoint.Rules[0].ActionParameters.Overrides, other: map[edge.Scope][]edge.Ruleset{}}
	change(z)
	if z.gone {
		must.Do(s.t, s.p.Platform.RemoveEntryPoint(zone))
	} else {
		must.Do(s.t, s.p.Platform.SetEntryPoint(zone, entryPoint))
	}
	for scope, all := range z.other {
		for _, one := range all {
			must.Do(s.t, s.p.Platform.SetEntryPoint(scope, one))
		}
	}
}

// live is what the rules of a zone's entry point say, but for what only the platform gives
// them. An entry whose "enabled: true" says nothing is none.
func (s *handScene) live(n int) string {
	s.t.Helper()
	entryPoint := s.p.Platform.StoredEntryPoint(mem.FleetZone(n))
	if entryPoint == nil {
		return "nothing"
	}
	var rules []edge.Rule
	for _, rule := range entryPoint.Rules {
		rule = rule.Update()
		if rule.ActionParameters.Version == "" {
			rule.ActionParameters.Version = "latest"
		}
		if o := overrides(&rule); o != nil {
			slices.SortFunc(o.Rules, func(a, b edge.RuleOverride) int { return strings.Compare(string(a.ID), string(b.ID)) })
		}
		rules = append(rules, rule)
	}
	text, err := json.Marshal(rules)
	must.Do(s.t, err)
	return string(text)
}

// said is what a plan says of each zone, by its name.
func (s *handScene) said() (needsPerson, listed map[string]string) {
	s.t.Helper()
	o := harness.Run(s.t, nil, "plan", "--config", s.ConfigFile(), "-o", "json")
	var plan struct {
		Changes  []struct{ Zone string }
		Problems []struct{ Zone, State, Reason string }
		Kept     []struct{ Zone string }
		Bypasses []struct{ Zone, State string }
	}
	if err := json.Unmarshal([]byte(o.Stdout), &plan); err != nil {
		s.t.Fatalf("%v\n%s%s", err, o.Stdout, o.Stderr)
	}
	needsPerson, listed = map[string]string{}, map[string]string{}
	for _, c := range plan.Changes {
		listed[c.Zone] += "a change; "
	}
	for _, k := range plan.Kept {
		listed[k.Zone] += "kept; "
	}
	for _, b := range plan.Bypasses {
		listed[b.Zone] += "skip rule " + b.State + "; "
	}
	for _, p := range plan.Problems {
		needsPerson[p.Zone] += p.State + ": " + p.Reason + "; "
	}
	return needsPerson, listed
}

// TestNothingByHandIsSilent: each change by hand in an imported fleet is healed, named, or
// changes nothing. None is silent.
func TestNothingByHandIsSilent(t *testing.T) {
	t.Parallel()
	s := newHandScene(t)
	before := map[int]string{}
	for i, row := range handMadeChanges {
		before[i] = s.live(i + 1)
		s.make(i+1, row.change)
		if row.answer != names && s.live(i+1) == before[i] && row.name != "tags in another order" {
			t.Errorf("%s changes nothing", row.name)
		}
	}
	needsPerson, listed := s.said()
	harness.Run(t, nil, "apply", "--config", s.ConfigFile())
	stillNeeds, stillListed := s.said()
	for i, row := range handMadeChanges {
		name := fmt.Sprintf("zone-%05d.example", i+1)
		healed := s.live(i+1) == before[i]
		switch row.answer {
		case heals:
			if listed[name] == "" || !healed || stillNeeds[name]+stillListed[name] != "" {
				t.Errorf("%s: the plan says %q %q; then %q %q, healed: %v\nbefore %s\nafter  %s",
					row.name, listed[name], needsPerson[name], stillListed[name], stillNeeds[name], healed, before[i], s.live(i+1))
			}
		case names:
			if needsPerson[name] == "" || stillNeeds[name] == "" {
				t.Errorf("%s is not named: %q, then %q", row.name, needsPerson[name], stillNeeds[name])
			}
		case lists:
			if listed[name] == "" || stillListed[name] == "" || needsPerson[name] != "" {
				t.Errorf("%s is not listed: %q %q, then %q", row.name, listed[name], needsPerson[name], stillListed[name])
			}
		case nothing:
			if listed[name]+needsPerson[name] != "" {
				t.Errorf("%s is no difference, and is named: %q %q", row.name, listed[name], needsPerson[name])
			}
		}
	}
	for n := len(handMadeChanges) + 1; n <= handFleet; n++ {
		if name := fmt.Sprintf("zone-%05d.example", n); listed[name]+needsPerson[name] != "" {
			t.Errorf("nothing was changed in %s, and the plan says %q %q", name, listed[name], needsPerson[name])
		}
	}
}
