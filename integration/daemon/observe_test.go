package daemon

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

var observedToken = fmt.Sprintf(`
token: ci: {policies: [{effect: "allow", resources: %q: "*", permission_groups: [{id: %q}]}], sink: {name: "ci", key: "ci"}}
`, edge.ResourceAllZones, mem.RulesGroup)

// observing is a service whose configuration has more in it.
func observing(t *testing.T, p *harness.Platform, more string) (s *harness.Service, configure func(more string)) {
	s = harness.NewService(t, p, harness.ServiceConfig{Sweep: "@every 2s"})
	s.Write("tokens", p.TokensToken.Reveal()+"\n")
	text := s.Config.Text(s) + "credentials: tokens: file: \"" + filepath.Join(s.Dir, "tokens") + "\"\n"
	text += "sinks: ci: file: root: \"" + filepath.Join(s.Dir, "secrets") + "\"\n"
	must.Do(t, os.Mkdir(filepath.Join(s.Dir, "secrets"), 0o700))
	configure = func(more string) { s.Configure(text + more) }
	configure(more)
	harness.Run(t, nil, "token", "init", "--config", s.ConfigFile()).Want(t, 0)
	return s, configure
}

// TestObserveWritesNothing: with mode "observe" the daemon plans, reports and counts, and
// sends reads alone; with mode "apply" it goes on from there.
func TestObserveWritesNothing(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, harness.Fleet(3))
	s, configure := observing(t, p, `mode: "observe"`+"\n")
	s.Repo.Commit("edge.cue", harness.Declare(3, 25)+observedToken)
	s.Start()
	s.Poll("all zones are counted as observed", func() bool { return s.Metric("seawall_zones", "state", "observed") == 3 })
	s.Poll("the mode is logged", func() bool {
		return len(s.Logged("observing only: changes are planned and reported, and none is written")) == 1
	})
	s.PollReady()
	s.Repo.Commit("edge.cue", harness.Declare(3, 30)+observedToken)
	s.Poll("a commit is accepted", func() bool { return len(s.Logged("commit accepted")) >= 2 })
	sweeps := s.Runs()
	s.Poll("two more sweeps", func() bool { return s.Runs() >= sweeps+2 })
	for _, call := range p.Calls() {
		if !strings.HasPrefix(call, http.MethodGet+" ") {
			t.Errorf("it sent %s", call)
		}
	}

	configure(`mode: "apply"` + "\n")
	s.Signal(syscall.SIGHUP)
	s.Poll("the commit is live", func() bool { return p.Threshold(mem.FleetZone(3)) == 30 })
	s.Poll("the token is created", func() bool {
		_, err := os.Stat(filepath.Join(s.Dir, "secrets", "ci"))
		return err == nil
	})
}

// TestObserveSelects: zones that an entry of observe selects are never written to; the
// others are.
func TestObserveSelects(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, harness.Fleet(3))
	s, _ := observing(t, p, `observe: [{labels: tier: "gold"}]`+"\n")
	gold := `account: prod: zone: "zone-00002.example": labels: tier: "gold"` + "\n"
	s.Repo.Commit("edge.cue", harness.Declare(3, 25)+gold)
	s.Start()
	s.Poll("two zones are live", func() bool { return p.Threshold(mem.FleetZone(1)) == 25 && p.Threshold(mem.FleetZone(3)) == 25 })
	s.Poll("one is observed", func() bool { return s.Metric("seawall_zones", "state", "observed") == 1 })
	if got := p.Threshold(mem.FleetZone(2)); got == 25 {
		t.Error("the observed zone was written to")
	}
}
