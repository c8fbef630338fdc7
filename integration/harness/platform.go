package harness

import (
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
	return Threshold(p.EntryPoint(zone).Rules[0])
}

// At counts those of the zones first to last of a fleet that have a threshold.
func (p *Platform) At(first, last, threshold int) (n int) {
	p.T.Helper()
	for i := first; i <= last; i++ {
		if p.Threshold(mem.FleetZone(i)) == threshold {
			n++
		}
	}
	return n
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
