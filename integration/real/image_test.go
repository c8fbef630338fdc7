package real_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// podman runs commands of podman with a store of the test's own. It has control groups of
// version 2 alone, as machines of today have.
type podman struct{ dir string }

func newPodman(t *testing.T) podman {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("containers need root here, for a view of control groups of their own")
	}
	needs(t, "podman buildah crun", "podman", "crun", "unshare")
	return podman{t.TempDir()}
}

func (p podman) command(args ...string) *exec.Cmd {
	const script = `mount --make-rprivate / && mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec podman --runtime=crun --storage-driver=vfs \
		--cgroup-manager=cgroupfs --events-backend=none --root "$STORE/store" --runroot "$STORE/run" --tmpdir "$STORE/tmp" "$@"`
	command := exec.Command("unshare", append([]string{"--mount", "bash", "-c", script, "podman"}, args...)...)
	command.Env = append(os.Environ(), "STORE="+p.dir)
	return command
}

// hardened are the flags of deploy/README.md, and limits that a machine without the right
// to raise them has.
var hardened = []string{
	"--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--tmpfs=/tmp",
	"--network=host", "--cgroups=disabled", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1000:1000", "--log-driver=none",
}

// lastStage is the last stage of the Dockerfile, which has the program from a folder here
// in place of the stage that builds it. Where its base cannot be had, it begins with nothing.
func lastStage(t *testing.T, p podman) string {
	t.Helper()
	text := harness.ReadText(t, filepath.Join(harness.Root, "deploy", "container", "Dockerfile"))
	text = text[strings.LastIndex(text, "\nFROM ")+1:]
	base := regexp.MustCompile(`^FROM (\S+)`).FindStringSubmatch(text)[1]
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	pull := p.command("pull", "--quiet", base)
	pull = exec.CommandContext(ctx, pull.Path, pull.Args[1:]...)
	pull.Env, pull.WaitDelay = append(os.Environ(), "STORE="+p.dir), time.Second
	if out, err := pull.CombinedOutput(); err != nil {
		t.Logf("the base %s cannot be had, so the image is built without it: %v, %s", base, err, last(string(out), 1))
		text = strings.Replace(text, base, "scratch", 1)
	}
	return text
}

// TestImage builds the image and runs it as deploy/README.md does: not harness.Root, read-only, with
// no capability.
func TestImage(t *testing.T) {
	only(t)
	p := newPodman(t)
	program, folder := built(t, "seawall-linux-"+runtime.GOARCH), t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(folder, "out", "state"), 0o700))
	run(t, exec.Command("cp", program, filepath.Join(folder, "out", "seawall")))
	file := writeFile(t, filepath.Join(folder, "Dockerfile"), lastStage(t, p))
	run(t, p.command("build", "--quiet", "--build-context", "build="+folder, "--file", file, "--tag", "localhost/seawall", folder))
	if user := run(t, p.command("image", "inspect", "--format", "{{.Config.User}}", "localhost/seawall")); strings.TrimSpace(user) != "65532:65532" {
		t.Errorf("the user of the image is %s", user)
	}
	seawall := func(flags []string, args ...string) *exec.Cmd {
		all := append(append([]string{"run", "--rm"}, hardened...), flags...)
		return p.command(append(append(all, "localhost/seawall"), args...)...)
	}
	if out := run(t, seawall(nil, "version", "--verbose")); !strings.Contains(out, "sandbox") {
		t.Errorf("the version is\n%s", out)
	}

	platform, listen := startSimulator(t, program), freeAddress(t)
	repo := gittest.New(t)
	repo.Commit("edge.cue", fmt.Sprintf(wanted, 3))
	config := configFor65532(t, fmt.Sprintf(`source: url: %q
platform: base_url: %q
credentials: rulesets: file: "/etc/seawall/rulesets"
schedule: {sync: "@every 1s", sweep: "@every 1h"}
listen: %q
`, repo.HTTP("", ""), platform.BaseURL, listen), platform.Rulesets)
	mounted := []string{"--name=seawall", "--volume=" + config + ":/etc/seawall:ro", "--volume=seawall-state:/var/lib/seawall"}
	daemon := start(t, seawall(mounted, "run", "--log-format=json"))
	daemon.until("it is ready", answers("http://"+listen+"/readyz"))
	daemon.until("the commit is applied", func() error {
		if !strings.Contains(daemon.String(), `"msg":"run finished"`) {
			return errors.New("no run has finished")
		}
		return nil
	})
	run(t, p.command("stop", "--time=60", "seawall"))
	<-daemon.ended
	if code := daemon.command.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the container ended with %d", code)
	}
}

// configFor65532 is a folder with the configuration and the credential, which the user of
// the image may read.
func configFor65532(t *testing.T, config, credential string) (folder string) {
	t.Helper()
	folder, err := os.MkdirTemp("", "seawall-image-") //nolint:usetesting // the folder of t.TempDir is closed to other users
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	writeFile(t, filepath.Join(folder, "config.cue"), config)
	writeFile(t, filepath.Join(folder, "rulesets"), credential)
	run(t, exec.Command("chown", "-R", "65532:65532", folder))
	return folder
}
