package gitrepo_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestFetchLocal(t *testing.T) {
	u := gittest.New(t)
	want := u.Commit("a.cue", "a: 1\n")
	for _, url := range []string{u.Dir, "file://" + u.Dir} {
		r := open(t)
		if got := fetch(t, r, gitrepo.Source{URL: url, Ref: "refs/heads/main"}); got != want {
			t.Errorf("%s: commit %s, want %s", url, got, want)
		}
		if got := content(t, r, want, "a.cue"); got != "a: 1\n" {
			t.Errorf("%s: a.cue is %q", url, got)
		}
	}
}

func TestFetchFollowsTheRef(t *testing.T) {
	t.Parallel()
	u, r := gittest.New(t), open(t)
	first := u.Commit("a.cue", "a: 1\n")
	source := gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"}
	fetch(t, r, source)
	if got := fetch(t, r, source); got != first {
		t.Errorf("nothing new: commit %s, want %s", got, first)
	}
	second := u.Commit("a.cue", "a: 2\n")
	if got := fetch(t, r, source); got != second {
		t.Errorf("after a push: commit %s, want %s", got, second)
	}
	ancestry(t, r, first, second, true)

	u.Git("reset", "-q", "--hard", first)
	third := u.Commit("a.cue", "a: 3\n")
	if got := fetch(t, r, source); got != third {
		t.Errorf("after a force push: commit %s, want %s", got, third)
	}
	ancestry(t, r, second, third, false)
	ancestry(t, r, first, third, true)
	ancestry(t, r, third, third, true)
	if got := content(t, r, third, "a.cue"); got != "a: 3\n" {
		t.Errorf("a.cue is %q", got)
	}
}

func ancestry(t *testing.T, r *gitrepo.Repo, older, newer string, want bool) {
	t.Helper()
	got, err := r.Move(older, newer)
	if err != nil || got == gitrepo.Forward != want {
		t.Errorf("Move(%.7s, %.7s) = %v, %v, want forward: %v", older, newer, got, err, want)
	}
}

func TestFetchRefs(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	first := u.Commit("a.cue", "a: 1\n")
	u.Git("tag", "light")
	u.Git("tag", "-a", "-m", "heavy", "heavy")
	u.Git("tag", "-a", "-m", "twice", "twice", "heavy")
	u.Git("branch", "both", "main")
	second := u.Commit("a.cue", "a: 2\n")
	u.Git("tag", "both")
	for _, test := range []struct{ ref, want string }{
		{"refs/heads/main", second},
		{"refs/tags/light", first},
		{"refs/tags/heavy", first},
		{"refs/tags/twice", first},
		{"refs/heads/both", first},
		{"refs/tags/both", second},
	} {
		r := open(t)
		for range 2 { // the second time from the store
			if got := fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: test.ref}); got != test.want {
				t.Errorf("%q is %s, want %s", test.ref, got, test.want)
			}
		}
	}
}

func TestFetchHTTP(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	want := u.Commit("a.cue", "a: 1\n")
	tests := []struct {
		name string
		url  string
		auth gitrepo.Auth
	}{
		{"token", u.HTTP("x-access-token", "hunter2"), gitrepo.Auth{Token: edge.NewSecret("hunter2")}},
		{"basic", u.HTTP("ada", "hunter2"), basic("ada", "hunter2")},
		{"anonymous", u.HTTP("", ""), gitrepo.Auth{}},
	}
	for _, test := range tests {
		if got := fetch(t, open(t), gitrepo.Source{URL: test.url, Ref: "refs/heads/main", Auth: test.auth}); got != want {
			t.Errorf("%s: commit %s, want %s", test.name, got, want)
		}
	}
}

