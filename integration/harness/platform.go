package harness

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
)

// Platform is the simulator behind a socket, as a test looks at it.
type Platform struct {
	*sim.Running
	T testing.TB
}

// StartPlatform starts the simulator. It ends with the test.
func StartPlatform(t testing.TB, config sim.Config) *Platform {
	t.Helper()
	running, err := sim.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = running.Close() })
	return &Platform{running, t}
}

// Env is the credential, for commands without a configuration.
func (p *Platform) Env() []string {
	return []string{"SEAWALL_RULESETS_TOKEN=" + p.RulesetsToken.Reveal()}
}

// Calls returns the requests so far, each as method and path.
func (p *Platform) Calls() []string {
	var calls []string
	for _, entry := range p.Transcript() {
		calls = append(calls, entry.Call())
	}
	return calls
}

// Writes counts the requests so far that are not reads or dry runs, by the zone they went to.
func (p *Platform) Writes() map[string]int {
	writes := map[string]int{}
	for _, entry := range p.Transcript() {
		if entry.Method != http.MethodGet && !strings.Contains(entry.Query, "dry_run=true") {
			writes[strings.Split(entry.Path, "/")[2]]++
		}
	}
	return writes
}

// EntryPoint reads a zone behind the back of every client.
func (p *Platform) EntryPoint(zone edge.Scope) edge.Ruleset {
	p.T.Helper()
	entryPoint, err := p.Platform.EntryPoint(p.T.Context(), zone, edge.PhaseFirewallManaged)
	if err != nil {
		p.T.Fatal(err)
	}
	return entryPoint
}

// Threshold is the score at which a zone's deployment acts; zero when it is not
// overridden.
func (p *Platform) Threshold(zone edge.Scope) int {
	p.T.Helper()
	rule := p.EntryPoint(zone).Rules[0]
	if rule.ActionParameters.Overrides == nil {
		return 0
	}
	for _, override := range rule.ActionParameters.Overrides.Rules {
		if override.ScoreThreshold != nil {
			return *override.ScoreThreshold
		}
	}
	return 0
}

// Weaken plants drift: every threshold of a zone's deployment becomes 1000.
func (p *Platform) Weaken(zone edge.Scope) {
	p.T.Helper()
	entryPoint := p.EntryPoint(zone)
	for i := range entryPoint.Rules[0].ActionParameters.Overrides.Rules {
		entryPoint.Rules[0].ActionParameters.Overrides.Rules[i].ScoreThreshold = new(1000)
	}
	if err := p.Platform.SetEntryPoint(zone, entryPoint); err != nil {
		p.T.Fatal(err)
	}
}

// Declare writes desired state for zones 1 to n of a mem.Fleet, all with one
// threshold. The file is to stand at the top of a tree.
func Declare(n, threshold int) string {
	return DeclareEach(n, func(int) int { return threshold })
}

// DeclareEach is declare with a threshold for each zone.
func DeclareEach(n int, threshold func(i int) int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package edge\n\naccount: prod: {\n\tid: %q\n\truleset: core: name: \"Core Ruleset\"\n", mem.Account)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "\tzone: %q: {id: %q, waf: core: threshold: {score: %d, action: \"block\"}}\n",
			fmt.Sprintf("zone-%05d.example", i), mem.FleetZone(i), threshold(i))
	}
	return b.String() + "}\n"
}

// DeclareTokens writes desired state with a token for each key, which goes to the sink ci.
func DeclareTokens(keys ...string) string {
	var b strings.Builder
	b.WriteString("package edge\n\n")
	for _, key := range keys {
		fmt.Fprintf(&b, "token: %q: {policies: [{effect: \"allow\", resources: %q: \"*\", permission_groups: [{id: %q}]}], sink: {name: \"ci\", key: %q}}\n",
			key, edge.ResourceAllZones, mem.RulesGroup, key)
	}
	return b.String()
}

// Fleet is a platform with n zones, all alike, and no rate limit.
func Fleet(n int) sim.Config {
	return sim.Config{Seed: mem.Fleet(n), RateLimit: sim.RateLimit{Off: true}}
}
