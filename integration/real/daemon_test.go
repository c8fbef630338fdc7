package real_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// daemon is `seawall run` with the simulator as its platform.
type daemon struct {
	*part
	platform platform
	dir      string
	listen   string
}

// newDaemon places the configuration, which begins with the platform, the state and the
// address; config is the rest.
func newDaemon(t testing.TB, config string) *daemon {
	t.Helper()
	d := &daemon{platform: startSimulator(t, seawall(t)), dir: t.TempDir(), listen: freeAddress(t)}
	d.part = &part{t: t}
	writeFile(t, filepath.Join(d.dir, "rulesets"), d.platform.Rulesets)
	writeFile(t, filepath.Join(d.dir, "tokens"), d.platform.Tokens)
	d.configure(config)
	return d
}

func (d *daemon) configure(config string) {
	d.t.Helper()
	writeFile(d.t, d.config(), fmt.Sprintf(`platform: base_url: %q
credentials: rulesets: file: %q
state: dir: %q
listen: %q
`, d.platform.BaseURL, filepath.Join(d.dir, "rulesets"), filepath.Join(d.dir, "state"), d.listen)+config)
}

func (d *daemon) config() string { return filepath.Join(d.dir, "config.cue") }

// start starts the process and waits until it serves.
func (d *daemon) start() {
	d.t.Helper()
	command := exec.Command(seawall(d.t), "run", "--config", d.config())
	command.Env = append(os.Environ(), "NO_COLOR=1")
	d.part = start(d.t, command)
	d.until("it is alive", answers("http://"+d.listen+"/healthz"))
}

// command runs a command beside the daemon and returns what it printed, whatever it thinks
// of the state.
func (d *daemon) command(args ...string) string {
	d.t.Helper()
	command := exec.Command(seawall(d.t), append(args, "--config", d.config())...)
	command.Env = append(os.Environ(), "NO_COLOR=1")
	_, out := outcome(d.t, command)
	return out
}
