package reviews

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"

	forges "github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/forge/forgetest"
)

// reviewed is a service whose repository is served over HTTP and whose pull
// requests are on a forge.
type reviewed struct {
	*harness.Service
	forge *forgetest.Server
}

const hookSecret = "a secret that nobody guesses"

// newReviewed configures the forge of a kind. With a rare sync nothing but a
// webhook wakes the daemon.
func newReviewed(t *testing.T, kind forges.Kind, zones int, sync string) *reviewed {
	t.Helper()
	p := harness.StartPlatform(t, harness.Fleet(zones))
	s := harness.NewService(t, p, harness.ServiceConfig{})
	r := &reviewed{s, forgetest.Start(t, kind, "acme/edge", filepath.Join(s.Repo.Dir, ".git"))}
	s.Config.Source, s.Config.Sync = fmt.Sprintf("url: %q", s.Repo.HTTP("", "")), sync
	s.Write("forge-token", r.forge.Token)
	s.Write("hook-secret", hookSecret)
	s.Configure(s.Config.Text(s) + fmt.Sprintf(`
forge: {kind: %q, url: %q, project: "acme/edge", token: file: %q}
hooks: edge: {kind: "generic", secret: file: %q}
`, string(kind), r.forge.URL, filepath.Join(s.Dir, "forge-token"), filepath.Join(s.Dir, "hook-secret")))
	return r
}

// head makes a commit the head of pull request 1, without touching the branch.
func (r *reviewed) head(files ...string) string {
	r.T.Helper()
	r.Repo.Git("checkout", "-q", "-B", "change", "main")
	commit := r.Repo.Commit(files...)
	ref := "refs/pull/1/head"
	if r.forge.Kind == forges.GitLab {
		ref = "refs/merge-requests/1/head"
	}
	r.Repo.Git("update-ref", ref, commit)
	r.Repo.Git("checkout", "-q", "main")
	return commit
}

func (r *reviewed) comment() string {
	comments := r.forge.Comments(1)
	if len(comments) != 1 {
		return fmt.Sprintf("%d comments", len(comments))
	}
	return comments[0].Body
}

// marked are the states of the marks at a commit, in order.
func (r *reviewed) marked(commit string) string {
	var states []string
	for _, status := range r.forge.Statuses(commit) {
		states = append(states, strings.Replace(status.State, "failed", "failure", 1)) // GitLab's word
	}
	return strings.Join(states, " ")
}

// hook calls the webhook the way a generic sender does.
func (r *reviewed) hook(secret string) int {
	r.T.Helper()
	body := `{"ref":"refs/heads/main"}`
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	req, err := http.NewRequest(http.MethodPost, "http://"+r.Address()+"/hook/git", strings.NewReader(body))
	must.Do(r.T, err)
	req.Header.Set("X-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	res, err := http.DefaultClient.Do(req)
	must.Do(r.T, err)
	_ = res.Body.Close()
	return res.StatusCode
}

// A pull request from its opening to its merge, on each forge: one comment, told
// anew after a push, and a status that settles once.
func TestPullRequest(t *testing.T) {
	t.Parallel()
	kinds := map[string]forges.Kind{"github": forges.GitHub, "gitlab": forges.GitLab, "gitea": forges.Gitea}
	for name, kind := range soak.Some(kinds, "github") { // reconcile/forge has all of them in each test
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReviewed(t, kind, 3, "@every 1s")
			first := r.Repo.Commit("edge.cue", harness.Declare(3, 25))
			r.Start()
			r.PollReady()
			r.Poll("the first commit is settled", func() bool { return r.marked(first) == "pending success" })

			head := r.head("edge.cue", harness.DeclareEach(3, func(i int) int { return 25 + i/3 }))
			r.forge.Open(forgetest.Pull{Number: 1, Author: "dev", Title: "Zone 3 is stricter"})
			r.Poll("the plan is told", func() bool { return strings.Contains(r.comment(), "1 to change") })
			if text := r.comment(); !strings.Contains(text, "→") && !strings.Contains(text, "| `25` | `26` |") {
				t.Errorf("old and new are not in\n%s", text)
			}
			r.Poll("the head is marked", func() bool { return r.marked(head) == "success" })

			bad := r.head("edge.cue", strings.Replace(harness.Declare(3, 25), "score: 25", "score: true", 1))
			r.Poll("the push is told in the same comment", func() bool { return strings.Contains(r.comment(), "does not compile") })
			r.Poll("its head is marked", func() bool { return r.marked(bad) == "failure" })
			good := r.head("edge.cue", harness.Declare(3, 27))
			r.Poll("the next push is told in the same comment", func() bool { return strings.Contains(r.comment(), "3 to change") })
			r.Poll("its head is marked", func() bool { return r.marked(good) == "success" })
			if writes := r.Platform.Threshold(mem.FleetZone(1)); writes != 25 {
				t.Errorf("a pull request was applied: threshold %d", writes)
			}

			r.Repo.Git("merge", "-q", "--ff-only", good)
			r.Poll("the merge is live", func() bool { return r.Platform.Threshold(mem.FleetZone(3)) == 27 })
			r.Poll("its status is settled", func() bool { return strings.HasSuffix(r.marked(good), "pending success") })
			r.Signal(syscall.SIGTERM)
			r.WantEnd(0)
		})
	}
}

// A webhook wakes what would otherwise wait for an hour; whoever does not know the
// secret wakes nothing.
func TestWebhookWakes(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, forges.Gitea, 1, "@every 1h")
	r.Repo.Commit("edge.cue", harness.Declare(1, 25))
	r.Start()
	r.PollReady()
	r.Repo.Commit("edge.cue", harness.Declare(1, 26))
	if code := r.hook("a guess that is wrong"); code != http.StatusUnauthorized {
		t.Errorf("a wrong secret is answered %d", code)
	}
	if code := r.hook(hookSecret); code != http.StatusAccepted {
		t.Errorf("the webhook is answered %d", code)
	}
	r.Poll("the pushed commit is live", func() bool { return r.Platform.Threshold(mem.FleetZone(1)) == 26 })
	if code := r.hook(hookSecret); code != http.StatusAccepted && code != http.StatusTooManyRequests {
		t.Errorf("a replay is answered %d", code)
	}
	r.Signal(syscall.SIGTERM)
	r.WantEnd(0)
}

// A forge that is down keeps nothing from being applied, and is told once.
func TestForgeIsDown(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, forges.GitHub, 1, "@every 1s")
	r.forge.Break(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	r.Repo.Commit("edge.cue", harness.Declare(1, 25))
	r.Start()
	r.PollReady()
	r.Repo.Commit("edge.cue", harness.Declare(1, 26))
	r.Poll("the pushed commit is live", func() bool { return r.Platform.Threshold(mem.FleetZone(1)) == 26 })
	r.Poll("the forge is told", func() bool { return len(r.Logged("outage began")) > 0 })
	r.Signal(syscall.SIGTERM)
	r.WantEnd(0)
}
