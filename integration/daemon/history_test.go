package daemon

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/soak"
)

// command runs a command on the configuration of a service.
func command(s *harness.Service, args ...string) harness.Outcome {
	s.T.Helper()
	return harness.Run(s.T, nil, append(args, "--config", s.ConfigFile())...)
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
	p := harness.StartPlatform(t, harness.Fleet(zones))
	s := harness.NewService(t, p, harness.ServiceConfig{})
	s.Repo.Commit("edge.cue", harness.Declare(zones, 25))
	s.Start()
	all := func(threshold int) bool { return p.At(1, zones, threshold) == zones }
	s.PollLong(t, "the first commit is live", func() bool { return all(25) && s.Runs() >= 1 })
	before := s.Runs()
	mistake := s.Repo.Commit("edge.cue", harness.Declare(zones, 900))
	s.PollLong(t, "the mistake is live", func() bool { return all(900) && s.Runs() > before })
	for i := 1; i <= touched; i++ {
		p.Weaken(mem.FleetZone(i)) // to 1000, by hand
	}
	thresholds := func(want func(i int) int) {
		t.Helper()
		for i := 1; i <= zones; i++ {
			if got := p.Threshold(mem.FleetZone(i)); got != want(i) {
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

	out := command(s, "revert", "--commit", mistake, "--yes")
	out.Want(t, 4, fmt.Sprintf("%d applied and proved", zones-touched))
	if n := strings.Count(out.Stdout, "✓ prod / zone-"); n != zones-touched {
		t.Errorf("%d zones are told as put back", n)
	}
	for i := 1; i <= touched; i++ {
		out.Want(t, 4, fmt.Sprintf("zone-%05d.example", i))
	}
	thresholds(reverted)
	held := func() int {
		return strings.Count(command(s, "hold", "list").Stdout, "a new commit changes the zone")
	}
	if n := held(); n != zones-touched {
		t.Errorf("%d zones are held, want %d", n, zones-touched)
	}
	s.Poll("the daemon says so", func() bool {
		return len(s.Logged("a revert has put zones back; they are held until git declares them otherwise")) > 0
	})

	// A look at every zone heals those that were changed by hand, and writes none that is
	// held; nor does a daemon that begins anew.
	p.ClearTranscript()
	before = s.Runs()
	s.Signal(syscall.SIGUSR1)
	s.PollLong(t, "drift is healed", func() bool { return len(p.Writes()) == touched && s.Runs() > before })
	thresholds(func(i int) int { return map[bool]int{true: 900, false: 25}[i <= touched] })
	s.Kill()
	s.Start()
	s.PollReady()
	s.PollLong(t, "all was looked at", func() bool { return s.Runs() >= 1 })
	if w := p.Writes(); len(w) != touched {
		t.Errorf("%d zones were written", len(w))
	}

	before = s.Runs()
	s.Repo.Commit("edge.cue", harness.Declare(zones, 30))
	s.PollLong(t, "the next commit is live", func() bool { return all(30) && s.Runs() > before })
	if n := held(); n != 0 {
		t.Errorf("%d zones are held still", n)
	}
	s.Signal(syscall.SIGTERM)
	s.WantEnd(0)
	command(s, "history", "verify").Want(t, 0, "the history is whole")
	command(s, "history", "--zone", fmt.Sprintf("zone-%05d.example", zones)).Want(t, 0, "reverts commit "+mistake, "900 → 25", "git has changed the zone")
}

// TestKilledBetweenAWriteAndItsProof: the write is in the history, and that it was not
// proved; once it is, that is there too.
func TestKilledBetweenAWriteAndItsProof(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, harness.Fleet(1))
	front := harness.NewFront(t, p, 1)
	s := harness.NewService(t, p, harness.ServiceConfig{BaseURL: front.Address})
	s.Repo.Commit("edge.cue", harness.Declare(1, 25))
	s.Start()
	s.PollLong(t, "the write is on its way", front.Holds)
	s.Kill()
	command(s, "history").Want(t, 0, "update prod / zone-00001.example / core: written, not proved", "unset → 25")
	command(s, "history", "verify").Want(t, 0, "the history is whole: 2 entries")
}
