package harness

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

// Service is `seawall run` with everything around it: a repository, a platform,
// a configuration. The process can be ended and started again.
type Service struct {
	T        testing.TB
	Dir      string
	Repo     *gittest.Repository
	Platform *Platform
	Config   ServiceConfig

	cmd     *exec.Cmd
	done    chan struct{} // closed once the process has ended and all is read
	Address string        // of health and metrics

	mu      sync.Mutex
	told    bytes.Buffer     // everything on standard error since the last start
	entries []map[string]any // of it what is JSON
}

// ServiceConfig is what tests vary; the zero value is for most of them.
type ServiceConfig struct {
	Sync, Sweep string // empty: every second, every hour
	BaseURL     string // empty: the platform's
	Source      string // of the configuration; empty: the repository over its path
	Token       string // the credential; empty: the platform's
	Concurrency int    // zero: 16
	// DefaultGuard leaves guards.default as it is; else it is off, since most tests weaken a
	// whole fleet at once.
	DefaultGuard bool
}

// Text is the file of this configuration for a service.
func (c ServiceConfig) Text(s *Service) string {
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
%s`, fallback(c.Source, fmt.Sprintf("url: %q", "file://"+s.Repo.Dir)), fallback(c.BaseURL, s.Platform.BaseURL),
		filepath.Join(s.Dir, "token"), fallback(c.Sync, "@every 1s"), fallback(c.Sweep, "@every 1h"),
		max(c.Concurrency, 1), filepath.Join(s.Dir, "state"), c.guards())
}

func (c ServiceConfig) guards() string {
	if c.DefaultGuard {
		return ""
	}
	return "guards: default: off: true\n"
}

// NewService puts everything in place and does not start the process.
func NewService(t testing.TB, p *Platform, config ServiceConfig) *Service {
	t.Helper()
	s := &Service{T: t, Dir: t.TempDir(), Repo: gittest.New(t), Platform: p, Config: config}
	if s.Config.Concurrency == 0 {
		s.Config.Concurrency = 16
	}
	token := config.Token
	if token == "" {
		token = p.RulesetsToken.Reveal()
	}
	s.Write("token", token+"\n")
	s.Configure(s.Config.Text(s))
	return s
}

// Write writes a file beside the configuration.
func (s *Service) Write(name, content string) {
	s.T.Helper()
	if err := os.WriteFile(filepath.Join(s.Dir, name), []byte(content), 0o600); err != nil {
		s.T.Fatal(err)
	}
}

// ConfigFile is the path of the configuration.
func (s *Service) ConfigFile() string { return filepath.Join(s.Dir, "config.cue") }

// Configure replaces the configuration.
func (s *Service) Configure(text string) { s.T.Helper(); s.Write("config.cue", text) }

// Start starts the process and waits until it serves.
func (s *Service) Start() {
	s.T.Helper()
	s.cmd = exec.Command(Seawall(s.T), "run", "--config", s.ConfigFile(), "--log-format", "json", "--log-level", "debug")
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		s.T.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.T.Fatal(err)
	}
	s.mu.Lock()
	s.told.Reset()
	s.entries = nil
	s.mu.Unlock()
	s.done = make(chan struct{})
	go s.listen(stderr)
	s.T.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.done
		if s.T.Failed() {
			s.T.Logf("the daemon said:\n%s", s.Output())
		}
	})
	s.WantAddress()
}

// listen keeps what the process tells until it ends.
func (s *Service) listen(stderr io.Reader) {
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

// Output is everything on standard error since the last start.
func (s *Service) Output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told.String()
}

// Logged returns the log lines with a message, decoded.
func (s *Service) Logged(message string) []map[string]any {
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

// WantAddress waits for a word of where the daemon serves. After a reload it is
// the newest such word.
func (s *Service) WantAddress() {
	s.T.Helper()
	s.Poll("the daemon serves", func() bool {
		lines := s.Logged("serving")
		if len(lines) > 0 {
			s.Address, _ = lines[len(lines)-1]["address"].(string)
		}
		return len(lines) > 0
	})
}

// Patience is how long a test waits for what ought to happen soon. It is for what
// never happens: a machine that is slow must not be told to be wrong.
const Patience = 3 * time.Minute

// Poll waits until ok, and ends the test when it never is.
func (s *Service) Poll(what string, ok func() bool) {
	s.T.Helper()
	s.pollUntil(time.Now().Add(Patience), what, ok)
}

// PollLong waits for what may take as long as the bounds of evaluating allow, on
// a machine that is busy with other tests: until shortly before the test's own end,
// which would say less.
func (s *Service) PollLong(t *testing.T, what string, ok func() bool) {
	s.T.Helper()
	deadline, bounded := t.Deadline()
	if !bounded {
		deadline = time.Now().Add(time.Hour)
	}
	s.pollUntil(deadline.Add(-Patience), what, ok)
}

func (s *Service) pollUntil(deadline time.Time, what string, ok func() bool) {
	s.T.Helper()
	for ; !ok(); time.Sleep(25 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.T.Fatalf("never: %s", what)
		}
		select {
		case <-s.done:
			if !ok() {
				s.T.Fatalf("the daemon ended before: %s", what)
			}
			return
		default:
		}
	}
}

// PollReady waits until /readyz answers 200.
func (s *Service) PollReady() {
	s.T.Helper()
	s.Poll("/readyz is 200", func() bool { code, _ := s.Get("/readyz"); return code == http.StatusOK })
}

// Get asks the daemon; a code of zero is no answer.
func (s *Service) Get(path string) (int, string) {
	res, err := http.Get("http://" + s.Address + path)
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

// Signal sends a signal to the process.
func (s *Service) Signal(sig syscall.Signal) {
	s.T.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.T.Fatal(err)
	}
}

// WantEnd waits for the end of the process and checks its exit code; -1 is death
// by a signal.
func (s *Service) WantEnd(code int) {
	s.T.Helper()
	select {
	case <-s.done:
	case <-time.After(Patience):
		s.T.Fatal("the daemon does not end")
	}
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.T.Errorf("exit code %d, want %d", got, code)
	}
}

// Kill ends the process without a warning.
func (s *Service) Kill() { s.T.Helper(); s.Signal(syscall.SIGKILL); s.WantEnd(-1) }

// Good returns the commit that the service would fall back to, from its store.
func (s *Service) Good() string {
	s.T.Helper()
	ref, _ := os.ReadFile(filepath.Join(s.Dir, "state", "git", "refs", "seawall", "good")) // none yet
	return strings.TrimSpace(string(ref))
}
