package daemon

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// byHand are changes that people make in a dashboard.
var byHand = []struct {
	name   string
	change func(*edge.Rule)
}{
	{"ruleset off", func(r *edge.Rule) { overrides(r).Enabled = new(false) }},
	{"action on all rules", func(r *edge.Rule) { overrides(r).Action = new(edge.ActionLog) }},
	{"sensitivity", func(r *edge.Rule) { overrides(r).SensitivityLevel = new("low") }},
	{"a tag", func(r *edge.Rule) {
		overrides(r).Categories = append(overrides(r).Categories, edge.CategoryOverride{Category: "sqli", Enabled: new(false), Action: new(edge.ActionLog)})
	}},
	{"a rule off", func(r *edge.Rule) {
		overrides(r).Rules = append(overrides(r).Rules, edge.RuleOverride{ID: adoptedRule(3), Enabled: new(false)})
	}},
	{"the action of a rule", func(r *edge.Rule) {
		overrides(r).Rules = append(overrides(r).Rules, edge.RuleOverride{ID: adoptedRule(10), Action: new(edge.ActionLog)})
	}},
	{"the threshold", func(r *edge.Rule) { overrides(r).Rules[0].ScoreThreshold = new(1000) }},
	{"a paranoia tag", func(r *edge.Rule) {
		overrides(r).Categories = append(overrides(r).Categories, edge.CategoryOverride{Category: "paranoia-level-1", Enabled: new(false)})
	}},
	{"a pinned version", func(r *edge.Rule) { r.ActionParameters.Version = "1" }},
	{"the expression", func(r *edge.Rule) { r.Expression = `http.host ne "legacy.example"` }},
	{"the execute rule off", func(r *edge.Rule) { r.Enabled = new(false) }},
	{"no overrides", func(r *edge.Rule) { r.ActionParameters.Overrides = nil }},
}

func overrides(r *edge.Rule) *edge.Overrides { return r.ActionParameters.Overrides }

func adoptedRule(i int) edge.RuleID {
	return edge.RuleID(fmt.Sprintf("c04e00000000000000000001%08x", i))
}

// unchanged is how many zones of the fleet were tuned by hand, and no one changes them afterwards.
const unchanged = 6

// adoptedSeed is the platform of the profile vendor with a fleet of three tiers.
func adoptedSeed(zones int) mem.Seed {
	seed := mem.VendorSeed()
	for i, zone := range mem.Fleet(zones).Zones {
		kind := []string{"public", "shop", "bank"}[i%3]
		zone.Name = fmt.Sprintf("%s-%02d.example", kind, i+1)
		o := &edge.Overrides{Rules: []edge.RuleOverride{{ID: adoptedRule(0x18), ScoreThreshold: new(60 - 10*(i%3)), Action: new(edge.ActionManagedChallenge)}}}
		for level := 2 + i%3; level <= edge.MaxParanoia; level++ {
			o.Categories = append(o.Categories, edge.CategoryOverride{Category: edge.ParanoiaTag(level), Enabled: new(false)})
		}
		if kind == "shop" {
			o.Rules = append(o.Rules, edge.RuleOverride{ID: adoptedRule(4), Enabled: new(false)})
		}
		zone.EntryPoint.Rules[0].ActionParameters.Overrides = o
		seed.Zones = append(seed.Zones, zone)
	}
	return seed
}

// adoption is a fleet that was imported, and the daemon for it.
type adoption struct {
	*harness.Service
	t      *testing.T
	p      *harness.Platform
	config string
	before map[edge.Scope]map[string]string
	hands  []hand
}

// hand is a change by hand in a zone.
type hand struct {
	zone   edge.Scope
	change int // of byHand
}

// hands have each change made in one zone; the first zone gets the change first, and so on.
func hands(zones, first int) (all []hand) {
	for i := range byHand {
		all = append(all, hand{mem.FleetZone(zones + i + 1), (first + i) % len(byHand)})
	}
	return all
}

