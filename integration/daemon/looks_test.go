package daemon

import (
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/harness"
)

// TestDaemonLooksForSkipRules: the sweep looks at the custom phase of each zone once a day, a push
// does not, and a reload takes another interval.
func TestDaemonLooksForSkipRules(t *testing.T) {
	t.Parallel()
	seed := mem.Fleet(3)
	rule := skip("true", skipsManaged)
	rule.ID = "b0000000000000000000000000000001"
	seed.Zones[1].Rulesets = []edge.Ruleset{{ID: "b0000000000000000000000000000002", Name: "default", Phase: edge.PhaseFirewallCustom, Rules: []edge.Rule{rule}}}
	p := harness.StartPlatform(t, sim.Config{Seed: seed, Profile: mem.Extended, RateLimit: sim.RateLimit{Off: true}})
	s := harness.NewService(t, p, harness.ServiceConfig{Sweep: "@every 1s"})
	config := strings.Replace(s.Config.Text(s), "base_url:", "profile: \"extended\"\nplatform: base_url:", 1) +
		`bypass: phases: ["http_request_firewall_custom"]` + "\n"
	s.Configure(config)
	s.Repo.Commit("edge.cue", harness.Declare(3, 25))
	looks, reads := asked(p)
	s.Start()
	s.Poll("each zone is looked at", func() bool { n, _ := asked(p); return n == looks+3 })
	s.Poll("status says that one is bypassed", func() bool {
		_, text := s.Get("/status")
		return strings.Contains(text, "bypassed")
	})
	s.Repo.Commit("edge.cue", harness.Declare(3, 26))
	s.Poll("a commit is live", func() bool { return p.At(1, 3, 26) == 3 })
	s.Poll("there were more sweeps", func() bool { _, n := asked(p); return n > reads+9 })
	if n, _ := asked(p); n != looks+3 {
		t.Errorf("it looked %d times at 3 zones", n-looks)
	}
	s.Configure(config + `bypass: every: "1s"` + "\n")
	s.Signal(syscall.SIGHUP)
	s.Poll("it looks more often", func() bool { n, _ := asked(p); return n > looks+9 })
	s.Signal(syscall.SIGTERM)
	s.WantEnd(0)
}

// asked counts the requests for entry points: of the custom phase, and of deployments.
func asked(p *harness.Platform) (looks, reads int) {
	for _, call := range p.Calls() {
		switch {
		case strings.HasSuffix(call, "/phases/http_request_firewall_custom/entrypoint"):
			looks++
		case strings.HasSuffix(call, "/entrypoint"):
			reads++
		}
	}
	return looks, reads
}
