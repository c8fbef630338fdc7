package integration

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
)

// These tests run the real program as a daemon: a real repository, the
// simulator over a socket, real signals. Nothing in them waits for longer than
// until it happens.

// TestDaemonFollowsCommits: a pushed commit is live soon, and so is one that
// rewrites history.
func TestDaemonFollowsCommits(t *testing.T) {
	t.Parallel()
	p := startPlatform(t, fleet(3))
	s := newService(t, p, serviceConfig{})
	first := s.repo.Commit("edge.cue", declare(3, 25))
	s.start()
	s.pollReady()
	s.poll("the first run ended", func() bool { return len(s.logged("run finished")) >= 1 })
	if got := p.threshold(mem.FleetZone(3)); got != 25 {
		t.Errorf("after the first run the threshold is %d, want 25", got)
	}
	s.poll("the commit is good", func() bool { return s.good() == first })

	p.ClearTranscript()
	s.repo.Commit("edge.cue", declareEach(3, func(i int) int { return 25 + i/3 })) // zone 3 alone
	s.poll("the pushed commit is live", func() bool { return p.threshold(mem.FleetZone(3)) == 26 })
	for zone, n := range p.writes() {
		if zone != string(mem.FleetZone(3)) || n != 1 {
			t.Errorf("%d writes to zone %s, of which nothing changed", n, zone)
		}
	}

	s.repo.Git("reset", "-q", "--hard", first)
	forced := s.repo.Commit("edge.cue", declare(3, 27))
	s.poll("the forced push is live", func() bool {
		return p.threshold(mem.FleetZone(1)) == 27 && p.threshold(mem.FleetZone(3)) == 27 && s.good() == forced
	})
	s.signal(syscall.SIGTERM)
	s.wantEnd(0)
}

// TestDaemonHealsDrift: what was changed by hand is changed back by the sweep.
func TestDaemonHealsDrift(t *testing.T) {
	t.Parallel()
	p := startPlatform(t, fleet(2))
	s := newService(t, p, serviceConfig{Sync: "@every 1h", Sweep: "@every 1s"})
	s.repo.Commit("edge.cue", declare(2, 25))
	s.start()
	s.poll("the first run ended", func() bool { return len(s.logged("run finished")) >= 1 })
	p.ClearTranscript()
	p.weaken(mem.FleetZone(2))
	s.poll("the drift is healed", func() bool { return p.threshold(mem.FleetZone(2)) == 25 })
	if w := p.writes(); len(w) != 1 || w[string(mem.FleetZone(2))] != 1 {
		t.Errorf("writes %v, want one to zone 2", w)
	}
}

// TestDaemonKeepsTheGoodCommit: an invalid commit, and a branch that is gone,
// stop nothing that was good before, not even over a violent restart.
func TestDaemonKeepsTheGoodCommit(t *testing.T) {
	t.Parallel()
	p := startPlatform(t, fleet(2))
	s := newService(t, p, serviceConfig{Sweep: "@every 1s"})
	good := s.repo.Commit("edge.cue", declare(2, 25))
	s.start()
	s.poll("the commit is live", func() bool { return p.threshold(mem.FleetZone(2)) == 25 })
	s.poll("it is good", func() bool { return s.good() == good })

	bad := s.repo.Commit("edge.cue", strings.ReplaceAll(declare(2, 30), `"block"`, `"blok"`))
	wantHeld := func() {
		t.Helper()
		s.poll("the commit is held", func() bool { return s.metric("seawall_commit_held") == 1 })
		s.pollReady()
		p.weaken(mem.FleetZone(1))
		s.poll("the good commit heals", func() bool { return p.threshold(mem.FleetZone(1)) == 25 })
		if got := s.good(); got != good {
			t.Errorf("the good commit is %q, want %s", got, good)
		}
	}
	wantHeld()
	held := s.logged("a commit is held; the last good one stays in force")
	if len(held) != 1 || held[0]["held"] != bad || held[0]["in_force"] != good {
		t.Errorf("told of the held commit: %v", held)
	}
	if out := s.output(); !strings.Contains(out, `edge.cue:6:`) || !strings.Contains(out, `is not one of`) {
		t.Errorf("the mistake is not told with its place:\n%s", out)
	}

	s.kill()
	s.start()
	wantHeld()

	s.repo.Git("checkout", "-q", "-b", "elsewhere")
	s.repo.Git("branch", "-q", "-D", "main")
	s.poll("the lost branch is told", func() bool { return strings.Contains(s.output(), "no such branch") })
	wantHeld()

	s.repo.Git("checkout", "-q", "-b", "main")
	mended := s.repo.Commit("edge.cue", declare(2, 30))
	s.poll("the mended commit is live", func() bool { return p.threshold(mem.FleetZone(2)) == 30 && s.good() == mended })
	s.poll("nothing is held", func() bool { return s.metric("seawall_commit_held") == 0 })
}

