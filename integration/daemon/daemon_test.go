package daemon

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/harness"
)

// These tests run the real program as a daemon: a real repository, the
// simulator over a socket, real signals. Nothing in them waits for longer than
// until it happens.

// TestDaemonFollowsCommits: a pushed commit is live soon, and so is one that
// rewrites history.
func TestDaemonFollowsCommits(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, harness.Fleet(3))
	s := harness.NewService(t, p, harness.ServiceConfig{})
	first := s.Repo.Commit("edge.cue", harness.Declare(3, 25))
	s.Start()
	s.PollReady()
	s.Poll("the first run ended", func() bool { return s.Runs() >= 1 })
	if got := p.Threshold(mem.FleetZone(3)); got != 25 {
		t.Errorf("after the first run the threshold is %d, want 25", got)
	}
	s.Poll("the commit is good", func() bool { return s.Good() == first })

	p.ClearTranscript()
	s.Repo.Commit("edge.cue", harness.DeclareEach(3, func(i int) int { return 25 + i/3 })) // zone 3 alone
	s.Poll("the pushed commit is live", func() bool { return p.Threshold(mem.FleetZone(3)) == 26 })
	for zone, n := range p.Writes() {
		if zone != mem.FleetZone(3).String() || n != 1 {
			t.Errorf("%d writes to zone %s, of which nothing changed", n, zone)
		}
	}

	s.Repo.Git("reset", "-q", "--hard", first)
	forced := s.Repo.Commit("edge.cue", harness.Declare(3, 27))
	s.Poll("the forced push is live", func() bool {
		return p.Threshold(mem.FleetZone(1)) == 27 && p.Threshold(mem.FleetZone(3)) == 27 && s.Good() == forced
	})
	s.Signal(syscall.SIGTERM)
	s.WantEnd(0)
}

// TestDaemonHealsDrift: what was changed by hand is changed back by the sweep.
func TestDaemonHealsDrift(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, harness.Fleet(2))
	s := harness.NewService(t, p, harness.ServiceConfig{Sync: "@every 1h", Sweep: "@every 1s"})
	s.Repo.Commit("edge.cue", harness.Declare(2, 25))
	s.Start()
	s.Poll("the first run ended", func() bool { return s.Runs() >= 1 })
	p.ClearTranscript()
	p.Weaken(mem.FleetZone(2))
	s.Poll("the drift is healed", func() bool { return p.Threshold(mem.FleetZone(2)) == 25 })
	if w := p.Writes(); len(w) != 1 || w[mem.FleetZone(2).String()] != 1 {
		t.Errorf("writes %v, want one to zone 2", w)
	}
}

// TestDaemonKeepsTheGoodCommit: an invalid commit, and a branch that is gone,
// stop nothing that was good before, not even over a violent restart.
func TestDaemonKeepsTheGoodCommit(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, harness.Fleet(2))
	s := harness.NewService(t, p, harness.ServiceConfig{Sweep: "@every 1s"})
	good := s.Repo.Commit("edge.cue", harness.Declare(2, 25))
	s.Start()
	s.Poll("the commit is live", func() bool { return p.Threshold(mem.FleetZone(2)) == 25 })
	s.Poll("it is good", func() bool { return s.Good() == good })

	bad := s.Repo.Commit("edge.cue", strings.ReplaceAll(harness.Declare(2, 30), `"block"`, `"blok"`))
	wantHeld := func() {
		t.Helper()
		s.Poll("the commit is held", func() bool { return s.Metric("seawall_commit_held") == 1 })
		s.PollReady()
		p.Weaken(mem.FleetZone(1))
		s.Poll("the good commit heals", func() bool { return p.Threshold(mem.FleetZone(1)) == 25 })
		if got := s.Good(); got != good {
			t.Errorf("the good commit is %q, want %s", got, good)
		}
	}
	wantHeld()
	held := s.Logged("a commit is held; the last good one stays in force")
	if len(held) != 1 || held[0]["held"] != bad || held[0]["in_force"] != good {
		t.Errorf("told of the held commit: %v", held)
	}
	if out := s.Output(); !strings.Contains(out, `edge.cue:6:`) || !strings.Contains(out, `is not one of`) {
		t.Errorf("the mistake is not told with its place:\n%s", out)
	}

	s.Kill()
	s.Start()
	wantHeld()

	s.Repo.Git("checkout", "-q", "-b", "elsewhere")
	s.Repo.Git("branch", "-q", "-D", "main")
	s.Poll("the lost branch is told", func() bool { return strings.Contains(s.Output(), "branch main does not exist") })
	wantHeld()

	s.Repo.Git("checkout", "-q", "-b", "main")
	mended := s.Repo.Commit("edge.cue", harness.Declare(2, 30))
	s.Poll("the mended commit is live", func() bool { return p.Threshold(mem.FleetZone(2)) == 30 && s.Good() == mended })
	s.Poll("nothing is held", func() bool { return s.Metric("seawall_commit_held") == 0 })
}