func TestFetchErrors(t *testing.T) {
	t.Parallel()
	u, empty := gittest.New(t), gittest.New(t)
	u.Commit("a.cue", "a: 1\n")
	u.Git("tag", "blob", "HEAD:a.cue")
	guarded := u.HTTP("ada", "correct-horse")
	status := func(code int) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "page", code)
		}))
		t.Cleanup(s.Close)
		return s.URL + "/edge.git"
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for _, test := range []struct {
		name   string
		source gitrepo.Source
		kind   gitrepo.Kind
		say    string
	}{
		{"missing branch", gitrepo.Source{URL: u.Dir, Ref: "refs/heads/mian"}, gitrepo.ErrRefNotFound, "fetching refs/heads/mian of " + u.Dir},
		{"tag of a file", gitrepo.Source{URL: u.Dir, Ref: "refs/tags/blob"}, gitrepo.ErrRefNotFound, "does not lead to a commit"},
		{"empty repository", gitrepo.Source{URL: empty.Dir, Ref: "refs/heads/main"}, gitrepo.ErrRefNotFound, "empty"},
		{"missing folder", gitrepo.Source{URL: u.Dir + "x", Ref: "refs/heads/main"}, gitrepo.ErrNotFound, "edge.gitx"},
		{"wrong password", gitrepo.Source{URL: guarded, Auth: basic("ada", "wrong-horse"), Ref: "refs/heads/main"}, gitrepo.ErrAuth, "edge.git"},
		{"wrong token", gitrepo.Source{URL: guarded, Auth: gitrepo.Auth{Token: edge.NewSecret("wrong-horse")}, Ref: "refs/heads/main"}, gitrepo.ErrAuth, "[secret]"},
		{"no credential", gitrepo.Source{URL: guarded, Ref: "refs/heads/main"}, gitrepo.ErrAuth, "edge.git"},
		{"forbidden", gitrepo.Source{URL: status(403), Ref: "refs/heads/main"}, gitrepo.ErrAuth, "edge.git"},
		{"not found", gitrepo.Source{URL: status(404), Ref: "refs/heads/main"}, gitrepo.ErrNotFound, "edge.git"},
		{"server error", gitrepo.Source{URL: status(503), Ref: "refs/heads/main"}, gitrepo.ErrUnreachable, "status 503"},
		{"nobody there", gitrepo.Source{URL: closed.URL + "/edge.git", Ref: "refs/heads/main"}, gitrepo.ErrUnreachable, "refused"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := open(t).Fetch(context.Background(), test.source)
			wantError(t, err, test.kind, test.say)
			wantNoSecret(t, err, "wrong-horse", "correct-horse", "YWRhOndyb25nLWhvcnNl")
		})
	}
}

