package daemon

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

const revertedZones = 80

// bulk is a fleet whose first commit is live, on a platform that answers slowly.
func bulk(t *testing.T, waves string) *harness.Service {
	t.Helper()
	config := harness.Fleet(revertedZones)
	config.Quirks = []string{"slow=50ms"}
	p := harness.StartPlatform(t, config)
	s := harness.NewService(t, p, harness.ServiceConfig{Concurrency: 4})
	s.Repo.Commit("edge.cue", harness.Declare(revertedZones, 25))
	s.Start()
	s.PollLong(t, "the first commit is live", func() bool { return weakened(s, 25) == revertedZones && s.Runs() >= 1 })
	if waves != "" {
		s.Signal(syscall.SIGTERM)
		s.WantEnd(0)
		s.Configure(s.Config.Text(s) + waves)
		s.Start()
		s.PollLong(t, "all was read", func() bool { return s.Runs() >= 1 })
	}
	p.ClearTranscript()
	return s
}

// weakened counts the zones with a threshold.
func weakened(s *harness.Service, threshold int) int {
	return s.Platform.At(1, revertedZones, threshold)
}

// wantBack checks that no zone is weakened, and that none is after a look at all of them:
// neither now nor by a daemon that begins anew.
func wantBack(t *testing.T, s *harness.Service) {
	t.Helper()
	if n := weakened(s, 25); n != revertedZones {
		t.Fatalf("after the revert, %d of %d zones are as before the commit", n, revertedZones)
	}
	s.Platform.ClearTranscript()
	before := s.Runs()
	s.Signal(syscall.SIGUSR1)
	s.PollLong(t, "all was looked at", func() bool { return s.Runs() > before })
	s.Kill()
	s.Start()
	s.PollLong(t, "all was looked at by another process", func() bool { return s.Runs() >= 1 })
	if w := s.Platform.Writes(); len(w) > 0 {
		t.Errorf("%d zones are written after the revert", len(w))
	}
	if n := weakened(s, 25); n != revertedZones {
		t.Errorf("later, %d of %d zones are as before the commit", n, revertedZones)
	}
}

// wantSaid checks that what the revert holds is told in one line, and not as refused.
func wantSaid(t *testing.T, s *harness.Service, commit string) {
	t.Helper()
	line := fmt.Sprintf("%d zones are put back by revert of commit %s (", revertedZones, commit[:12])
	status := command(s, "status")
	plan := command(s, "plan")
	for name, out := range map[string]harness.Outcome{"status": status, "plan": plan, "waves": command(s, "waves", "show")} {
		if n := strings.Count(out.Stdout, "zone-"); !strings.Contains(out.Stdout, line) || strings.Contains(out.Stdout, "refused") || n > 10 {
			t.Errorf("%s: %d zones are named:\n%s%s", name, n, out.Stdout, out.Stderr)
		}
	}
	plan.Want(t, 0, "80 put back by a revert")
	status.Want(t, 4)
	command(s, "waves", "show").Want(t, 0, "no rollout is in progress")
	one := command(s, "plan", "--only", "zone=zone-00007.example")
	one.Want(t, 0, "zone-00007.example", "25 → 900", "1 zone is put back by revert")
	if strings.Contains(one.Stdout, "zone-00008") {
		t.Errorf("a plan of one zone tells of others:\n%s", one.Stdout)
	}
	command(s, "why", "zone-00007.example").Want(t, 0, "put back by revert of commit "+commit[:12], "until a new commit changes the zone")
	if n := len(s.Logged("change refused")); n > 0 {
		t.Errorf("%d lines of the log tell of refused changes", n)
	}
}

// wantUnderGit checks that the next commit, which brings the earlier state back, writes
// nothing and ends all holds.
func wantUnderGit(t *testing.T, s *harness.Service) {
	t.Helper()
	s.Platform.ClearTranscript()
	before := s.Runs()
	s.Repo.Commit("edge.cue", harness.Declare(revertedZones, 25))
	s.PollLong(t, "the commit is in force", func() bool { return s.Runs() > before && command(s, "status").Code == 0 })
	if w := s.Platform.Writes(); len(w) > 0 {
		t.Errorf("%d zones are written, and all were so before", len(w))
	}
	command(s, "hold", "list").Want(t, 0, "no zone is held")
	command(s, "plan").Want(t, 0, "80 in sync")
	command(s, "history", "verify").Want(t, 0, "the history is whole")
}

