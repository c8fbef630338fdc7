package daemon

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// TestAFullDisk: while nothing can be put on record nothing is written, and the daemon is not
// ready. Once there is space again, nothing waits for what failed before.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, harness.Fleet(3))
	s := harness.NewService(t, p, harness.ServiceConfig{Sync: "@every 1s"})
	state := filepath.Join(s.Dir, "state")
	must.Do(t, os.Mkdir(state, 0o700))
	if err := syscall.Mount("tmpfs", state, "tmpfs", 0, "size=16m,mode=700"); err != nil {
		t.Skipf("a disk to fill takes the right to mount one: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(state, syscall.MNT_DETACH) })
	s.Repo.Commit("edge.cue", harness.Declare(3, 25))
	s.Start()
	s.PollReady()
	s.Poll("the zones are as declared", func() bool { return p.Threshold(mem.FleetZone(3)) == 25 })

	filler := filepath.Join(state, "filler")
	fill(t, filler)
	s.Repo.Commit("edge.cue", harness.Declare(3, 30))
	s.Poll("the daemon is not ready", func() bool {
		code, body := s.Get("/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(body, "the disk is full")
	})
	fill(t, filler) // what git has left behind
	must.Do(t, os.Remove(filler))
	freed := time.Now()
	s.PollReady()
	s.Poll("the zones are as declared", func() bool { return p.Threshold(mem.FleetZone(1)) == 30 && p.Threshold(mem.FleetZone(3)) == 30 })
	t.Logf("ready and live %s after there was space", time.Since(freed))
}

// fill writes to a file until there is no space.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	must.Do(t, err)
	defer file.Close()
	for size := 1 << 20; size > 0; {
		if _, err := file.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
