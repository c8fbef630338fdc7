package daemon

import (
	"cmp"
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
	gone          bool           // the entry point is deleted
	other         []edge.Ruleset // its entry points of other phases
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

// handFleet is how many zones the fleet of the law has: one for each change, and some more.
const handFleet = 100

// handSeed is a fleet that was tuned by hand alike.
func handSeed() mem.Seed {
	seed := mem.VendorSeed()
	seed.Zones = nil
	for i, zone := range mem.Fleet(handFleet).Zones {
		zone.EntryPoint.Rules[0].ActionParameters.Overrides = handOverrides()
		if at := i - len(handMadeChanges) - len(skipChanges); at >= 0 && at < len(foundChanges) {
			withSkips(zone.EntryPoint)
		}
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
	i := slices.IndexFunc(entryPoint.Rules, func(r edge.Rule) bool { return r.Executes(mem.CoreRuleset) })
	z := &handZoneOf{Ruleset: &entryPoint, rule: &entryPoint.Rules[i], o: overrides(&entryPoint.Rules[i])}
	change(z)
	if z.gone {
		must.Do(s.t, s.p.Platform.RemoveEntryPoint(zone))
	} else {
		must.Do(s.t, s.p.Platform.SetEntryPoint(zone, entryPoint))
	}
	for _, other := range z.other {
		must.Do(s.t, s.p.Platform.SetEntryPoint(zone, other))
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
		if rule.Action == edge.ActionExecute {
			rule.ActionParameters.Version = cmp.Or(rule.ActionParameters.Version, "latest")
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

// saidOf is what a plan says of a zone.
type saidOf struct {
	changes     bool
	needsPerson string // its problems
	listed      string // what it keeps, and skip rules
}

// said is what a plan says of each zone, by its name.
func (s *handScene) said() map[string]saidOf {
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
	all := map[string]saidOf{}
	on := func(zone string, say func(*saidOf)) {
		one := all[zone]
		say(&one)
		all[zone] = one
	}
	for _, c := range plan.Changes {
		on(c.Zone, func(one *saidOf) { one.changes = true })
	}
	for _, k := range plan.Kept {
		on(k.Zone, func(one *saidOf) { one.listed += "kept; " })
	}
	for _, b := range plan.Bypasses {
		on(b.Zone, func(one *saidOf) { one.listed += "skip rule " + b.State + "; " })
	}
	for _, p := range plan.Problems {
		on(p.Zone, func(one *saidOf) { one.needsPerson += p.State + ": " + p.Reason + "; " })
	}
	return all
}

// TestNothingByHandIsSilent: each change by hand in an imported fleet is healed, named, or
// changes nothing. None is silent.
func TestNothingByHandIsSilent(t *testing.T) {
	t.Parallel()
	s := newHandScene(t)
	before, rows := map[int]string{}, slices.Concat(handMadeChanges, skipChanges, foundChanges)
	for i, row := range rows {
		before[i] = s.live(i + 1)
		s.make(i+1, row.change)
		if row.answer == heals && s.live(i+1) == before[i] {
			t.Errorf("%s changes nothing", row.name)
		}
	}
	first := s.said()
	harness.Run(t, nil, "apply", "--config", s.ConfigFile())
	then := s.said()
	for i, row := range rows {
		name := fmt.Sprintf("zone-%05d.example", i+1)
		said, after, healed := first[name], then[name], s.live(i+1) == before[i]
		ok := map[answer]bool{
			heals:   said.changes && healed && after == saidOf{},
			names:   said.needsPerson != "" && after.needsPerson != "",
			lists:   said.listed != "" && after.listed != "" && said.needsPerson+after.needsPerson == "",
			nothing: said == saidOf{} && after == saidOf{},
		}
		if !ok[row.answer] {
			t.Errorf("%s, in %s: want it %s; the plan says %+v, then %+v; it is as before: %v", row.name, name, row.answer, said, after, healed)
		}
	}
	for n := len(rows) + 1; n <= handFleet; n++ {
		if name := fmt.Sprintf("zone-%05d.example", n); first[name] != (saidOf{}) {
			t.Errorf("nothing was changed in %s, and the plan says %+v", name, first[name])
		}
	}

	// A skip rule of the account acts on each of its zones.
	must.Do(t, s.p.Platform.SetEntryPoint(edge.AccountScope(mem.Account), edge.Ruleset{
		Name: "default", Phase: edge.PhaseFirewallCustom, Rules: []edge.Rule{skip(`(cf.zone.plan eq "ENT")`, skipsManaged)},
	}))
	last := s.said()
	for n := 1; n <= handFleet; n++ {
		if name := fmt.Sprintf("zone-%05d.example", n); last[name].needsPerson == "" || n > len(rows) && !strings.HasPrefix(last[name].needsPerson, "bypassed: ") {
			t.Errorf("a skip rule of the account is not named in %s: %+v", name, last[name])
		}
	}
}
