package integration

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
)

var observedToken = fmt.Sprintf(`
token: ci: {policies: [{effect: "allow", resources: %q: "*", permission_groups: [{id: %q}]}], sink: {name: "ci", key: "ci"}}
`, edge.ResourceAllZones, mem.RulesGroup)

// observing is a service whose configuration has more in it.
func observing(t *testing.T, p *platform, more string) (s *service, configure func(more string)) {
	s = newService(t, p, serviceConfig{Sweep: "@every 2s"})
	s.write("tokens", p.TokensToken.Reveal()+"\n")
	text := s.config.text(s) + "credentials: tokens: file: \"" + filepath.Join(s.dir, "tokens") + "\"\n"
	text += "sinks: ci: file: root: \"" + filepath.Join(s.dir, "secrets") + "\"\n"
	if err := os.Mkdir(filepath.Join(s.dir, "secrets"), 0o700); err != nil {
		t.Fatal(err)
	}
	configure = func(more string) { s.configure(text + more) }
	configure(more)
	run(t, nil, "token", "init", "--config", s.configFile()).want(t, 0)
	return s, configure
}

// TestObserveWritesNothing: with mode "observe" the daemon plans, reports and counts, and
// sends reads alone; with mode "apply" it goes on from there.
func TestObserveWritesNothing(t *testing.T) {
	t.Parallel()
	p := startPlatform(t, fleet(3))
	s, configure := observing(t, p, `mode: "observe"`+"\n")
	s.repo.Commit("edge.cue", declare(3, 25)+observedToken)
	s.start()
	s.poll("all zones are counted as observed", func() bool { return s.metric("seawall_zones", "state", "observed") == 3 })
	s.poll("the mode is logged", func() bool {
		return len(s.logged("observing only: changes are planned and reported, and none is written")) == 1
	})
	s.pollReady()
	s.repo.Commit("edge.cue", declare(3, 30)+observedToken)
	s.poll("a commit is accepted", func() bool { return len(s.logged("commit accepted")) >= 2 })
	sweeps := len(s.logged("run finished"))
	s.poll("two more sweeps", func() bool { return len(s.logged("run finished")) >= sweeps+2 })
	for _, call := range p.calls() {
		if !strings.HasPrefix(call, http.MethodGet+" ") {
			t.Errorf("it sent %s", call)
		}
	}

	configure(`mode: "apply"` + "\n")
	s.signal(syscall.SIGHUP)
	s.poll("the commit is live", func() bool { return p.threshold(mem.FleetZone(3)) == 30 })
	s.poll("the token is created", func() bool {
		_, err := os.Stat(filepath.Join(s.dir, "secrets", "ci"))
		return err == nil
	})
}

// TestObserveSelects: zones that an entry of observe selects are never written to; the
// others are.
func TestObserveSelects(t *testing.T) {
	t.Parallel()
	p := startPlatform(t, fleet(3))
	s, _ := observing(t, p, `observe: [{labels: tier: "gold"}]`+"\n")
	gold := `account: prod: zone: "zone-00002.example": labels: tier: "gold"` + "\n"
	s.repo.Commit("edge.cue", declare(3, 25)+gold)
	s.start()
	s.poll("two zones are live", func() bool { return p.threshold(mem.FleetZone(1)) == 25 && p.threshold(mem.FleetZone(3)) == 25 })
	s.poll("one is observed", func() bool { return s.metric("seawall_zones", "state", "observed") == 1 })
	if got := p.threshold(mem.FleetZone(2)); got == 25 {
		t.Error("the observed zone was written to")
	}
}