// adopt imports a fleet, in which these changes are about to be made, into the repository of a service, as
// adopt-a-fleet.md says.
func adopt(t *testing.T, hands []hand) *adoption {
	t.Helper()
	seed, zones := adoptedSeed(len(hands)+unchanged), len(hands)+unchanged
	p := harness.StartPlatform(t, sim.Config{Profile: mem.Vendor, Seed: seed, RateLimit: sim.RateLimit{Off: true}})
	a := &adoption{
		Service: harness.NewService(t, p, harness.ServiceConfig{Sweep: "@every 2s"}), t: t, p: p, before: map[edge.Scope]map[string]string{}, hands: hands,
	}
	a.config = strings.Replace(a.Config.Text(a.Service), "base_url:", "profile: \"extended\"\nplatform: base_url:", 1)
	core := seed.Accounts[0].Rulesets
	i := slices.IndexFunc(core, func(r edge.Ruleset) bool { return r.ID == mem.CoreRuleset })
	must.Do(t, p.Platform.SetRuleset(mem.Account, core[i])) // version 2
	a.configure(`mode: "observe"`)
	harness.Run(t, nil, "import", "--config", a.ConfigFile(), "--account", "Production", a.Repo.Dir).
		Want(t, 0, fmt.Sprintf("imported %d zones of 1 account: 3 tiers", zones+ofSeed))
	a.Repo.Commit()
	a.plan(0, a.inSync())
	for i := 1; i <= zones; i++ {
		a.before[mem.FleetZone(i)] = a.live(mem.FleetZone(i))
	}
	return a
}

// ofSeed is how many zones of the seed are declared beside the fleet.
const ofSeed = 3

// inSync is what a plan says in which all is.
func (a *adoption) inSync() string {
	n := len(a.hands) + unchanged + ofSeed
	return fmt.Sprintf("%d zones: %d in sync", n, n)
}

func (a *adoption) configure(more ...string) { a.Configure(a.config + strings.Join(more, "\n") + "\n") }

func (a *adoption) plan(code int, texts ...string) string {
	a.t.Helper()
	o := harness.Run(a.t, nil, "plan", "--config", a.ConfigFile())
	o.Want(a.t, code, texts...)
	return o.Stdout
}

// live is what the execute rule of a zone says, member by member. An "enabled: true" on all
// rules has no effect, and stands for one that was removed.
func (a *adoption) live(zone edge.Scope) map[string]string {
	rule := a.p.EntryPoint(zone).Rules[0]
	says := map[string]string{"expression": rule.Expression, "enabled": fmt.Sprint(rule.IsEnabled()), "version": rule.ActionParameters.Version}
	o := rule.ActionParameters.Overrides
	if o == nil {
		return says
	}
	if o.Enabled != nil && !*o.Enabled {
		says["all off"] = "true"
	}
	if o.Action != nil {
		says["all"] = string(*o.Action)
	}
	if o.SensitivityLevel != nil {
		says["sensitivity"] = *o.SensitivityLevel
	}
	for _, c := range o.Categories {
		says[c.Category] = fmt.Sprintln(valueOf(c.Enabled), valueOf(c.Action))
	}
	for _, r := range o.Rules {
		says[string(r.ID)] = fmt.Sprintln(valueOf(r.Enabled), valueOf(r.Action), valueOf(r.ScoreThreshold))
	}
	return says
}

func valueOf[T any](v *T) string {
	if v == nil {
		return "unset"
	}
	return fmt.Sprint(*v)
}

// changeByHand makes each change.
func (a *adoption) changeByHand() {
	a.t.Helper()
	for _, h := range a.hands {
		entryPoint := a.p.EntryPoint(h.zone)
		byHand[h.change].change(&entryPoint.Rules[0])
		must.Do(a.t, a.p.Platform.SetEntryPoint(h.zone, entryPoint))
	}
}

// changed are the zones that are not as they were, and what was done in each.
func (a *adoption) changed() map[edge.Scope]string {
	all := map[edge.Scope]string{}
	for _, h := range a.hands {
		if !maps.Equal(a.before[h.zone], a.live(h.zone)) {
			all[h.zone] = byHand[h.change].name
		}
	}
	return all
}

