package gitrepo_test

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/edge"
)

// gitEnv keeps the machine's own git configuration out of the tests, those
// of this process's git-upload-pack included.
var gitEnv = []string{
	"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
	"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com",
	"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_TERMINAL_PROMPT=0",
}

func TestMain(m *testing.M) {
	for _, kv := range gitEnv {
		name, value, _ := strings.Cut(kv, "=")
		os.Setenv(name, value)
	}
	os.Unsetenv("SSH_AUTH_SOCK")
	os.Exit(m.Run())
}

// upstream is a repository as people push to it.
type upstream struct {
	t   testing.TB
	dir string
}

func newUpstream(t testing.TB) *upstream {
	t.Helper()
	u := &upstream{t, filepath.Join(t.TempDir(), "edge.git")}
	if err := os.Mkdir(u.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	u.git("init", "-q", "-b", "main")
	return u
}

func (u *upstream) git(args ...string) string {
	u.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = u.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		u.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (u *upstream) write(name, content string) {
	u.t.Helper()
	file := filepath.Join(u.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		u.t.Fatal(err)
	}
}

func (u *upstream) link(name, target string) {
	u.t.Helper()
	file := filepath.Join(u.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		u.t.Fatal(err)
	}
	if err := os.Symlink(target, file); err != nil {
		u.t.Fatal(err)
	}
}

// commit commits what is there, and pairs of name and content on top.
func (u *upstream) commit(pairs ...string) string {
	u.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		u.write(pairs[i], pairs[i+1])
	}
	u.git("add", "-A")
	u.git("commit", "-q", "--allow-empty", "-m", "change "+strings.Join(pairs, " "))
	return u.head()
}

func (u *upstream) head() string { return u.git("rev-parse", "HEAD") }

// http serves the repository at URL/edge.git to whoever knows user and password.
func (u *upstream) http(user, password string) string {
	u.t.Helper()
	backend := filepath.Join(u.git("--exec-path"), "git-http-backend")
	handler := &cgi.Handler{
		Path: backend, Root: "/",
		Env: append(slices.Clone(gitEnv), "GIT_PROJECT_ROOT="+filepath.Dir(u.dir), "GIT_HTTP_EXPORT_ALL=1"),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gotUser, gotPassword, _ := r.BasicAuth()
		if gotUser != user || gotPassword != password {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, "no entry with %s and %q", gotPassword, r.Header.Get("Authorization")) // some servers echo
			return
		}
		handler.ServeHTTP(w, r)
	}))
	u.t.Cleanup(server.Close)
	return server.URL + "/edge.git"
}

func open(t testing.TB) *gitrepo.Repo {
	t.Helper()
	r, err := gitrepo.Open(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func fetch(t testing.TB, r *gitrepo.Repo, s gitrepo.Source) string {
	t.Helper()
	hash, err := r.Fetch(context.Background(), s)
	if err != nil {
		t.Fatalf("Fetch: %v", err)
	}
	return hash
}

func tree(t testing.TB, r *gitrepo.Repo, hash, path string) *gitrepo.Tree {
	t.Helper()
	files, err := r.Tree(hash, path, gitrepo.Limits{})
	if err != nil {
		t.Fatalf("Tree: %v", err)
	}
	return files
}

func content(t testing.TB, r *gitrepo.Repo, hash, name string) string {
	t.Helper()
	data, err := fs.ReadFile(tree(t, r, hash, "."), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func basic(user, password string) gitrepo.Auth {
	return gitrepo.Auth{Basic: &gitrepo.Basic{Username: user, Password: edge.NewSecret(password)}}
}