// Git does not serve a folder that belongs to another user; no credential would help.
func TestFetchOfAnotherUsersFolder(t *testing.T) {
	u := gittest.New(t)
	u.Commit("a.cue", "a: 1\n")
	t.Setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
	_, err := open(t).Fetch(t.Context(), gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"})
	wantError(t, err, gitrepo.ErrOwner, "dubious ownership")
}

func TestFetchRefusesSources(t *testing.T) {
	key := &gitrepo.SSH{Key: edge.NewSecret("s3cret-key"), KnownHostsFile: "/etc/hosts"}
	for _, test := range []struct {
		source gitrepo.Source
		say    string
	}{
		{gitrepo.Source{}, "empty"},
		{gitrepo.Source{URL: "https://ada:s3cret@git.example/edge", Ref: "refs/heads/main"}, "user name"},
		{gitrepo.Source{URL: "https://s3cret@git.example/edge", Ref: "refs/heads/main"}, "user name"},
		{gitrepo.Source{URL: "ssh://ada:s3cret@git.example/edge", Ref: "refs/heads/main"}, "password"},
		{gitrepo.Source{URL: "ada:s3cret@git.example:edge", Ref: "refs/heads/main"}, "password"},
		{gitrepo.Source{URL: "https://git.example/edge?token=s3cret", Ref: "refs/heads/main"}, "query"},
		{gitrepo.Source{URL: "https://git.example/%zz-s3cret", Ref: "refs/heads/main"}, "parsed"},
		{gitrepo.Source{URL: "http://git.example/edge", Ref: "refs/heads/main"}, "plain http"},
		{gitrepo.Source{URL: "git://git.example/edge", Ref: "refs/heads/main"}, "not supported"},
		{gitrepo.Source{URL: "file://host/edge", Ref: "refs/heads/main"}, "names a host"},
		{gitrepo.Source{URL: "/edge", Auth: basic("ada", "s3cret"), Ref: "refs/heads/main"}, "needs no credential"},
		{gitrepo.Source{URL: "https://git.example/edge", Auth: gitrepo.Auth{SSH: key}, Ref: "refs/heads/main"}, "only with an ssh URL"},
		{gitrepo.Source{URL: "https://git.example/edge", Auth: gitrepo.Auth{Token: edge.NewSecret("s3cret"), SSH: key}, Ref: "refs/heads/main"}, "more than one"},
		{gitrepo.Source{URL: "git@git.example:edge", Ref: "refs/heads/main"}, "needs a key"},
		{gitrepo.Source{URL: "git@git.example:edge", Auth: gitrepo.Auth{SSH: key}, Ref: "refs/heads/main"}, "key cannot be read"},
		{gitrepo.Source{URL: "https://git.example/edge", Auth: gitrepo.Auth{Token: edge.NewSecret("s3cret"), Bearer: edge.NewSecret("s3cret")}, Ref: "refs/heads/main"}, "more than one"},
		{gitrepo.Source{URL: "git@git.example:edge", Auth: gitrepo.Auth{Bearer: edge.NewSecret("s3cret")}, Ref: "refs/heads/main"}, "needs a key"},
		{gitrepo.Source{URL: "https://git.example/edge", CA: "no certificate", Ref: "refs/heads/main"}, "has no certificate"},
		{gitrepo.Source{URL: "/edge", Ref: "refs/heads/*"}, "not a ref"},
		{gitrepo.Source{URL: "/edge", Ref: "refs/heads/a:b"}, "not a ref"},
		{gitrepo.Source{URL: "/edge", Ref: "main"}, "not a ref's full name"},
		{gitrepo.Source{URL: "/edge", Ref: strings.Repeat("ab", 20)}, "not a ref's full name"},
		{gitrepo.Source{URL: "/edge", Ref: "../HEAD"}, "not a ref"},
	} {
		_, err := open(t).Fetch(context.Background(), test.source)
		wantError(t, err, gitrepo.ErrSource, test.say)
		wantNoSecret(t, err, "s3cret")
	}
}

func TestFetchHeedsItsContext(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	defer silent.Close()
	host := gittest.NewKey(t).Public
	for _, source := range []gitrepo.Source{
		{URL: "http://" + silent.Addr().String() + "/edge.git"},
		{URL: "ssh://" + silent.Addr().String() + "/edge.git", Auth: sshAuth(t, gittest.NewKey(t), gittest.KnownHosts(silent.Addr().String(), host))},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		source.Ref = "refs/heads/main"
		_, err := open(t).Fetch(ctx, source)
		wantError(t, err, gitrepo.ErrUnreachable, "did not answer in time")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v is not a deadline's error", err)
		}
	}
}

func TestOpenRefusesForeignFolder(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "thesis.txt"), nil, 0o600))
	_, err := gitrepo.Open(dir)
	wantError(t, err, gitrepo.ErrStore, "neither empty nor a store")
}

func TestOpenIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "store")
	for range 2 {
		if _, err := gitrepo.Open(dir); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(dir)
	must.Do(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, want 0700", info.Mode().Perm())
	}
}

func wantError(t *testing.T, err error, kind gitrepo.Kind, say ...string) {
	t.Helper()
	var e *gitrepo.Error
	if !errors.As(err, &e) || !errors.Is(err, kind) {
		t.Fatalf("error %v, want one of kind %q", err, kind)
	}
	for _, part := range say {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

func wantHint(t *testing.T, err error, say string) {
	t.Helper()
	var e *gitrepo.Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint, say) {
		t.Errorf("the hint of %v does not say %q", err, say)
	}
}

func wantNoSecret(t *testing.T, err error, secrets ...string) {
	t.Helper()
	var e *gitrepo.Error
	errors.As(err, &e)
	for _, s := range secrets {
		if strings.Contains(err.Error()+e.Hint, s) {
			t.Errorf("error shows %q: %v (%s)", s, err, e.Hint)
		}
	}
}