func (a *adoption) nameOf(zone edge.Scope) string {
	for _, z := range adoptedSeed(len(a.hands) + unchanged).Zones {
		if edge.ZoneScope(z.ID) == zone {
			return z.Name
		}
	}
	a.t.Fatalf("no zone %s", zone)
	return ""
}

func (a *adoption) wantHealed() {
	a.t.Helper()
	a.Poll("all changes by hand are healed", func() bool { return len(a.changed()) == 0 })
	a.plan(0, a.inSync())
}

func (a *adoption) reload(more ...string) {
	reloads, served := len(a.Logged("the configuration is reloaded")), len(a.Logged("serving"))
	a.configure(more...)
	a.Signal(syscall.SIGHUP)
	a.Poll("the configuration is read again", func() bool {
		return len(a.Logged("the configuration is reloaded")) > reloads && len(a.Logged("serving")) > served
	})
	a.WantAddress()
}

// TestAdoptedFleetHeals: on the afternoon of an adoption, and wherever nothing decides on
// unmanaged overrides, each change by hand is healed, or named where the setting says so.
func TestAdoptedFleetHeals(t *testing.T) {
	t.Parallel()
	// Each change in two zones of different tiers.
	a := adopt(t, slices.Concat(hands(0, 0), hands(len(byHand), 1)))
	a.Start()
	a.Poll("a whole sweep in observe mode", func() bool { return a.Metric("seawall_zones", "state", "in_sync") == 33 })
	a.reload()
	a.changeByHand()
	a.wantHealed()

	// Without a decision in git, what is new is healed by what the ledger remembers.
	for _, name := range []string{"tiers.cue", "zones.cue"} {
		lines := strings.Split(harness.ReadText(t, filepath.Join(a.Repo.Dir, name)), "\n")
		for i, line := range lines {
			if strings.HasPrefix(strings.TrimSpace(line), "unmanaged:") {
				lines[i] = ""
			}
		}
		a.Repo.Write(name, strings.Join(lines, "\n"))
	}
	commits := len(a.Logged("commit accepted"))
	a.Repo.Commit()
	a.Poll("nothing is decided", func() bool { return len(a.Logged("commit accepted")) > commits })
	a.plan(0, a.inSync())
	a.Kill() // it holds across processes, and for what is done in between
	a.changeByHand()
	a.Start()
	a.wantHealed()

	// Or it is only reported. What is declared is healed all the same.
	a.reload(`drift: unmanaged: "report"`)
	a.changeByHand()
	reported := []string{"ruleset off", "action on all rules", "sensitivity", "a tag", "a rule off", "the action of a rule", "a pinned version"}
	a.Poll("what is declared is healed", func() bool { return len(a.changed()) == 2*len(reported) })
	out := a.plan(4, "33 zones: 19 in sync, 10 undecided, 4 blocked")
	for zone, name := range a.changed() {
		if !slices.Contains(reported, name) || !strings.Contains(out, a.nameOf(zone)) {
			t.Errorf("%s in %s is not healed, or not named in\n%s", name, a.nameOf(zone), out)
		}
	}
	for _, text := range []string{"the managed ruleset was switched off by hand (overrides.enabled = false)", "new since the deployment was first proved: 2 of 2"} {
		if !strings.Contains(out, text) {
			t.Errorf("%q is not in\n%s", text, out)
		}
	}
	a.reload()
	a.wantHealed()

	// A ledger that is lost makes nothing new: what is there then stays.
	a.Kill()
	must.Do(t, os.RemoveAll(filepath.Join(a.Dir, "state")))
	a.changeByHand()
	a.Start()
	a.Poll("what is declared is healed", func() bool { return len(a.changed()) == 2*len(reported) })
	a.Poll("a whole sweep", func() bool { return a.Metric("seawall_zones", "state", "in_sync") == 19 })
	if left := len(a.changed()); left != 2*len(reported) {
		t.Errorf("%d zones are as they were changed, want %d", left, 2*len(reported))
	}
}
