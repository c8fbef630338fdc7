package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/desired/worker/sandbox"
	"github.com/seawall-dev/seawall/integration/must"
)

// reaching is what a job tries.
type reaching struct {
	Dir     string // with a file "a"; and where to write
	Address string // of a listener on this machine
	Parent  int
}

var _ = func() bool { reach = tryToReach; return true }()

// tryToReach tries what a worker may have no use for, and says what came of each.
func tryToReach(_ context.Context, in []byte, out *worker.Output) error {
	var r reaching
	if err := json.Unmarshal(in, &r); err != nil {
		return err
	}
	for _, try := range []struct {
		name string
		do   func() error
	}{
		{"read", func() error { _, err := os.ReadFile(filepath.Join(r.Dir, "a")); return err }},
		{"write", func() error { return os.WriteFile(filepath.Join(r.Dir, "b"), nil, 0o600) }},
		{"passwd", func() error { _, err := os.ReadFile("/etc/passwd"); return err }},
		{"list", func() error { _, err := os.ReadDir("/"); return err }},
		{"connect", func() error { return closed(net.Dial("tcp", r.Address)) }},
		{"other port", func() error { return closed(net.Dial("tcp", "127.0.0.1:9")) }},
		{"udp", func() error { return closed(net.Dial("udp", "127.0.0.1:53")) }},
		{"multipath tcp", func() error {
			const ipprotoMPTCP = 262
			fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, ipprotoMPTCP)
			if err == nil {
				err = syscall.Close(fd)
			}
			return err
		}},
		{"program", func() error { return exec.Command("/bin/true").Run() }},
		{"signal", func() error { return syscall.Kill(r.Parent, 0) }},
		{"namespace", func() error { return syscall.Unshare(syscall.CLONE_NEWUSER) }},
	} {
		if err := out.Emit(fmt.Sprintf("%s: %s", try.name, verdict(try.do()))); err != nil {
			return err
		}
	}
	return nil
}

func closed(c net.Conn, err error) error {
	if err != nil {
		return err
	}
	return c.Close()
}

func verdict(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return "refused"
	}
	return err.Error()
}

// TestSandbox shows what a worker that tries is refused, for each kind of job.
func TestSandbox(t *testing.T) {
	if missing := sandbox.Here().Missing(); len(missing) > 0 {
		t.Skipf("this machine lacks %v", missing)
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	must.Do(t, err)
	defer listener.Close()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "a"), []byte("a"), 0o600))
	port := uint16(listener.Addr().(*net.TCPAddr).Port)
	for name, test := range map[string]struct {
		policy *sandbox.Policy
		may    string // all else is refused
	}{
		"nothing":    {&sandbox.Policy{}, ""},
		"evaluation": {&sandbox.Policy{Read: []string{dir, "/nowhere"}}, "read"},
		"fetch":      {&sandbox.Policy{Write: []string{dir}, Connect: []uint16{port}}, "read write connect udp multipath-tcp"},
		"local git":  {&sandbox.Policy{Read: []string{"/"}, Write: []string{dir}, Programs: true}, "read write passwd list program"},
	} {
		t.Run(name, func(t *testing.T) {
			in := reaching{dir, listener.Addr().String(), os.Getpid()}
			err := worker.Runner{Sandbox: test.policy}.Run(t.Context(), "reach", in, func(_ string, out json.RawMessage) error {
				var said string
				if err := json.Unmarshal(out, &said); err != nil {
					return err
				}
				what, got, _ := strings.Cut(said, ": ")
				want := "refused"
				if strings.Contains(" "+test.may+" ", " "+strings.ReplaceAll(what, " ", "-")+" ") {
					want = "done"
				}
				if got != want {
					t.Errorf("%s: %s, want %s", what, got, want)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// A process that was started ahead is restricted by the job that takes it.
func TestSandboxOfASpare(t *testing.T) {
	if missing := sandbox.Here().Missing(); len(missing) > 0 {
		t.Skipf("this machine lacks %v", missing)
	}
	s := newSpare(t, &worker.Spare{})
	ahead := s.PID()
	refused := 0
	err := worker.Runner{Spare: s, Sandbox: &sandbox.Policy{}}.Run(t.Context(), "reach", reaching{t.TempDir(), "127.0.0.1:9", ahead}, func(_ string, out json.RawMessage) error {
		if strings.HasSuffix(string(out), `refused"`) {
			refused++
		}
		return nil
	})
	if err != nil || refused < 9 {
		t.Errorf("%d tries were refused, %v", refused, err)
	}
	wantGone(t, ahead)
}