// A commit that weakens a fleet is reverted while it is applied: it comes nowhere any more,
// and is nowhere, when the command ends.
func TestRevertWhileTheCommitIsApplied(t *testing.T) {
	t.Parallel()
	s := bulk(t, "")
	bad := s.Repo.Commit("edge.cue", harness.Declare(revertedZones, 900))
	s.PollLong(t, "a part of the fleet is weakened", func() bool { return weakened(s, 900) >= 10 })
	out := command(s, "revert", "--commit", bad, "--yes")
	reached := len(s.Platform.Writes())
	out.Want(t, 0, fmt.Sprintf("%d zones put back; the commit is stopped in %d zone", reached, revertedZones-reached))
	wantBack(t, s)
	wantSaid(t, s, bad)
	wantUnderGit(t, s)
}

// Another commit is accepted on top before: what is still to come of the first is stopped, and
// what the second has declared goes on.
func TestRevertOfACommitThatAnotherHasTakenOver(t *testing.T) {
	t.Parallel()
	s := bulk(t, "")
	bad := s.Repo.Commit("edge.cue", harness.Declare(revertedZones, 900))
	s.PollLong(t, "some zones are weakened", func() bool { return weakened(s, 900) >= 5 })
	mine := func(i int) int { return map[bool]int{true: 30, false: 900}[i == revertedZones] }
	s.Repo.Commit("edge.cue", harness.DeclareEach(revertedZones, mine))
	s.PollLong(t, "the second commit is in force", func() bool { return weakened(s, 30) == 1 })
	command(s, "revert", "--commit", bad, "--yes").Want(t, 0, "zones put back; the commit is stopped in ")
	s.Platform.ClearTranscript()
	before := s.Runs()
	s.Signal(syscall.SIGUSR1)
	s.PollLong(t, "all was looked at", func() bool { return s.Runs() > before })
	if back, own := weakened(s, 25), weakened(s, 30); back != revertedZones-1 || own != 1 || len(s.Platform.Writes()) > 0 {
		t.Errorf("%d zones are back, %d as the second commit declares; written since: %v", back, own, s.Platform.Writes())
	}
}

// With waves, the first of which is written: the others do not follow, the rollout is over,
// and what brings the earlier state back waits for none.
func TestRevertOfACommitInWaves(t *testing.T) {
	t.Parallel()
	s := bulk(t, "waves: [{size: 1, soak: \"1s\"}, {size: 4, soak: \"1s\"}]\n")
	bad := s.Repo.Commit("edge.cue", harness.Declare(revertedZones, 900))
	s.PollLong(t, "the first zone is weakened", func() bool { return weakened(s, 900) >= 1 })
	command(s, "revert", "--commit", bad, "--yes").Want(t, 0, "put back; the commit is stopped in ")
	wantBack(t, s)
	wantSaid(t, s, bad)
	wantUnderGit(t, s)
}

// A revert that is killed after it has stopped the commit, and before it has put all back, is
// finished by another.
func TestKilledRevert(t *testing.T) {
	t.Parallel()
	s := bulk(t, "")
	bad := s.Repo.Commit("edge.cue", harness.Declare(revertedZones, 900))
	s.PollLong(t, "a part of the fleet is weakened", func() bool { return weakened(s, 900) >= 20 })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	killed := exec.CommandContext(ctx, harness.Seawall(t), "revert", "--commit", bad, "--yes", "--config", s.ConfigFile())
	must.Do(t, killed.Start())
	s.PollLong(t, "the commit is stopped", func() bool {
		return strings.Contains(command(s, "hold", "list").Stdout, "revert of commit "+bad[:12])
	})
	cancel() // SIGKILL
	_ = killed.Wait()
	if weakened(s, 900) == 0 {
		t.Log("it was faster than the test")
	}
	command(s, "revert", "--commit", bad, "--yes").Want(t, 0, "put back; the commit is stopped in ")
	wantBack(t, s)
	wantUnderGit(t, s)
}
