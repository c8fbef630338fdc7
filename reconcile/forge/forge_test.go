package forge_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/forge/forgetest"
)

var kinds = []forge.Kind{forge.GitHub, forge.GitLab, forge.Gitea}

var (
	headA = strings.Repeat("a", 40)
	headC = strings.Repeat("c", 40)
)

// each runs a test with every forge.
func each(t *testing.T, test func(t *testing.T, s *forgetest.Server, f *forge.Forge)) {
	t.Helper()
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := forgetest.Start(t, kind, "acme/edge", "")
			test(t, s, client(t, s.Config()))
		})
	}
}

func client(t *testing.T, c forge.Config) *forge.Forge {
	t.Helper()
	f, err := forge.New(c)
	must.Do(t, err)
	return f
}

func TestPullRequests(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		s.Open(forgetest.Pull{Number: 1, Author: "ana", Title: "raise <b>paranoia</b>", Head: headA})
		s.Open(forgetest.Pull{Number: 2, Author: "mallory", Title: "from afar", Head: headC, Fork: true})
		s.Open(forgetest.Pull{Number: 3, Author: "ana", Title: "for another branch", Head: headC, Base: "release"})
		s.Open(forgetest.Pull{Number: 4, Author: "ana", Title: "done", Head: headC, State: "merged"})
		got, err := f.PullRequests(t.Context())
		must.Do(t, err)
		want := []reconcile.PullRequest{
			{Number: 1, Head: headA, Title: "raise <b>paranoia</b>", Author: "ana", AuthorID: s.ID("ana")},
			{Number: 2, Head: headC, Title: "from afar", Author: "mallory", AuthorID: s.ID("mallory"), Fork: true},
		}
		for i, pull := range got { // the address is of the example that the stand-in answers with
			if !strings.HasPrefix(pull.URL, "http") {
				t.Errorf("the page of pull request %d is %q", pull.Number, pull.URL)
			}
			got[i].URL = ""
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("pull requests (-want +got):\n%s", diff)
		}
	})
}

func TestHeadsOfARepository(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			bare := filepath.Join(t.TempDir(), "edge.git")
			first, second := repository(t, bare)
			ref := "refs/pull/7/head"
			if kind == forge.GitLab {
				ref = "refs/merge-requests/7/head"
			}
			git(t, bare, "update-ref", ref, first)
			s := forgetest.Start(t, kind, "acme/edge", bare)
			s.Open(forgetest.Pull{Number: 7, Author: "ana"})
			f := client(t, s.Config())
			for _, want := range []string{first, second} {
				git(t, bare, "update-ref", ref, want)
				got, err := f.PullRequests(t.Context())
				if err != nil || len(got) != 1 || got[0].Head != want {
					t.Errorf("got %+v, %v; want head %s", got, err, want)
				}
			}
		})
	}
}

// repository makes a bare repository of two commits, the first on main.
func repository(t *testing.T, bare string) (first, second string) {
	t.Helper()
	git(t, "", "init", "--quiet", "--bare", bare)
	tree := git(t, bare, "mktree", "--missing")
	first = git(t, bare, "commit-tree", "-m", "one", tree)
	second = git(t, bare, "commit-tree", "-m", "two", "-p", first, tree)
	git(t, bare, "update-ref", "refs/heads/main", first)
	return first, second
}

func git(t *testing.T, dir string, arg ...string) string {
	t.Helper()
	cmd := exec.Command("git", arg...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", arg, err)
	}
	return strings.TrimSpace(string(out))
}

