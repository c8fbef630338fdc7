package gitrepo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/must"
)

// change is a commit that gives one file another content.
func change(base, name string) gitrepo.Branch {
	return gitrepo.Branch{
		Name: name, Base: base, Message: "Absorb shop.example\n",
		Files:  map[string][]byte{"teams/shop/zones.cue": []byte("b: 2\n")},
		Author: gitrepo.Author{Name: "Grace", Email: "grace@example.com", When: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)},
	}
}

// upstream is a repository that takes pushes.
func upstream(t *testing.T) (u *gittest.Repository, base string) {
	t.Helper()
	u = gittest.New(t)
	u.Git("config", "http.receivepack", "true")
	u.Commit("other.cue", "other: 1\n")
	return u, u.Commit("teams/shop/zones.cue", "b: 1\n", "teams/shop/more.cue", "more: 1\n", "z.cue", "z: 1\n")
}

// A push is one commit on a new branch, over each way that there is. Nothing else changes:
// not the branch that is followed, nor the work tree of the server, nor the store.
func TestPushMakesABranch(t *testing.T) {
	t.Parallel()
	u, base := upstream(t)
	key := gittest.NewKey(t)
	addr, host := u.SSH("git", key.Public)
	for name, source := range map[string]gitrepo.Source{
		"http":    {URL: u.HTTP("ada", "hunter2"), Ref: "refs/heads/main", Auth: basic("ada", "hunter2")},
		"ssh":     {URL: "ssh://git@" + addr + u.Dir, Ref: "refs/heads/main", Auth: sshAuth(t, key, gittest.KnownHosts(addr, host))},
		"file":    {URL: "file://" + u.Dir, Ref: "refs/heads/main"},
		"shallow": {URL: u.HTTP("", ""), Ref: "refs/heads/main", Shallow: true},
	} {
		r := open(t)
		fetch(t, r, source)
		pushed, err := r.Push(t.Context(), source, change(base, "absorb-"+name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		branch := "refs/heads/absorb-" + name
		if got := u.Git("rev-parse", branch); got != pushed.Commit {
			t.Errorf("%s: the branch is at %s, and %s was pushed", name, got, pushed.Commit)
		}
		if got := u.Git("diff", "--stat", "--summary", base, branch); !strings.Contains(got, "1 file changed, 1 insertion(+), 1 deletion(-)") || !strings.Contains(got, "zones.cue") {
			t.Errorf("%s: changed\n%s", name, got)
		}
		if got := u.Git("log", "-1", "--format=%P %an %ae %cn %s", branch); got != base+" Grace grace@example.com Grace Absorb shop.example" {
			t.Errorf("%s: %s", name, got)
		}
		u.Git("fsck", "--strict")
		if u.Head() != base || u.Git("status", "--porcelain") != "" {
			t.Errorf("%s: the server's own branch or work tree has changed", name)
		}
		if again, err := r.Push(t.Context(), source, change(base, "absorb-"+name)); err != nil || again.Commit != pushed.Commit {
			t.Errorf("%s: the same again: %+v, %v", name, again, err)
		}
		other := change(base, "absorb-"+name)
		other.Message = "Another\n"
		_, err = r.Push(t.Context(), source, other)
		wantError(t, err, gitrepo.ErrRejected, "pushing branch absorb-"+name, "the branch exists already")
		wantHint(t, err, "another name")
	}
}

// Where a push is not allowed, the error says who refuses it, and what to try.
func TestPushThatIsRefused(t *testing.T) {
	t.Parallel()
	u, base := upstream(t)
	source := gitrepo.Source{URL: u.HTTP("ada", "hunter2"), Ref: "refs/heads/main", Auth: basic("ada", "hunter2")}
	r := open(t)
	fetch(t, r, source)

	u.Git("config", "http.receivepack", "false")
	_, err := r.Push(t.Context(), source, change(base, "absorb"))
	wantError(t, err, gitrepo.ErrAuth, "pushing branch absorb to http://127.0.0.1")
	wantHint(t, err, "source.auth")
	wantNoSecret(t, err, "hunter2")
	u.Git("config", "http.receivepack", "true")

	wrong := source
	wrong.Auth = basic("ada", "s3cret")
	_, err = r.Push(t.Context(), wrong, change(base, "absorb"))
	wantError(t, err, gitrepo.ErrAuth, "pushing branch absorb")
	wantNoSecret(t, err, "s3cret")

	hook := filepath.Join(u.Dir, ".git", "hooks", "pre-receive")
	must.Do(t, os.WriteFile(hook, []byte("#!/bin/sh\necho no branches here\nexit 1\n"), 0o755))
	_, err = r.Push(t.Context(), source, change(base, "absorb"))
	wantError(t, err, gitrepo.ErrRejected, "pre-receive hook declined", "no branches here")
	if got := u.Git("branch", "--list", "absorb"); got != "" {
		t.Errorf("there is a branch %s", got)
	}
	must.Do(t, os.WriteFile(hook, []byte("#!/bin/sh\necho Create a pull request: https://git.example/new/absorb\n"), 0o755))
	pushed, err := r.Push(t.Context(), source, change(base, "absorb"))
	if err != nil || len(pushed.Server) != 1 || pushed.Server[0] != "Create a pull request: https://git.example/new/absorb" {
		t.Errorf("%+v, %v", pushed, err)
	}
}

func TestPushOfWhatIsNotThere(t *testing.T) {
	u, base := upstream(t)
	source := gitrepo.Source{URL: "file://" + u.Dir, Ref: "refs/heads/main"}
	r := open(t)
	fetch(t, r, source)
	b := change(base, "absorb")
	b.Files = map[string][]byte{"teams/none.cue": nil}
	_, err := r.Push(t.Context(), source, b)
	wantError(t, err, gitrepo.ErrPathNotFound, "it has no file teams/none.cue")
	b.Files = map[string][]byte{"none/zones.cue": nil}
	_, err = r.Push(t.Context(), source, b)
	wantError(t, err, gitrepo.ErrPathNotFound, "it has no folder none")
	_, err = r.Push(t.Context(), source, change(strings.Repeat("0", 40), "absorb"))
	wantError(t, err, gitrepo.ErrNoCommit)
	for _, name := range []string{"", "a b", "a:b", "refs/heads/", "a*", "a..b"} {
		_, err = r.Push(t.Context(), source, change(base, name))
		wantError(t, err, gitrepo.ErrSource, "not the name of a branch")
	}
}
