package tokens

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// tokenForge is the real program with a repository that declares the tokens, and
// a ledger that may create them.
type tokenForge struct {
	*tokenWorld
	dir  string
	repo *gittest.Repository
	told int // how often all was told
}

// newTokenForge puts everything in place. A sink other than the file sink is
// given as CUE.
func newTokenForge(t *testing.T, sink string) *tokenForge {
	t.Helper()
	dir, repo := t.TempDir(), gittest.New(t)
	return newTokenForgeIn(tokenWorldIn(t, dir, "file://"+repo.Dir), dir, repo, sink)
}

func newTokenForgeIn(w *tokenWorld, dir string, repo *gittest.Repository, sink string) *tokenForge {
	w.T.Helper()
	t, f := w.T, &tokenForge{tokenWorld: w, dir: dir, repo: repo}
	if sink == "" {
		sink = fmt.Sprintf("file: root: %q", f.Sink)
	}
	harness.Write(t, dir, "rulesets", f.Rulesets)
	harness.Write(t, dir, "tokens", f.Tokens)
	f.configure("config.cue", f.BaseURL, f.Repository, sink)
	repo.Commit("edge.cue", harness.DeclareTokens(tokenKeys...))
	f.seawall("token", "init").Want(t, 0)
	return f
}

func (f *tokenForge) configure(name, baseURL, repository, sink string) {
	f.T.Helper()
	profile := mem.Documented
	if f.Extended {
		profile = mem.Extended
	}
	harness.Write(f.T, f.dir, name, fmt.Sprintf(`source: url: %q
platform: {base_url: %q, profile: %q}
credentials: {rulesets: file: %q, tokens: file: %q}
state: dir: %q
schedule: {sync: "@every 1s", sweep: "@every 1h"}
listen: "127.0.0.1:0"
sinks: ci: %s
`, repository, baseURL, profile, filepath.Join(f.dir, "rulesets"), filepath.Join(f.dir, "tokens"), f.State, sink))
}

func (f *tokenForge) config() string { return filepath.Join(f.dir, "config.cue") }

// seawall runs a command to its end. No secret is told, nor kept in the clear.
func (f *tokenForge) seawall(args ...string) harness.Outcome {
	f.T.Helper()
	o := harness.Run(f.T, nil, append(args, "--config", f.config())...)
	nowhere(f.tokenWorld.Platform, strings.Join(args, " "), []byte(o.Stdout+o.Stderr))
	nowhereBelow(f.tokenWorld.Platform, f.State)
	return o
}

// begun starts an apply and waits until it sends a creation, or has ended.
func (f *tokenForge) begun() (cmd *exec.Cmd, done chan struct{}) {
	f.T.Helper()
	cmd, done = exec.Command(harness.Seawall(f.T), "apply", "--config", f.config()), make(chan struct{})
	before := creations(f.tokenWorld.Platform)
	must.Do(f.T, cmd.Start())
	go func() { defer close(done); _ = cmd.Wait() }()
	for creations(f.tokenWorld.Platform) == before {
		select {
		case <-done:
			return cmd, done
		case <-time.After(time.Millisecond):
		}
	}
	return cmd, done
}

// killed starts an apply and kills it at a moment after its first request, unless
// it ends before. It reports whether it did.
func (f *tokenForge) killed(after time.Duration) (ended bool) {
	f.T.Helper()
	cmd, done := f.begun()
	select {
	case <-done:
	case <-time.After(after):
	}
	_ = cmd.Process.Kill()
	<-done
	nowhereBelow(f.tokenWorld.Platform, f.State)
	return cmd.ProcessState.ExitCode() >= 0
}

