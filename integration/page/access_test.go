package page

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/forge/forgetest"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// TestNothingWithoutLogin: other machines get no page and no resource without a login, and
// this one gets none where pages are off; health stays.
func TestNothingWithoutLogin(t *testing.T) {
	t.Parallel()
	s := harness.NewService(t, harness.StartPlatform(t, harness.Fleet(1)), harness.ServiceConfig{})
	s.Repo.Commit("edge.cue", harness.Declare(1, 25))
	text := s.Config.Text(s)
	for name, config := range map[string]string{
		"on every address": strings.Replace(text, `listen: "127.0.0.1:0"`, `listen: "0.0.0.0:0"`, 1),
		"switched off":     text + "web: pages: false\n",
	} {
		s.Configure(config)
		s.Start()
		s.PollReady()
		for _, path := range []string{"/", "/zones", "/zones/" + mem.FleetZone(1).Text(), "/api/v1/status", "/api/v1/zones", "/api/v1/openapi.json", "/events", "/grid.svg", "/login"} {
			if code, body := s.Get(path); code != http.StatusNotFound || !strings.Contains(body, "web.") || strings.Contains(body, "example") {
				t.Errorf("%s: %s: %d %s", name, path, code, body)
			}
		}
		if code, _ := s.Get("/healthz"); code != http.StatusOK {
			t.Errorf("%s: /healthz: %d", name, code)
		}
		s.Kill()
	}
}

// TestPagesNeedTheLogin: with a login, who sends a request must be known, on this machine too.
func TestPagesNeedTheLogin(t *testing.T) {
	t.Parallel()
	s := harness.NewService(t, harness.StartPlatform(t, harness.Fleet(1)), harness.ServiceConfig{})
	s.Repo.Commit("edge.cue", harness.Declare(1, 25))
	s.Configure(s.Config.Text(s) + `web: {login: proxy: from: ["127.0.0.1/32"], roles: all: {role: "viewer", users: ["proxy:ada"]}}` + "\n")
	s.Start()
	s.PollReady()
	ask := func(path, user string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Address()+path, http.NoBody)
		must.Do(t, err)
		if user != "" {
			req.Header.Set("X-Forwarded-User", user)
		}
		res, err := http.DefaultClient.Do(req)
		must.Do(t, err)
		_ = res.Body.Close()
		return res.StatusCode
	}
	for _, path := range []string{"/", "/api/v1/zones", "/api/v1/history"} {
		if none, ada, bob := ask(path, ""), ask(path, "ada"), ask(path, "bob"); none != 401 || ada != 200 || bob != 403 {
			t.Errorf("%s: %d without a user, %d for ada, %d for bob", path, none, ada, bob)
		}
	}
	// /status asks for no login, so that it is not served unless that is said.
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/metrics": http.StatusOK, "/status": http.StatusNotFound} {
		if code := ask(path, ""); code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
}

// TestPagesOfPullRequests: an open pull request has the review that its comment has.
func TestPagesOfPullRequests(t *testing.T) {
	t.Parallel()
	s := harness.NewService(t, harness.StartPlatform(t, harness.Fleet(2)), harness.ServiceConfig{})
	server := forgetest.Start(t, forge.GitHub, "acme/edge", filepath.Join(s.Repo.Dir, ".git"))
	s.Config.Source = fmt.Sprintf("url: %q", s.Repo.HTTP("", ""))
	s.Write("forge-token", server.Token)
	s.Configure(s.Config.Text(s) + fmt.Sprintf("forge: {kind: \"github\", url: %q, project: \"acme/edge\", token: file: %q}\n", server.URL, filepath.Join(s.Dir, "forge-token")))
	s.Repo.Commit("edge.cue", harness.Declare(2, 25))
	s.Start()
	s.PollReady()
	s.Repo.Git("checkout", "-q", "-B", "change", "main")
	head := s.Repo.Commit("edge.cue", harness.Declare(2, 26))
	s.Repo.Git("update-ref", "refs/pull/1/head", head)
	s.Repo.Git("checkout", "-q", "main")
	server.Open(forgetest.Pull{Number: 1, Author: "dev", Title: "Weaker <b>by one</b>"})
	s.Poll("it is reviewed", func() bool {
		list := get[inspect.PullRequestList](s, "/pulls")
		return list.Reviewed && len(list.PullRequests) == 1 && !list.PullRequests[0].ReviewedAt.IsZero()
	})
	one := get[inspect.PullRequest](s, "/pulls/1")
	if one.Head != head || one.Author != "dev" || one.Verdict != "success" || len(server.Comments(1)) != 1 || !strings.HasSuffix(strings.TrimSpace(server.Comments(1)[0].Body), strings.TrimSpace(one.Plan)) || !strings.HasPrefix(one.URL, "http") {
		t.Errorf("a review: %+v", one)
	}
	if code, body := s.Get("/pulls/1"); code != http.StatusOK || !strings.Contains(body, "Weaker &lt;b&gt;") {
		t.Errorf("its page: %d\n%s", code, body)
	}
	server.Set(1, func(p *forgetest.Pull) { p.State = "closed" })
	s.Hook()
	s.Poll("it is dropped", func() bool { return len(get[inspect.PullRequestList](s, "/pulls").PullRequests) == 0 })
	if code, _ := s.Get("/api/v1/pulls/1"); code != http.StatusNotFound {
		t.Errorf("one that is closed: %d", code)
	}
}
