package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
)

// service is `seawall run` with everything around it: a repository, a platform,
// a configuration. The process can be ended and started again.
type service struct {
	t        testing.TB
	dir      string
	repo     *gittest.Repository
	platform *platform
	config   serviceConfig

	cmd     *exec.Cmd
	done    chan struct{} // closed once the process has ended and all is read
	address string        // of health and metrics

	mu      sync.Mutex
	told    bytes.Buffer     // everything on standard error since the last start
	entries []map[string]any // of it what is JSON
}

// serviceConfig is what tests vary; the zero value is for most of them.
type serviceConfig struct {
	Sync, Sweep string // empty: every second, every hour
	BaseURL     string // empty: the platform's
	Source      string // of the configuration; empty: the repository over its path
	Token       string // the credential; empty: the platform's
	Concurrency int    // zero: 16
}

func (c serviceConfig) text(s *service) string {
	fallback := func(value, other string) string {
		if value == "" {
			return other
		}
		return value
	}
	return fmt.Sprintf(`source: {%s}
platform: base_url: %q
credentials: rulesets: file: %q
schedule: {sync: %q, sweep: %q}
budget: {requests: 100_000, concurrency: %d}
state: dir: %q
listen: "127.0.0.1:0"
`, fallback(c.Source, fmt.Sprintf("url: %q", "file://"+s.repo.Dir)), fallback(c.BaseURL, s.platform.BaseURL),
		filepath.Join(s.dir, "token"), fallback(c.Sync, "@every 1s"), fallback(c.Sweep, "@every 1h"),
		max(c.Concurrency, 1), filepath.Join(s.dir, "state"))
}

// newService puts everything in place and does not start the process.
func newService(t testing.TB, p *platform, config serviceConfig) *service {
	t.Helper()
	s := &service{t: t, dir: t.TempDir(), repo: gittest.New(t), platform: p, config: config}
	if s.config.Concurrency == 0 {
		s.config.Concurrency = 16
	}
	token := config.Token
	if token == "" {
		token = p.RulesetsToken.Reveal()
	}
	s.write("token", token+"\n")
	s.configure(s.config.text(s))
	return s
}

func (s *service) write(name, content string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *service) configFile() string { return filepath.Join(s.dir, "config.cue") }

func (s *service) configure(text string) { s.t.Helper(); s.write("config.cue", text) }

// start starts the process and waits until it serves.
func (s *service) start() {
	s.t.Helper()
	s.cmd = exec.Command(seawall(s.t), "run", "--config", s.configFile(), "--log-format", "json", "--log-level", "debug")
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	s.told.Reset()
	s.entries = nil
	s.mu.Unlock()
	s.done = make(chan struct{})
	go s.listen(stderr)
	s.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.done
		if s.t.Failed() {
			s.t.Logf("the daemon said:\n%s", s.output())
		}
	})
	s.wantAddress()
}

// listen keeps what the process tells until it ends.
func (s *service) listen(stderr io.Reader) {
	defer close(s.done)
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var entry map[string]any
		isJSON := json.Unmarshal(lines.Bytes(), &entry) == nil
		s.mu.Lock()
		s.told.Write(append(lines.Bytes(), '\n'))
		if isJSON {
			s.entries = append(s.entries, entry)
		}
		s.mu.Unlock()
	}
	_ = s.cmd.Wait()
}

func (s *service) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told.String()
}

// logged returns the log lines with a message, decoded.
func (s *service) logged(message string) []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []map[string]any
	for _, entry := range s.entries {
		if entry["msg"] == message {
			found = append(found, entry)
		}
	}
	return found
}

// wantAddress waits for a word of where the daemon serves. After a reload it is
// the newest such word.
func (s *service) wantAddress() {
	s.t.Helper()
	s.poll("the daemon serves", func() bool {
		lines := s.logged("serving")
		if len(lines) > 0 {
			s.address, _ = lines[len(lines)-1]["address"].(string)
		}
		return len(lines) > 0
	})
}

// patience is how long a test waits for what ought to happen soon. It is for what
// never happens: a machine that is slow must not be told to be wrong.
const patience = 3 * time.Minute

// poll waits until ok, and ends the test when it never is.
func (s *service) poll(what string, ok func() bool) {
	s.t.Helper()
	s.pollUntil(time.Now().Add(patience), what, ok)
}

// pollLong waits for what may take as long as the bounds of evaluating allow, on
// a machine that is busy with other tests: until shortly before the test's own end,
// which would say less.
func (s *service) pollLong(t *testing.T, what string, ok func() bool) {
	s.t.Helper()
	deadline, bounded := t.Deadline()
	if !bounded {
		deadline = time.Now().Add(time.Hour)
	}
	s.pollUntil(deadline.Add(-patience), what, ok)
}

func (s *service) pollUntil(deadline time.Time, what string, ok func() bool) {
	s.t.Helper()
	for ; !ok(); time.Sleep(25 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("never: %s", what)
		}
		select {
		case <-s.done:
			if !ok() {
				s.t.Fatalf("the daemon ended before: %s", what)
			}
			return
		default:
		}
	}
}

// pollReady waits until /readyz answers 200.
func (s *service) pollReady() {
	s.t.Helper()
	s.poll("/readyz is 200", func() bool { code, _ := s.get("/readyz"); return code == http.StatusOK })
}

// get asks the daemon; a code of zero is no answer.
func (s *service) get(path string) (int, string) {
	res, err := http.Get("http://" + s.address + path)
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, ""
	}
	return res.StatusCode, string(body)
}

func (s *service) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// wantEnd waits for the end of the process and checks its exit code; -1 is death
// by a signal.
func (s *service) wantEnd(code int) {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(patience):
		s.t.Fatal("the daemon does not end")
	}
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit code %d, want %d", got, code)
	}
}

func (s *service) kill() { s.t.Helper(); s.signal(syscall.SIGKILL); s.wantEnd(-1) }

// good returns the commit that the service would fall back to, from its store.
func (s *service) good() string {
	s.t.Helper()
	ref, _ := os.ReadFile(filepath.Join(s.dir, "state", "git", "refs", "seawall", "good")) // none yet
	return strings.TrimSpace(string(ref))
}