// wantListed checks what `seawall token list` tells against the platform.
func (f *tokenForge) wantListed() {
	f.T.Helper()
	o := f.seawall("token", "list", "-o", "json")
	o.Want(f.T, 0, `"tokens":`)
	o.WantNo(f.T, `"unknown":`)
	type record struct{ Key, ID, State string }
	var list struct{ Tokens []record }
	must.Do(f.T, json.Unmarshal([]byte(o.Stdout), &list))
	made := made(f.tokenWorld.Platform)
	told := map[string]record{}
	for _, r := range list.Tokens {
		told[r.Key] = r
	}
	for _, key := range tokenKeys {
		one, listed := told[key]
		switch existing := made[key]; {
		case !listed && len(existing) > 0:
			f.T.Errorf("%s exists and is not listed", key)
		case !listed || one.State != "created":
		case len(existing) != 1 || existing[0].ID != one.ID:
			f.T.Errorf("%s is listed as %+v, and on the platform are %d", key, one, len(existing))
		}
	}
}

// resolveByCommand is tokenWorld.resolve with the program.
func (f *tokenForge) resolveByCommand() {
	f.T.Helper()
	made := made(f.tokenWorld.Platform)
	for key, records := range f.records() {
		if records[0].State != diff.TokenQuarantined {
			continue
		}
		word := []string{"token", "resolve", key, "--retry"}
		if len(made[key]) > 0 {
			word = []string{"token", "resolve", key, "--adopt", made[key][0].ID}
			f.adopted[edge.TokenID(made[key][0].ID)] = true
		}
		f.seawall(word...).Want(f.T, 0)
	}
}

// TestTokensKilledAtRandom: apply is killed wherever it happens to be, several
// times in a row; then it ends by itself, and so does a person's part.
func TestTokensKilledAtRandom(t *testing.T) {
	t.Parallel()
	seed := uint64(20260301)
	killed := make([]int, 5)
	t.Run("rounds", func(t *testing.T) {
		for round := range killed {
			t.Run(fmt.Sprintf("seed %d round %d", seed, round), func(t *testing.T) {
				t.Parallel()
				chance := rand.New(rand.NewPCG(seed, uint64(round)))
				f := newTokenForge(t, "")
				must.Do(t, f.SetQuirks([]string{"slow=5ms"}))
				for range 4 {
					after := time.Duration(1+chance.IntN(60)) * time.Millisecond
					ended := f.killed(after)
					f.holds()
					if ended {
						break
					}
					killed[round]++
				}
				code := f.seawall("apply").Code
				f.holds()
				f.wantListed()
				sent := creations(f.tokenWorld.Platform)
				if again := f.seawall("apply").Code; again != code || creations(f.tokenWorld.Platform) != sent {
					t.Errorf("apply ended with %d, then with %d and %d creations", code, again, creations(f.tokenWorld.Platform)-sent)
				}
				f.resolveByCommand()
				f.seawall("apply").Want(t, 0)
				f.ends()
				f.wantListed()
			})
		}
	})
	total := 0
	for _, n := range killed {
		total += n
	}
	if total < len(killed)/2 {
		t.Errorf("only %d processes were killed in %d rounds", total, len(killed))
	}
}

// TestTokensStopPolitely: an apply that is told to stop finishes the creation it
// has begun, delivers its secret and begins no other.
func TestTokensStopPolitely(t *testing.T) {
	t.Parallel()
	p, dir, repo := harness.StartPlatform(t, harness.Fleet(1)), t.TempDir(), gittest.New(t)
	w, front := tokenWorldOn(p, dir, "file://"+repo.Dir), harness.NewFront(t, p, 1)
	w.tokenPlace.BaseURL = front.Address
	f := newTokenForgeIn(w, dir, repo, "")
	cmd := exec.CommandContext(t.Context(), harness.Seawall(t), "apply", "--config", f.config())
	told, err := cmd.StderrPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	for late := time.Now().Add(harness.Patience); !front.Holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("no creation is sent")
		}
	}
	must.Do(t, cmd.Process.Signal(syscall.SIGTERM))
	lines := bufio.NewScanner(told)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "sending nothing more; waiting for answers") {
			front.Release()
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit code %d", code)
	}
	f.holds()
	delivered := 0
	for _, records := range f.records() {
		for _, r := range records {
			if r.Delivered {
				delivered++
			}
		}
	}
	if n := creations(f.tokenWorld.Platform); n != 1 || delivered != 1 {
		t.Errorf("%d creations were sent, %d delivered", n, delivered)
	}
	f.seawall("apply").Want(t, 0)
	f.ends()
}
