package daemon

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// notified are the states that a daemon has sent to its service manager.
type notified struct {
	socket string // the variable that names it

	mu     sync.Mutex
	states []string
}

// serviceManager listens as systemd does for a unit with Type=notify.
func serviceManager(t *testing.T) *notified {
	t.Helper()
	dir, err := os.MkdirTemp("", "n") //nolint:usetesting // the path of a socket has at most 108 bytes
	must.Do(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	must.Do(t, err)
	t.Cleanup(func() { socket.Close() })
	n := &notified{socket: "NOTIFY_SOCKET=" + path}
	go func() {
		for buffer := make([]byte, 4096); ; {
			size, err := socket.Read(buffer)
			if err != nil {
				return
			}
			n.mu.Lock()
			n.states = append(n.states, string(buffer[:size]))
			n.mu.Unlock()
		}
	}()
	return n
}

// count is how many states begin so.
func (n *notified) count(prefix string) (count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, state := range n.states {
		if strings.HasPrefix(state, prefix) {
			count++
		}
	}
	return count
}

// TestDaemonNotifiesItsServiceManager: ready only when it serves, reloading until the new
// configuration is in force, signs of life, and the end.
func TestDaemonNotifiesItsServiceManager(t *testing.T) {
	t.Parallel()
	manager := serviceManager(t)
	p := harness.StartPlatform(t, harness.Fleet(1))
	s := harness.NewService(t, p, harness.ServiceConfig{})
	s.Repo.Commit("edge.cue", harness.Declare(1, 25))
	s.Env = []string{manager.socket, "WATCHDOG_USEC=100000"}
	s.Start()
	s.Poll("it is ready", func() bool { return manager.count("READY=1\nSTATUS=serving 127.0.0.1:") == 1 })
	s.Poll("it is alive", func() bool { return manager.count("WATCHDOG=1") >= 3 })

	s.Configure("broken: {")
	s.Signal(syscall.SIGHUP)
	s.Poll("it reports that the reload failed", func() bool {
		return manager.count("RELOADING=1\nMONOTONIC_USEC=") == 1 && manager.count("READY=1\nSTATUS=the configuration was not reloaded") == 1
	})
	s.Configure(s.Config.Text(s))
	s.Signal(syscall.SIGHUP)
	s.Poll("it is ready again", func() bool { return manager.count("READY=1\nSTATUS=serving") == 2 })
	alive := manager.count("WATCHDOG=1")
	s.Poll("it is still alive", func() bool { return manager.count("WATCHDOG=1") > alive+2 })

	s.Signal(syscall.SIGTERM)
	s.WantEnd(0)
	for late := time.Now().Add(harness.Patience); manager.count("STOPPING=1") != 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("it does not report its end")
		}
	}
}