// TestDaemonFinishesItsWrite: told to stop in the middle of a slow PATCH, it
// waits for the answer, reads back, and only then ends.
func TestDaemonFinishesItsWrite(t *testing.T) {
	t.Parallel()
	p := startPlatform(t, fleet(3))
	front := newFront(t, p, 1)
	s := newService(t, p, serviceConfig{Concurrency: 1, BaseURL: front.address, Sync: "@every 1h"})
	s.repo.Commit("edge.cue", declare(3, 25))
	s.start()
	s.poll("a write is on its way", front.holds)
	s.signal(syscall.SIGTERM)
	s.poll("it serves no longer", func() bool { code, _ := s.get("/healthz"); return code == 0 })
	front.release()
	s.wantEnd(0)
	calls := p.calls()
	last := calls[len(calls)-2:]
	if !strings.HasPrefix(last[0], "PATCH ") || !strings.HasPrefix(last[1], "GET /zones/") {
		t.Errorf("the last requests are %v, want the write and its proof", last)
	}
	if w := p.writes(); len(w) != 1 {
		t.Errorf("writes %v, want the one that was on its way", w)
	}
	if n := len(s.logged("change applied and proved")); n != 1 {
		t.Errorf("%d changes told as proved, want 1", n)
	}
}

// TestDaemonSurvivesAKill: killed in the middle of an apply over many zones and
// started again, it sends each write that is still missing, and none twice.
func TestDaemonSurvivesAKill(t *testing.T) {
	t.Parallel()
	const zones = 60
	p := startPlatform(t, fleet(zones))
	front := newFront(t, p, zones/3)
	s := newService(t, p, serviceConfig{Concurrency: 4, BaseURL: front.address, Sync: "@every 1h"})
	s.repo.Commit("edge.cue", declare(zones, 25))
	s.start()
	s.poll("a third is written", front.holds)
	s.kill()
	front.release()
	if n := len(p.writes()); n > zones/3+4 {
		t.Fatalf("%d zones were written while the answers of four were kept back", n)
	}
	s.start()
	s.poll("all is written", func() bool { return p.threshold(mem.FleetZone(zones)) == 25 && len(p.writes()) == zones })
	s.poll("the run ended", func() bool { return len(s.logged("run finished")) > 0 })
	s.pollReady()
	for i := 1; i <= zones; i++ {
		if got := p.threshold(mem.FleetZone(i)); got != 25 {
			t.Errorf("zone %d has the threshold %d", i, got)
		}
	}
	for zone, n := range p.writes() {
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
	p, other := startPlatform(t, fleet(1)), startPlatform(t, fleet(1))
	s := newService(t, p, serviceConfig{})
	s.repo.Commit("edge.cue", declare(1, 25))
	s.start()
	s.poll("the commit is live", func() bool { return p.threshold(mem.FleetZone(1)) == 25 })

	good := s.config.text(s)
	s.configure(strings.Replace(good, "schedule: {", "schedule: {swep: \"@hourly\", ", 1))
	s.signal(syscall.SIGHUP)
	s.poll("the bad configuration is told", func() bool {
		return len(s.logged("the configuration was not reloaded; the old one stays")) == 1
	})
	if out := s.output(); !strings.Contains(out, s.configFile()+":4:") || !strings.Contains(out, "swep") {
		t.Errorf("the mistake is not told with its place:\n%s", out)
	}
	s.repo.Commit("edge.cue", declare(1, 26))
	s.poll("the old configuration works on", func() bool { return p.threshold(mem.FleetZone(1)) == 26 })

	taken := strings.TrimPrefix(strings.TrimSuffix(p.BaseURL, sim.DefaultBasePath), "http://")
	s.configure(strings.Replace(good, "127.0.0.1:0", taken, 1))
	s.signal(syscall.SIGHUP)
	s.poll("the address that is in use is told", func() bool {
		lines := s.logged("the configuration was not reloaded; the old one stays")
		return len(lines) == 2 && strings.Contains(fmt.Sprint(lines[1]["error"]), "address already in use")
	})
	s.pollReady()

	s.config.BaseURL = other.BaseURL
	s.configure(s.config.text(s))
	s.signal(syscall.SIGHUP)
	s.poll("the good configuration is told", func() bool { return len(s.logged("the configuration is reloaded")) == 1 })
	s.poll("it is in force", func() bool { return other.threshold(mem.FleetZone(1)) == 26 })
	s.poll("the new daemon serves", func() bool { return len(s.logged("serving")) == 2 })
	s.wantAddress()
	s.pollReady()
	s.signal(syscall.SIGTERM)
	s.wantEnd(0)
}

// TestDaemonReportsAsJSON: off a terminal every line of the log is JSON, and the
// credential is in none.
func TestDaemonReportsAsJSON(t *testing.T) {
	t.Parallel()
	p := startPlatform(t, fleet(2))
	s := newService(t, p, serviceConfig{})
	s.repo.Commit("edge.cue", declare(2, 25))
	s.start()
	s.poll("a run ended", func() bool { return len(s.logged("run finished")) >= 1 })
	s.signal(syscall.SIGTERM)
	s.wantEnd(0)
	for line := range strings.Lines(s.output()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
	if strings.Contains(s.output(), p.RulesetsToken.Reveal()) {
		t.Error("the log contains the credential")
	}
	run := s.logged("run finished")[0]
	if run["zones"] != 2.0 || run["applied"] != 2.0 || run["requests"] != 8.0 {
		t.Errorf("the run is told as %v", run)
	}
}
