package daemon

import (
	"fmt"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
)

// TestApplyBesideTheDaemonWritesOnce: a command and the daemon apply the same commits at the
// same time. Each change is one PATCH, and neither takes the other for another client.
func TestApplyBesideTheDaemonWritesOnce(t *testing.T) {
	t.Parallel()
	const zones, rounds = 12, 3
	config := harness.Fleet(zones)
	config.Quirks = []string{"slow=100ms"} // so that both are at the same zones
	p := harness.StartPlatform(t, config)
	s := harness.NewService(t, p, harness.ServiceConfig{})
	s.Repo.Commit("edge.cue", harness.Declare(zones, 20))
	s.Start()
	all := func(threshold int) bool { return p.At(1, zones, threshold) == zones }
	s.PollLong(t, "the first commit is live", func() bool { return all(20) && s.Runs() > 0 })
	for round := 1; round <= rounds; round++ {
		p.ClearTranscript()
		s.Repo.Commit("edge.cue", harness.Declare(zones, 20+round))
		command(s, "apply", "--yes").Want(t, 0)
		s.PollLong(t, fmt.Sprintf("commit %d is live", round), func() bool { return all(20 + round) })
		if n := len(p.Writes()); n != zones {
			t.Errorf("round %d: %d writes for %d changes", round, n, zones)
		}
	}
	if told := s.Logged("another client wrote to the entry point at the same time"); len(told) > 0 {
		t.Errorf("the daemon takes the command for another client: %v", told)
	}
	command(s, "history", "verify").Want(t, 0, "the history is whole")
}
