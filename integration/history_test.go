package integration

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/soak"
)

// command runs a command on the configuration of a service.
func (s *service) command(args ...string) outcome {
	s.t.Helper()
	return run(s.t, nil, append(args, "--config", s.configFile())...)
}

// TestRevertOfALargeCommit: a commit over many zones, some of them changed since, is reverted
// in the others, which are held, over a restart and a sweep too; those are named and left
// alone; and the next commit ends the holds.
func TestRevertOfALargeCommit(t *testing.T) {
	t.Parallel()
	zones, touched := 60, 6
	if soak.On {
		zones, touched = 200, 20
	}
	p := startPlatform(t, fleet(zones))
	s := newService(t, p, serviceConfig{})
	s.repo.Commit("edge.cue", declare(zones, 25))
	s.start()
	runs := func() int { return len(s.logged("run finished")) }
	all := func(threshold int) bool {
		for i := 1; i <= zones; i++ {
			if p.threshold(mem.FleetZone(i)) != threshold {
				return false
			}
		}
		return true
	}
	s.pollLong(t, "the first commit is live", func() bool { return all(25) && runs() >= 1 })
	before := runs()
	mistake := s.repo.Commit("edge.cue", declare(zones, 900))
	s.pollLong(t, "the mistake is live", func() bool { return all(900) && runs() > before })
	for i := 1; i <= touched; i++ {
		p.weaken(mem.FleetZone(i)) // to 1000, by hand
	}
	thresholds := func(want func(i int) int) {
		t.Helper()
		for i := 1; i <= zones; i++ {
			if got := p.threshold(mem.FleetZone(i)); got != want(i) {
				t.Fatalf("zone %d has the threshold %d, want %d", i, got, want(i))
			}
		}
	}
	reverted := func(i int) int {
		if i <= touched {
			return 1000
		}
		return 25
	}

	out := s.command("revert", "--commit", mistake, "--yes")
	out.want(t, 4, fmt.Sprintf("%d applied and proved", zones-touched))
	if n := strings.Count(out.stdout, "✓ prod / zone-"); n != zones-touched {
		t.Errorf("%d zones are told as put back", n)
	}
	for i := 1; i <= touched; i++ {
		out.want(t, 4, fmt.Sprintf("zone-%05d.example", i))
	}
	thresholds(reverted)
	held := func() int {
		return strings.Count(s.command("hold", "list").stdout, "git differs from commit "+mistake[:12])
	}
	if n := held(); n != zones-touched {
		t.Errorf("%d zones are held, want %d", n, zones-touched)
	}
	s.poll("the daemon says so", func() bool {
		return len(s.logged("a revert has put zones back; they are held until git declares them otherwise")) > 0
	})

	// A look at every zone heals those that were changed by hand, and writes none that is
	// held; nor does a daemon that begins anew.
	p.ClearTranscript()
	before = runs()
	s.signal(syscall.SIGUSR1)
	s.pollLong(t, "drift is healed", func() bool { return len(p.writes()) == touched && runs() > before })
	thresholds(func(i int) int { return map[bool]int{true: 900, false: 25}[i <= touched] })
	s.kill()
	s.start()
	s.pollReady()
	s.pollLong(t, "all was looked at", func() bool { return runs() >= 1 })
	if w := p.writes(); len(w) != touched {
		t.Errorf("%d zones were written", len(w))
	}

	before = runs()
	s.repo.Commit("edge.cue", declare(zones, 30))
	s.pollLong(t, "the next commit is live", func() bool { return all(30) && runs() > before })
	if n := held(); n != 0 {
		t.Errorf("%d zones are held still", n)
	}
	s.signal(syscall.SIGTERM)
	s.wantEnd(0)
	s.command("history", "verify").want(t, 0, "the history is whole")
	s.command("history", "--zone", fmt.Sprintf("zone-%05d.example", zones)).want(t, 0, "reverts commit "+mistake, "900 → 25", "git has changed the zone")
}

// TestKilledBetweenAWriteAndItsProof: the write is in the history, and that it was not
// proved; once it is, that is there too.
func TestKilledBetweenAWriteAndItsProof(t *testing.T) {
	t.Parallel()
	p := startPlatform(t, fleet(1))
	front := newFront(t, p, 1)
	s := newService(t, p, serviceConfig{BaseURL: front.address})
	s.repo.Commit("edge.cue", declare(1, 25))
	s.start()
	s.pollLong(t, "the write is on its way", front.holds)
	s.kill()
	s.command("history").want(t, 0, "update prod / zone-00001.example / core: written, not proved", "unset → 25")
	s.command("history", "verify").want(t, 0, "the history is whole: 2 entries")
}
