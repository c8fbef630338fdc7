package harness

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// Daemon is `seawall run` in a process of its own.
type Daemon struct {
	*exec.Cmd
	Address string        // of health, metrics and webhooks; see [Daemon.Serves]
	Ended   chan struct{} // closed once the process has ended and all of its log is read

	serving chan string
}

// StartDaemon starts it, with its log as JSON. Each line of the log is heard as it comes.
func StartDaemon(binary, config string, hear func(line []byte), flags ...string) (*Daemon, error) {
	return startDaemon(nil, binary, config, hear, flags...)
}

// startDaemon gives it variables beside those of the test.
func startDaemon(env []string, binary, config string, hear func(line []byte), flags ...string) (*Daemon, error) {
	args := slices.Concat([]string{"run", "--config", config, "--log-format", "json"}, flags)
	d := &Daemon{Cmd: exec.Command(binary, args...), Ended: make(chan struct{}), serving: make(chan string, 1)}
	d.Env = append(os.Environ(), env...)
	stderr, err := d.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := d.Cmd.Start(); err != nil {
		return nil, err
	}
	go d.listen(stderr, hear)
	return d, nil
}

func (d *Daemon) listen(stderr io.Reader, hear func(line []byte)) {
	defer close(d.Ended)
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		hear(lines.Bytes())
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
			select {
			case d.serving <- line.Address:
			default: // after a reload
			}
		}
	}
	_, _ = io.Copy(io.Discard, stderr) // after a line that is too long
	_ = d.Wait()
}

// Serves waits until it says for the first time where it serves.
func (d *Daemon) Serves(ctx context.Context) error {
	select {
	case d.Address = <-d.serving:
		return nil
	case <-d.Ended:
		return fmt.Errorf("the daemon ended at its start: %s", d.ProcessState)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Running reports whether the process has not ended.
func (d *Daemon) Running() bool {
	select {
	case <-d.Ended:
		return false
	default:
		return true
	}
}

// stopGrace is how long a daemon may take to end before it is killed.
const stopGrace = 40 * time.Second

// Stop ends the process.
func (d *Daemon) Stop() {
	_ = d.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.Ended:
	case <-time.After(stopGrace):
		_ = d.Process.Kill()
		<-d.Ended
	}
}

// Poke has the daemon look at git, as a forge's webhook does; see [ServiceConfig.WriteFiles].
func (d *Daemon) Poke(ctx context.Context) error {
	code, body, err := d.ask(ctx, http.MethodPost, "/hook/git")
	if err == nil && code != http.StatusAccepted {
		err = fmt.Errorf("the webhook was answered %d: %s", code, body)
	}
	return err
}

// Get asks the daemon for a page.
func (d *Daemon) Get(ctx context.Context, path string) (code int, body []byte, err error) {
	return d.ask(ctx, http.MethodGet, path)
}

func (d *Daemon) ask(ctx context.Context, method, path string) (code int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+d.Address+path, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	if method == http.MethodPost {
		req.Header.Set("Authorization", "Bearer "+hookSecret)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	return res.StatusCode, body, err
}

// ServiceConfig is the configuration of a daemon, of which the files are in one folder. What
// is empty or zero has the value that is said beside it.
type ServiceConfig struct {
	Sync, Sweep string        // every ten seconds, and once the repository changed while a test polls; every hour
	BaseURL     string        // [NewService]: the platform's
	Source      string        // of the configuration; [NewService]: the repository over its path
	Token       string        // the credential; [NewService]: the platform's
	Credentials string        // of the configuration; the file of Token
	State       string        // of the configuration; a folder beside it
	Requests    int           // of the budget; 100,000
	Per         time.Duration // of the budget; 5 minutes
	Concurrency int           // 16
	// DefaultGuard leaves guards.default as it is; else it is off, since most tests weaken a
	// whole fleet at once.
	DefaultGuard bool
	More         string // lines after these
}

// in is the configuration for a folder.
func (c ServiceConfig) in(dir string) string {
	guards := "guards: default: off: true\n"
	if c.DefaultGuard {
		guards = ""
	}
	return fmt.Sprintf(`source: {%s}
platform: base_url: %q
credentials: %s
schedule: {sync: %q, sweep: %q}
budget: {requests: %d, per: %q, concurrency: %d}
state: %s
listen: "127.0.0.1:0"
%s`, c.Source, c.BaseURL, cmp.Or(c.Credentials, fmt.Sprintf("rulesets: file: %q", filepath.Join(dir, "token"))), cmp.Or(c.Sync, "@every 10s"), cmp.Or(c.Sweep, "@every 1h"),
		cmp.Or(c.Requests, 100_000), cmp.Or(c.Per, 5*time.Minute), cmp.Or(c.Concurrency, 16), cmp.Or(c.State, fmt.Sprintf("dir: %q", filepath.Join(dir, "state"))), guards) + c.More
}

// hook is a webhook in the configuration for a folder.
func hook(dir string) string {
	return fmt.Sprintf("hooks: harness: {kind: \"generic\", secret: file: %q}\n", filepath.Join(dir, hookFile))
}

const hookSecret, hookFile = "a-secret-of-the-tests-alone-0001", "hook-secret"

// WriteFiles writes the configuration and what it names into a folder, with a webhook for
// [Daemon.Poke].
func (c ServiceConfig) WriteFiles(dir string) (file string, err error) {
	file = filepath.Join(dir, "config.cue")
	for name, content := range map[string]string{"config.cue": c.in(dir) + hook(dir), "token": c.Token + "\n", hookFile: hookSecret + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return "", err
		}
	}
	return file, nil
}
