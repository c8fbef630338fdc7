package integration

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge/sim"
)

// TestPlansBesideTheDaemonShareItsBudget: a daemon that sweeps and plans by hand
// beside it would ask for more than the platform allows, each by itself within
// it. It refuses none of them, and a daemon that starts again goes on where the
// one before stopped.
func TestPlansBesideTheDaemonShareItsBudget(t *testing.T) {
	t.Parallel()
	const quota = 30
	config := fleet(12)
	config.RateLimit = sim.RateLimit{Requests: quota, Per: 2 * time.Second}
	p := startPlatform(t, config)
	s := newService(t, p, serviceConfig{Sync: "@every 1h", Sweep: "@every 2s"})
	s.configure(strings.Replace(s.config.text(s), "requests: 100_000", `requests: 30, per: "2s"`, 1))
	s.repo.Commit("edge.cue", declare(12, 25))
	s.start()
	s.poll("all zones are as declared", func() bool { return len(s.logged("run finished")) > 0 })
	plan := func() {
		run(t, nil, "plan", "--config", s.configFile()).want(t, 0, "12 in sync")
	}
	plan()
	s.signal(syscall.SIGTERM)
	s.wantEnd(0)
	s.start()
	plan()
	s.kill()
	plan()
	refused, asked := 0, 0
	for _, call := range p.Transcript() {
		if asked++; call.Status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused > 0 || asked < 2*quota {
		t.Errorf("%d of %d requests were refused", refused, asked)
	}
	if told := s.output(); strings.Contains(told, "half of") {
		t.Errorf("the daemon tells:\n%s", told)
	}
	data, err := os.ReadFile(filepath.Join(s.dir, "state", "budget"))
	if token := p.RulesetsToken.Reveal(); err != nil || strings.Contains(string(data), token) {
		t.Errorf("%s, %v", data, err)
	}
}