// TestDaemonFinishesItsWrite: told to stop in the middle of a slow PATCH, it
// waits for the answer, reads back, and only then ends.
func TestDaemonFinishesItsWrite(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, harness.Fleet(3))
	front := harness.NewFront(t, p, 1)
	s := harness.NewService(t, p, harness.ServiceConfig{Concurrency: 1, BaseURL: front.Address, Sync: "@every 1h"})
	s.Repo.Commit("edge.cue", harness.Declare(3, 25))
	s.Start()
	s.Poll("a write is on its way", front.Holds)
	s.Signal(syscall.SIGTERM)
	s.Poll("it serves no longer", func() bool { code, _ := s.Get("/healthz"); return code == 0 })
	front.Release()
	s.WantEnd(0)
	calls := p.Calls()
	last := calls[len(calls)-2:]
	if !strings.HasPrefix(last[0], "PATCH ") || !strings.HasPrefix(last[1], "GET /zones/") {
		t.Errorf("the last requests are %v, want the write and its proof", last)
	}
	if w := p.Writes(); len(w) != 1 {
		t.Errorf("writes %v, want the one that was on its way", w)
	}
	if n := len(s.Logged("change applied and proved")); n != 1 {
		t.Errorf("%d changes told as proved, want 1", n)
	}
}

// TestDaemonSurvivesAKill: killed in the middle of an apply over many zones and
// started again, it sends each write that is still missing, and none twice.
func TestDaemonSurvivesAKill(t *testing.T) {
	t.Parallel()
	const zones = 60
	p := harness.StartPlatform(t, harness.Fleet(zones))
	front := harness.NewFront(t, p, zones/3)
	s := harness.NewService(t, p, harness.ServiceConfig{Concurrency: 4, BaseURL: front.Address, Sync: "@every 1h"})
	s.Repo.Commit("edge.cue", harness.Declare(zones, 25))
	s.Start()
	s.Poll("a third is written", front.Holds)
	s.Kill()
	front.Release()
	if n := len(p.Writes()); n > zones/3+4 {
		t.Fatalf("%d zones were written while the answers of four were kept back", n)
	}
	s.Start()
	s.Poll("all is written", func() bool { return p.Threshold(mem.FleetZone(zones)) == 25 && len(p.Writes()) == zones })
	s.Poll("the run ended", func() bool { return s.Runs() > 0 })
	s.PollReady()
	if n := p.At(1, zones, 25); n != zones {
		t.Errorf("%d of %d zones have the threshold", n, zones)
	}
	for zone, n := range p.Writes() {
		if n != 1 {
			t.Errorf("zone %s was written %d times", zone, n)
		}
	}
}

// TestDaemonReloads: SIGHUP takes a good configuration over. In a bad one it
// tells the place of the mistake, and of one that cannot be carried out why not,
// while the old one stays.
func TestDaemonReloads(t *testing.T) {
	t.Parallel()
	p, other := harness.StartPlatform(t, harness.Fleet(1)), harness.StartPlatform(t, harness.Fleet(1))
	s := harness.NewService(t, p, harness.ServiceConfig{})
	s.Repo.Commit("edge.cue", harness.Declare(1, 25))
	s.Start()
	s.Poll("the commit is live", func() bool { return p.Threshold(mem.FleetZone(1)) == 25 })

	good := s.Config.Text(s)
	s.Configure(strings.Replace(good, "schedule: {", "schedule: {swep: \"@hourly\", ", 1))
	s.Signal(syscall.SIGHUP)
	s.Poll("the bad configuration is told", func() bool {
		return len(s.Logged("the configuration was not reloaded; the old one stays")) == 1
	})
	if out := s.Output(); !strings.Contains(out, s.ConfigFile()+":4:") || !strings.Contains(out, "swep") {
		t.Errorf("the mistake is not told with its place:\n%s", out)
	}
	s.Repo.Commit("edge.cue", harness.Declare(1, 26))
	s.Poll("the old configuration works on", func() bool { return p.Threshold(mem.FleetZone(1)) == 26 })

	taken := strings.TrimPrefix(strings.TrimSuffix(p.BaseURL, sim.DefaultBasePath), "http://")
	s.Configure(strings.Replace(good, "127.0.0.1:0", taken, 1))
	s.Signal(syscall.SIGHUP)
	s.Poll("the address that is in use is told", func() bool {
		lines := s.Logged("the configuration was not reloaded; the old one stays")
		return len(lines) == 2 && strings.Contains(fmt.Sprint(lines[1]["error"]), "address already in use")
	})
	s.PollReady()

	s.Config.BaseURL = other.BaseURL
	s.Configure(s.Config.Text(s))
	s.Signal(syscall.SIGHUP)
	s.Poll("the good configuration is told", func() bool { return len(s.Logged("the configuration is reloaded")) == 1 })
	s.Poll("it is in force", func() bool { return other.Threshold(mem.FleetZone(1)) == 26 })
	s.Poll("the new daemon serves", func() bool { return len(s.Logged("serving")) == 2 })
	s.WantAddress()
	s.PollReady()
	s.Signal(syscall.SIGTERM)
	s.WantEnd(0)
}

// TestDaemonReportsAsJSON: off a terminal every line of the log is JSON, and the
// credential is in none.
func TestDaemonReportsAsJSON(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, harness.Fleet(2))
	s := harness.NewService(t, p, harness.ServiceConfig{})
	s.Repo.Commit("edge.cue", harness.Declare(2, 25))
	s.Start()
	s.Poll("a run ended", func() bool { return s.Runs() >= 1 })
	s.Signal(syscall.SIGTERM)
	s.WantEnd(0)
	for line := range strings.Lines(s.Output()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
	if strings.Contains(s.Output(), p.RulesetsToken.Reveal()) {
		t.Error("the log contains the credential")
	}
	run := s.Logged("run finished")[0]
	if run["zones"] != 2.0 || run["applied"] != 2.0 || run["requests"] != 8.0 {
		t.Errorf("the run is told as %v", run)
	}
}
