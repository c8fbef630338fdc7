package daemon

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/harness"
)

// TestPlansBesideTheDaemonShareItsBudget: a daemon that sweeps and plans by hand
// beside it would ask for more than the platform allows, each by itself within
// it. It refuses none of them, and a daemon that starts again goes on where the
// one before stopped.
func TestPlansBesideTheDaemonShareItsBudget(t *testing.T) {
	t.Parallel()
	const quota = 30
	config := harness.Fleet(12)
	config.RateLimit = sim.RateLimit{Requests: quota, Per: 2 * time.Second}
	p := harness.StartPlatform(t, config)
	s := harness.NewService(t, p, harness.ServiceConfig{Sync: "@every 1h", Sweep: "@every 2s", Requests: quota, Per: 2 * time.Second})
	s.Repo.Commit("edge.cue", harness.Declare(12, 25))
	s.Start()
	s.Poll("all zones are as declared", func() bool { return s.Runs() > 0 })
	plan := func() {
		harness.Run(t, nil, "plan", "--config", s.ConfigFile()).Want(t, 0, "12 in sync")
	}
	plan()
	s.Signal(syscall.SIGTERM)
	s.WantEnd(0)
	s.Start()
	plan()
	s.Kill()
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
	if told := s.Output(); strings.Contains(told, "half of") {
		t.Errorf("the daemon tells:\n%s", told)
	}
	data, err := os.ReadFile(filepath.Join(s.Dir, "state", "budget"))
	if token := p.RulesetsToken.Reveal(); err != nil || strings.Contains(string(data), token) {
		t.Errorf("%s, %v", data, err)
	}
}
