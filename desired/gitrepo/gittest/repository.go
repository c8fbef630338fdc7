// Package gittest is a real git repository to fetch from in tests, over every
// way there is: its path, HTTP with a password, and SSH with a key.
//
//	repo := gittest.New(t)
//	hash := repo.Commit("edge.cue", "package edge\n")
//	url := repo.HTTP("ada", "hunter2")
//
//	key := gittest.NewKey(t)
//	address, hostKey := repo.SSH("git", key.Public)
//	hosts := gittest.KnownHosts(address, hostKey)
//
// It needs the git of the machine, and keeps the machine's own configuration of
// git out of it.
package gittest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Env are the variables that make git the same on every machine. A test that
// fetches from a path within its own process sets them there too: see [Isolate].
var Env = []string{
	"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
	"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com",
	"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_TERMINAL_PROMPT=0",
}

// Isolate sets [Env] for the whole process, and hides its SSH agent. Call it
// from TestMain.
func Isolate() {
	for _, kv := range Env {
		name, value, _ := strings.Cut(kv, "=")
		os.Setenv(name, value)
	}
	os.Unsetenv("SSH_AUTH_SOCK")
}

// Repository is a repository as people push to it. Its methods end the test
// where git fails.
type Repository struct {
	Dir string // the work tree

	t testing.TB
}

// New makes an empty repository in edge.git of a temporary folder; its branch
// is main.
func New(t testing.TB) *Repository {
	t.Helper()
	r := &Repository{Dir: filepath.Join(t.TempDir(), "edge.git"), t: t}
	for _, name := range []string{"objects", "refs", "hooks"} {
		if err := os.MkdirAll(filepath.Join(r.Dir, ".git", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.Write(".git/HEAD", "ref: refs/heads/main\n")
	r.Write(".git/config", config)
	return r
}

// Open is a repository that is there already, such as a copy of one.
func Open(t testing.TB, dir string) *Repository { return &Repository{Dir: dir, t: t} }

// config is what "git init" writes, without the tidying that each commit would start a
// process for.
const config = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	logallrefupdates = true
[gc]
	auto = 0
[maintenance]
	auto = false
`

// Git runs git in the work tree and returns what it printed.
func (r *Repository) Git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.Dir
	cmd.Env = append(os.Environ(), Env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Write writes a file, and the folders it needs, without committing it.
func (r *Repository) Write(name, content string) {
	r.t.Helper()
	if err := os.WriteFile(r.place(name), []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// Link makes a symbolic link, without committing it.
func (r *Repository) Link(name, target string) {
	r.t.Helper()
	if err := os.Symlink(target, r.place(name)); err != nil {
		r.t.Fatal(err)
	}
}

// place makes the folders of a file and returns where it is.
func (r *Repository) place(name string) string {
	r.t.Helper()
	file := filepath.Join(r.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	return file
}

// Head returns the commit that is checked out. A branch that was committed to is a file,
// which costs no process; git finds the others.
func (r *Repository) Head() string {
	r.t.Helper()
	head, _ := os.ReadFile(filepath.Join(r.Dir, ".git", "HEAD"))
	branch, _ := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	if commit, err := os.ReadFile(filepath.Join(r.Dir, ".git", filepath.FromSlash(branch))); err == nil {
		return strings.TrimSpace(string(commit))
	}
	return r.Git("rev-parse", "HEAD")
}

// HTTP serves the repository to whoever knows user and password, both empty for
// anybody, and returns its address. To anybody else it repeats the credential,
// as some servers do.
func (r *Repository) HTTP(user, password string) string {
	r.t.Helper()
	server := httptest.NewServer(r.handler(user, password))
	r.t.Cleanup(server.Close)
	return server.URL + "/" + filepath.Base(r.Dir)
}

// programs is the folder of git's own programs; empty where git does not say.
var programs = sync.OnceValue(func() string {
	out, _ := exec.Command("git", "--exec-path").Output()
	return strings.TrimSpace(string(out))
})

func (r *Repository) handler(user, password string) http.Handler {
	backend := &cgi.Handler{
		Path: filepath.Join(programs(), "git-http-backend"), Root: "/",
		Env:    append(slices.Clone(Env), "GIT_PROJECT_ROOT="+filepath.Dir(r.Dir), "GIT_HTTP_EXPORT_ALL=1"),
		Stderr: io.Discard,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		gotUser, gotPassword, _ := req.BasicAuth()
		if gotUser != user || gotPassword != password {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, "no entry with %s and %q", gotPassword, req.Header.Get("Authorization"))
			return
		}
		backend.ServeHTTP(w, req)
	})
}
