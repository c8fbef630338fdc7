package harness

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
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
	Env      []string // beside the variables of the test

	daemon *Daemon
	pushed string // the branches of the repository when the daemon was last told to look

	mu      sync.Mutex
	told    bytes.Buffer     // everything on standard error since the last start
	entries []map[string]any // of it what is JSON
}

// Text is the file of this configuration for a service. Without a schedule of its own it has a
// webhook.
func (c ServiceConfig) Text(s *Service) string {
	c.Source = cmp.Or(c.Source, fmt.Sprintf("url: %q", "file://"+s.Repo.Dir))
	c.BaseURL = cmp.Or(c.BaseURL, s.Platform.BaseURL)
	text := c.in(s.Dir)
	if c.Sync == "" {
		text += hook(s.Dir)
	}
	return text
}

// NewService puts everything in place and does not start the process.
func NewService(t testing.TB, p *Platform, config ServiceConfig) *Service {
	t.Helper()
	s := &Service{T: t, Dir: t.TempDir(), Repo: gittest.New(t), Platform: p, Config: config}
	s.Write("token", cmp.Or(config.Token, p.RulesetsToken.Reveal())+"\n")
	s.Write(hookFile, hookSecret+"\n")
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
	s.mu.Lock()
	s.told.Reset()
	s.entries = nil
	s.mu.Unlock()
	s.pushed = ""
	var err error
	if s.daemon, err = startDaemon(s.Env, Seawall(s.T), s.ConfigFile(), s.hear, "--log-level", "debug"); err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() {
		_ = s.daemon.Process.Kill()
		<-s.daemon.Ended
		if s.T.Failed() {
			s.T.Logf("the daemon said:\n%s", s.Output())
		}
	})
	s.WantAddress()
}

// hear keeps what the process tells.
func (s *Service) hear(line []byte) {
	var entry map[string]any
	isJSON := json.Unmarshal(line, &entry) == nil
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told.Write(line)
	s.told.WriteByte('\n')
	if isJSON {
		s.entries = append(s.entries, entry)
	}
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

// Runs is how many runs have ended since the last start.
func (s *Service) Runs() int { return len(s.Logged("run finished")) }

// WantAddress waits for a word of where the daemon serves. After a reload it is
// the newest such word.
func (s *Service) WantAddress() {
	s.T.Helper()
	s.Poll("the daemon serves", func() bool {
		lines := s.Logged("serving")
		if len(lines) > 0 {
			s.daemon.Address, _ = lines[len(lines)-1]["address"].(string)
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
	for began := time.Now(); !ok(); time.Sleep(pauseAfter(time.Since(began))) {
		s.tellPush()
		if time.Now().After(deadline) {
			s.T.Fatalf("never: %s", what)
		}
		select {
		case <-s.daemon.Ended:
			if !ok() {
				s.T.Fatalf("the daemon ended before: %s", what)
			}
			return
		default:
		}
	}
}

// pauseAfter is how long a wait pauses between two looks: the longer it lasts, the longer, since a look
// may go through a whole fleet.
func pauseAfter(waited time.Duration) time.Duration {
	return min(max(25*time.Millisecond, waited/10), 250*time.Millisecond)
}

// tellPush is the webhook of a forge: where the branches have moved since it was told last, the
// daemon looks at once. To look every second would take a third of the processor time of all
// that these tests do.
func (s *Service) tellPush() {
	branches := s.branches()
	if s.Config.Sync != "" || branches == s.pushed || s.daemon.Address == "" {
		return
	}
	s.pushed = branches
	_ = s.daemon.Poke(s.T.Context()) // it may end, or have no hooks: then it looks on its schedule
}

// Hook is the webhook of a forge for what is no push, such as a pull request that is closed.
func (s *Service) Hook() {
	s.T.Helper()
	if err := s.daemon.Poke(s.T.Context()); err != nil {
		s.T.Fatal(err)
	}
}

// branches are those of the repository, with their commits.
func (s *Service) branches() string {
	var found strings.Builder
	heads := os.DirFS(filepath.Join(s.Repo.Dir, ".git", "refs", "heads"))
	_ = fs.WalkDir(heads, ".", func(name string, _ fs.DirEntry, _ error) error { // what git is about to move is seen next time
		commit, _ := fs.ReadFile(heads, name)
		fmt.Fprintln(&found, name, string(commit))
		return nil
	})
	return found.String()
}

// PollReady waits until /readyz answers 200.
func (s *Service) PollReady() {
	s.T.Helper()
	s.Poll("/readyz is 200", func() bool { code, _ := s.Get("/readyz"); return code == http.StatusOK })
}

// Address is where the daemon serves health, metrics and webhooks.
func (s *Service) Address() string { return s.daemon.Address }

// Get asks the daemon; a code of zero is no answer.
func (s *Service) Get(path string) (int, string) {
	code, body, err := s.daemon.Get(s.T.Context(), path)
	if err != nil {
		return 0, ""
	}
	return code, string(body)
}

// Signal sends a signal to the process.
func (s *Service) Signal(sig syscall.Signal) {
	s.T.Helper()
	if err := s.daemon.Process.Signal(sig); err != nil {
		s.T.Fatal(err)
	}
}

// WantEnd waits for the end of the process and checks its exit code; -1 is death
// by a signal.
func (s *Service) WantEnd(code int) {
	s.T.Helper()
	select {
	case <-s.daemon.Ended:
	case <-time.After(Patience):
		s.T.Fatal("the daemon does not end")
	}
	if got := s.daemon.ProcessState.ExitCode(); got != code {
		s.T.Errorf("exit code %d, want %d; the daemon said:\n%s", got, code, s.Output()) // one that is started anew forgets it
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