func TestPages(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		s.PerPage(3)
		for n := range 10 {
			s.Open(forgetest.Pull{Number: n + 1, Author: "ana", Head: headA})
			s.Review(1, fmt.Sprintf("r%d", n), "APPROVED")
			s.Say(1, "ana", "remark")
		}
		got, err := f.PullRequests(t.Context())
		if err != nil || len(got) != 10 || got[9].Number != 10 {
			t.Errorf("got %d pull requests, %v", len(got), err)
		}
		who, err := f.Approvals(t.Context(), 1, headA, time.Time{})
		if err != nil || len(who) != 10 {
			t.Errorf("got approvals of %v, %v", who, err)
		}
		for range 2 {
			must.Do(t, f.Comment(t.Context(), 1, "<!-- m -->", "on page 4"))
		}
		if comments := s.Comments(1); len(comments) != 11 || comments[10].Edits != 0 {
			t.Errorf("there are %d comments, the last %+v", len(comments), comments[len(comments)-1])
		}
	})
}

// A list that is too long is an error: a part would look like the whole.
func TestTooManyPages(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, f *forge.Forge) {
		s.PerPage(1)
		for n := range 12 {
			s.Open(forgetest.Pull{Number: n + 1, Author: "ana", Head: headA})
		}
		got, err := f.PullRequests(t.Context())
		if err == nil || got != nil || !strings.Contains(err.Error(), "more open") {
			t.Errorf("got %d pull requests, %v", len(got), err)
		}
		if n := len(s.Requests()); n != 10 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestGroupsOfGitLab(t *testing.T) {
	s := forgetest.Start(t, forge.GitLab, "acme/platform/edge", "")
	s.Open(forgetest.Pull{Number: 1, Author: "ana", Head: headA})
	got, err := client(t, s.Config()).PullRequests(t.Context())
	if err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestNewRefuses(t *testing.T) {
	s := forgetest.Start(t, forge.GitHub, "acme/edge", "")
	empty := filepath.Join(t.TempDir(), "empty.pem")
	must.Do(t, os.WriteFile(empty, nil, 0o600))
	for name, test := range map[string]struct {
		change func(*forge.Config)
		want   string
	}{
		"kind":           {func(c *forge.Config) { c.Kind = "svn" }, `no kind of forge is called "svn"`},
		"generic":        {func(c *forge.Config) { c.Kind = forge.Generic }, `no kind of forge`},
		"no project":     {func(c *forge.Config) { c.Project = "edge" }, `"edge" is not the name of a project`},
		"climbing":       {func(c *forge.Config) { c.Project = "acme/.." }, "is not the name of a project"},
		"groups":         {func(c *forge.Config) { c.Project = "a/b/c" }, "it is owner/name"},
		"query":          {func(c *forge.Config) { c.Project = "a/b?c" }, "is not the name of a project"},
		"branch":         {func(c *forge.Config) { c.Branch = "refs/tags/v1" }, "is not a branch"},
		"no branch":      {func(c *forge.Config) { c.Branch = "" }, "is not a branch"},
		"no token":       {func(c *forge.Config) { c.Token = nil }, "the token is missing"},
		"timeout":        {func(c *forge.Config) { c.Timeout = -1 }, "below zero"},
		"in the clear":   {func(c *forge.Config) { c.URL = "http://git.example" }, "must be https"},
		"password":       {func(c *forge.Config) { c.URL = "https://u:hunter2@git.example" }, "must have neither user"},
		"gitea nowhere":  {func(c *forge.Config) { c.Kind, c.URL = forge.Gitea, "" }, "the address of the server is missing"},
		"a device":       {func(c *forge.Config) { c.CAFile = "/dev/null" }, "it is not a regular file"},
		"no authorities": {func(c *forge.Config) { c.CAFile = empty }, "holds no certificate"},
		"no file":        {func(c *forge.Config) { c.CAFile = "/nowhere" }, "/nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			c := s.Config()
			test.change(&c)
			_, err := forge.New(c)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, _ *forge.Forge) {
		release := make(chan struct{})
		t.Cleanup(func() { close(release) })
		s.Break(slow(release))
		c := s.Config()
		c.Timeout = 50e6
		_, err := client(t, c).PullRequests(t.Context())
		if err == nil || !strings.Contains(err.Error(), "no answer within 50ms") {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := client(t, s.Config()).PullRequests(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: got %v", err)
		}
	})
}
