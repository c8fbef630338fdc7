package integration

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
	"github.com/seawall-dev/seawall/integration/soak"
	forges "github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/forge/forgetest"
)

// reviewed is a service whose repository is served over HTTP and whose pull
// requests are on a forge.
type reviewed struct {
	*service
	forge *forgetest.Server
}

const hookSecret = "a secret that nobody guesses"

// newReviewed configures the forge of a kind. With a rare sync nothing but a
// webhook wakes the daemon.
func newReviewed(t *testing.T, kind forges.Kind, zones int, sync string) *reviewed {
	t.Helper()
	p := startPlatform(t, fleet(zones))
	s := newService(t, p, serviceConfig{})
	r := &reviewed{s, forgetest.Start(t, kind, "acme/edge", filepath.Join(s.repo.Dir, ".git"))}
	s.config.Source, s.config.Sync = fmt.Sprintf("url: %q", s.repo.HTTP("", "")), sync
	s.write("forge-token", r.forge.Token)
	s.write("hook-secret", hookSecret)
	s.configure(s.config.text(s) + fmt.Sprintf(`
forge: {kind: %q, url: %q, project: "acme/edge", token: file: %q}
hooks: edge: {kind: "generic", secret: file: %q}
`, string(kind), r.forge.URL, filepath.Join(s.dir, "forge-token"), filepath.Join(s.dir, "hook-secret")))
	return r
}

// head makes a commit the head of pull request 1, without touching the branch.
func (r *reviewed) head(files ...string) string {
	r.t.Helper()
	r.repo.Git("checkout", "-q", "-B", "change", "main")
	commit := r.repo.Commit(files...)
	ref := "refs/pull/1/head"
	if r.forge.Kind == forges.GitLab {
		ref = "refs/merge-requests/1/head"
	}
	r.repo.Git("update-ref", ref, commit)
	r.repo.Git("checkout", "-q", "main")
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
	r.t.Helper()
	body := `{"ref":"refs/heads/main"}`
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	req, err := http.NewRequest(http.MethodPost, "http://"+r.address+"/hook/git", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("X-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// A pull request from its opening to its merge, on each forge: one comment, told
// anew after a push, and a status that settles once.
func TestPullRequest(t *testing.T) {
	kinds := map[string]forges.Kind{"github": forges.GitHub, "gitlab": forges.GitLab, "gitea": forges.Gitea}
	for name, kind := range soak.Some(kinds, "github") { // reconcile/forge has all of them in each test
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReviewed(t, kind, 3, "@every 1s")
			first := r.repo.Commit("edge.cue", declare(3, 25))
			r.start()
			r.pollReady()
			r.poll("the first commit is settled", func() bool { return r.marked(first) == "pending success" })

			head := r.head("edge.cue", declareEach(3, func(i int) int { return 25 + i/3 }))
			r.forge.Open(forgetest.Pull{Number: 1, Author: "dev", Title: "Zone 3 is stricter"})
			r.poll("the plan is told", func() bool { return strings.Contains(r.comment(), "1 to change") })
			if text := r.comment(); !strings.Contains(text, "→") && !strings.Contains(text, "| `25` | `26` |") {
				t.Errorf("old and new are not in\n%s", text)
			}
			r.poll("the head is marked", func() bool { return r.marked(head) == "success" })

			bad := r.head("edge.cue", strings.Replace(declare(3, 25), "score: 25", "score: true", 1))
			r.poll("the push is told in the same comment", func() bool { return strings.Contains(r.comment(), "does not compile") })
			r.poll("its head is marked", func() bool { return r.marked(bad) == "failure" })
			good := r.head("edge.cue", declare(3, 27))
			r.poll("the next push is told in the same comment", func() bool { return strings.Contains(r.comment(), "3 to change") })
			r.poll("its head is marked", func() bool { return r.marked(good) == "success" })
			if writes := r.platform.threshold(mem.FleetZone(1)); writes != 25 {
				t.Errorf("a pull request was applied: threshold %d", writes)
			}

			r.repo.Git("merge", "-q", "--ff-only", good)
			r.poll("the merge is live", func() bool { return r.platform.threshold(mem.FleetZone(3)) == 27 })
			r.poll("its status is settled", func() bool { return strings.HasSuffix(r.marked(good), "pending success") })
			r.signal(syscall.SIGTERM)
			r.wantEnd(0)
		})
	}
}

// A webhook wakes what would otherwise wait for an hour; whoever does not know the
// secret wakes nothing.
func TestWebhookWakes(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, forges.Gitea, 1, "@every 1h")
	r.repo.Commit("edge.cue", declare(1, 25))
	r.start()
	r.pollReady()
	r.repo.Commit("edge.cue", declare(1, 26))
	if code := r.hook("a guess that is wrong"); code != http.StatusUnauthorized {
		t.Errorf("a wrong secret is answered %d", code)
	}
	if code := r.hook(hookSecret); code != http.StatusAccepted {
		t.Errorf("the webhook is answered %d", code)
	}
	r.poll("the pushed commit is live", func() bool { return r.platform.threshold(mem.FleetZone(1)) == 26 })
	if code := r.hook(hookSecret); code != http.StatusAccepted && code != http.StatusTooManyRequests {
		t.Errorf("a replay is answered %d", code)
	}
	r.signal(syscall.SIGTERM)
	r.wantEnd(0)
}

// A forge that is down keeps nothing from being applied, and is told once.
func TestForgeIsDown(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, forges.GitHub, 1, "@every 1s")
	r.forge.Break(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	r.repo.Commit("edge.cue", declare(1, 25))
	r.start()
	r.pollReady()
	r.repo.Commit("edge.cue", declare(1, 26))
	r.poll("the pushed commit is live", func() bool { return r.platform.threshold(mem.FleetZone(1)) == 26 })
	r.poll("the forge is told", func() bool { return len(r.logged("outage began")) > 0 })
	r.signal(syscall.SIGTERM)
	r.wantEnd(0)
}
