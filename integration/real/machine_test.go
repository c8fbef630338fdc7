package real_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
)

// patience bounds every wait. It is for what never happens.
const patience = 3 * time.Minute

// machine is systemd with a file system of its own: that of this machine, below a layer
// that goes with the test. It shares the network, so it reaches servers of the test.
type machine struct {
	t     testing.TB
	pid   string // of systemd, as this machine counts
	layer string // what was written, by its path
}

// boot is run in namespaces of its own. Kernel settings are the host's, so the units
// that write them are off.
const boot = `set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$LAYERS"
mkdir "$LAYERS/up" "$LAYERS/work" "$LAYERS/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$LAYERS/up,workdir=$LAYERS/work" "$LAYERS/root"
cd "$LAYERS/root"
mount -t proc proc proc
mount --rbind /sys sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount --rbind /dev dev
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
for unit in systemd-sysctl systemd-binfmt systemd-modules-load systemd-udevd systemd-remount-fs systemd-update-utmp; do
	ln -sf /dev/null "etc/systemd/system/$unit.service"
done
rm -rf etc/systemd/system/*.wants var/lib/seawall var/lib/private/seawall etc/seawall
# Not chroot: there the kernel lets no process have users of its own, as the unit wants.
pivot_root . mnt
umount -l /mnt
mount --make-rshared / # as the manager of a container has it, for the credentials of units
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=basic.target --log-target=journal --show-status=0
`

// newMachine starts a machine, or skips the test with the reason why there can be none.
func newMachine(t testing.TB) *machine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a machine with systemd needs harness.Root, for namespaces and mounts")
	}
	for _, program := range []string{"/lib/systemd/systemd", "systemd-run", "dpkg", "unshare", "nsenter"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("a machine with systemd needs %s: %v", program, err)
		}
	}
	group := controlGroup(t)
	command := exec.Command("bash", "-c", `echo $$ >"$GROUP/cgroup.procs" && exec unshare --mount --pid --cgroup --uts --ipc --fork --kill-child bash -c "$BOOT"`)
	command.Env = append(os.Environ(), "GROUP="+group, "BOOT="+boot, "LAYERS="+t.TempDir())
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	must.Do(t, command.Start())
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	t.Cleanup(func() { _ = command.Process.Kill() }) // with the namespaces' first process, everything in them ends
	m := &machine{t: t}
	for late := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		select {
		case err := <-ended:
			t.Skipf("a machine with systemd cannot be started here: %v\n%s", err, said.String())
		default:
		}
		if time.Now().After(late) {
			t.Fatalf("systemd does not start:\n%s", said.String())
		}
		if m.pid = child(command.Process.Pid); m.pid == "" {
			continue
		}
		if state, _ := m.try("systemctl is-system-running"); slices.Contains([]string{"running", "degraded"}, strings.TrimSpace(state)) {
			break
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			journal, _ := m.try("systemctl status --no-pager seawall; journalctl --no-pager --lines=100")
			t.Logf("the journal:\n%s", journal)
		}
	})
	m.layer = "/proc/" + m.pid + "/root"
	return m
}

// controlGroup makes a group for the machine, of version 2 alone.
func controlGroup(t testing.TB) string {
	t.Helper()
	for _, top := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(filepath.Join(top, "cgroup.procs")); err != nil {
			continue
		}
		group := filepath.Join(top, fmt.Sprintf("seawall-test-%d", os.Getpid()))
		if err := os.Mkdir(group, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			continue
		}
		return group
	}
	t.Skip("a machine with systemd needs control groups of version 2 that can be written")
	return ""
}

// child is the process that unshare has started; empty while there is none that is systemd.
func child(parent int) string {
	list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", parent, parent)) // gone, or none yet
	pid := strings.TrimSpace(string(list))
	if name, _ := os.ReadFile("/proc/" + pid + "/comm"); strings.TrimSpace(string(name)) != "systemd" {
		return ""
	}
	return pid
}

// try runs a script of bash in the machine, as root.
func (m *machine) try(script string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, "nsenter", "--target="+m.pid, "--mount", "--pid", "--cgroup", "--uts", "--ipc", "--root", "--wd",
		"env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "NO_COLOR=1", "bash", "-c", script)
	command.Dir, command.WaitDelay = "/", 10*time.Second
	out, err := command.CombinedOutput()
	return string(out), err
}

// run is try of what must succeed.
func (m *machine) run(script string) string {
	m.t.Helper()
	out, err := m.try(script)
	if err != nil {
		m.t.Fatalf("%s\nended with %v:\n%s", script, err, out)
	}
	return out
}

// write writes a file in the machine.
func (m *machine) write(name, text string, mode fs.FileMode) {
	m.t.Helper()
	path := filepath.Join(m.layer, name)
	must.Do(m.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(m.t, os.WriteFile(path, []byte(text), mode))
}

// poll waits until a script succeeds.
func (m *machine) poll(what, script string) {
	m.t.Helper()
	for late := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		out, err := m.try(script)
		if err == nil {
			return
		}
		if time.Now().After(late) {
			m.t.Fatalf("never: %s\n%s", what, out)
		}
	}
}

// platform is the simulator, as a process.
type platform struct {
	BaseURL  string `json:"base_url"`
	Rulesets string `json:"rulesets_token"`
	Tokens   string `json:"tokens_token"`
}

func startSimulator(t testing.TB, seawall string, flags ...string) platform {
	t.Helper()
	command := exec.Command(seawall, append([]string{"sim", "--listen", "127.0.0.1:0"}, flags...)...)
	out, err := command.StdoutPipe()
	must.Do(t, err)
	must.Do(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	must.Do(t, err)
	var p platform
	must.Do(t, json.Unmarshal(line, &p))
	return p
}
