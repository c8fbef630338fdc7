package gitrepo_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// storeOf is a store whose folder the test looks into.
func storeOf(t *testing.T) (*gitrepo.Repo, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	r, err := gitrepo.Open(dir)
	must.Do(t, err)
	return r, dir
}

func packs(t *testing.T, dir string) int {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "pack-*.pack"))
	must.Do(t, err)
	return len(names)
}

// fsck lets real git judge the store.
func fsck(t *testing.T, dir string) {
	t.Helper()
	// Each of these files, which no store has, would be looked for by a process of its own.
	cmd := exec.Command("git", "-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false", "--git-dir", dir, "fsck", "--connectivity-only", "--no-dangling")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("git fsck: %v\n%s", err, out)
	}
}

func TestCommit(t *testing.T) {
	u, r := gittest.New(t), open(t)
	u.Write("a.cue", "a: 1\n")
	u.Git("add", "-A")
	t.Setenv("GIT_COMMITTER_DATE", "2026-02-03T04:05:06Z")
	u.Git("commit", "-q", "-m", "zones: raise paranoia", "-m", "It was low.")
	hash := fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"})
	got, err := r.Commit(hash)
	must.Do(t, err)
	want := gitrepo.CommitInfo{
		Hash: hash, Author: "Ada <ada@example.com>", Subject: "zones: raise paranoia",
		Time: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestGood(t *testing.T) {
	u := gittest.New(t)
	r, dir := storeOf(t)
	if hash, ok, err := r.Good(); hash != "" || ok || err != nil {
		t.Errorf("Good of a new store: %q, %v, %v", hash, ok, err)
	}
	err := r.SetGood(strings.Repeat("ab", 20))
	wantError(t, err, gitrepo.ErrNoCommit, "abab")

	good := u.Commit("a.cue", "a: 1\n")
	fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"})
	must.Do(t, r.SetGood(good))
	// Even when upstream forgets it.
	u.Git("checkout", "-q", "--orphan", "fresh")
	u.Commit("a.cue", "a: 2\n")
	u.Git("branch", "-q", "-M", "main")
	fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"})
	again, err := gitrepo.Open(dir)
	must.Do(t, err)
	if hash, ok, err := again.Good(); hash != good || !ok || err != nil {
		t.Errorf("Good after a restart: %q, %v, %v, want %q", hash, ok, err, good)
	}
	if got := content(t, again, good, "a.cue"); got != "a: 1\n" {
		t.Errorf("a.cue of the good commit is %q", got)
	}
}

// crowded is a limit of which 11 packs of one small commit take a third, so that the store
// is compacted and not only its small packs merged.
var crowded = gitrepo.FetchLimits{StoreBytes: 32 << 10}

func TestCompaction(t *testing.T) {
	t.Parallel()
	for _, shallow := range []bool{false, true} {
		t.Run(fmt.Sprintf("shallow=%v", shallow), func(t *testing.T) {
			u := gittest.New(t)
			sub := gittest.New(t)
			sub.Commit("s.cue", "")
			u.Git("-c", "protocol.file.allow=always", "submodule", "add", "-q", sub.Dir, "vendored")
			first := u.Commit("edge/a.cue", "a: 0\n", "edge/b.cue", "b: 0\n"+strings.Repeat("// long\n", 200))
			r, dir := storeOf(t)
			source := gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main", Shallow: shallow}
			fetch(t, r, source)
			must.Do(t, r.SetGood(first))
			held := tree(t, r, first, "edge") // opened before, read after
			const fetches = 6
			foreign := 51 // are too many for any store
			if shallow {
				foreign, source.Limits = 5, crowded
			}
			addPacks(t, dir, foreign)
			var contents []string
			for i := range fetches + 1 {
				contents = append(contents, fmt.Sprintf("a: %d\n", i+1))
			}
			commits := u.Chain("edge/a.cue", contents...)
			next, last := commits[fetches], commits[fetches-1]
			for _, commit := range commits[:fetches] {
				u.Point("refs/heads/main", commit)
				fetch(t, r, source)
			}
			if n := packs(t, dir); n > fetches {
				t.Errorf("%d packs after %d more fetches", n, fetches)
			}
			if n := unreachable(t, dir); n > 0 {
				t.Errorf("%d objects are kept that no ref reaches", n)
			}
			fsck(t, dir)
			files := tree(t, r, last, "edge")
			if got, err := files.ReadFile("edge/a.cue"); string(got) != contents[fetches-1] {
				t.Errorf("a.cue is %q, %v", got, err)
			}
			if got, err := held.ReadFile("edge/b.cue"); !strings.HasPrefix(string(got), "b: 0\n") {
				t.Errorf("b.cue of the good commit is %q, %v", got, err)
			}
			u.Point("refs/heads/main", next)
			fetch(t, r, source)
			ancestry(t, r, last, next, true)
			if !shallow {
				ancestry(t, r, first, next, true)
			}
		})
	}
}

// unreachable counts the objects of a store that none of its refs reaches.
func unreachable(t *testing.T, dir string) int {
	t.Helper()
	out, err := exec.Command("git", "--git-dir", dir, "fsck", "--connectivity-only", "--unreachable", "--no-dangling", "--no-reflogs").Output()
	must.Do(t, err)
	return strings.Count(string(out), "unreachable")
}

// addPacks adds packs of an object that no ref reaches, as forgotten fetches leave them.
func addPacks(t *testing.T, dir string, n int) {
	t.Helper()
	storage := filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRUDefault())
	for i := range n {
		var pack gittest.Pack
		pack.Blob(fmt.Append(nil, noise(t, 500), i))
		w, err := storage.PackfileWriter()
		must.Do(t, err)
		if _, err := w.Write(pack.Done()); err != nil {
			t.Fatal(err)
		}
		must.Do(t, w.Close())
	}
}

// TestShallowScript drives a store through what upstream histories do, on top
// of a cut history.
func TestShallowScript(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	first := u.Commit("a.cue", "a: 1\n", "old.cue", "old: 1\n")
	u.Git("rm", "-q", "old.cue")
	second := u.Commit("a.cue", "a: 2\n")
	third := u.Commit("a.cue", "a: 3\n")
	r, dir := storeOf(t)
	source := gitrepo.Source{URL: "file://" + u.Dir, Ref: "refs/heads/main", Shallow: true}
	step := func(name, hash, want string) {
		t.Helper()
		if got := fetch(t, r, source); got != hash {
			t.Errorf("%s: commit %s, want %s", name, got, hash)
		}
		if got := content(t, r, hash, "a.cue"); got != want {
			t.Errorf("%s: a.cue is %q, want %q", name, got, want)
		}
		fsck(t, dir)
	}
	step("first fetch", third, "a: 3\n")
	_, err := r.Commit(second)
	wantError(t, err, gitrepo.ErrNoCommit, "reading commit")

	fourth := u.Commit("a.cue", "a: 4\n")
	step("new commit", fourth, "a: 4\n")
	ancestry(t, r, third, fourth, true)

	u.Git("reset", "-q", "--hard", second)
	step("force push to before the cut", second, "a: 2\n")

	u.Git("reset", "-q", "--hard", fourth)
	step("force push back", fourth, "a: 4\n")

	// With bitmaps the server leaves out whatever our commits' history holds.
	u.Git("repack", "-q", "-a", "-d", "--write-bitmap-index")
	u.Git("checkout", "-q", first, "--", ".")
	reverted := u.Commit()
	step("revert to contents from before the cut", reverted, "a: 1\n")
	if got := content(t, r, reverted, "old.cue"); got != "old: 1\n" {
		t.Errorf("old.cue is %q", got)
	}

	u.Git("checkout", "-q", "-b", "side", second)
	u.Commit("side.cue", "s: 1\n")
	u.Git("checkout", "-q", "main")
	u.Git("merge", "-q", "--no-edit", "side")
	merge := u.Head()
	step("merge from before the cut", merge, "a: 1\n")
	ancestry(t, r, reverted, merge, true)

	u.Git("checkout", "-q", "--orphan", "fresh")
	u.Commit("a.cue", "a: 9\n")
	u.Git("branch", "-q", "-M", "main")
	step("another history", u.Head(), "a: 9\n")

	source.Shallow = false
	u.Git("reset", "-q", "--hard", fourth)
	step("no longer shallow", fourth, "a: 4\n")
	ancestry(t, r, first, fourth, true)
}

func TestFetchCleansUp(t *testing.T) {
	u := gittest.New(t)
	u.Commit("a.cue", "a: 1\n")
	r, dir := storeOf(t)
	fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"})
	left := []string{"refill-1/objects/x", "objects/pack/tmp_pack_1"}
	for _, name := range left {
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"})
	for _, name := range left {
		if _, err := os.Stat(filepath.Join(dir, name)); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

func TestWire(t *testing.T) {
	key := &gitrepo.SSH{
		User: "deploy", Key: edge.NewSecret("s3cret-key"), Passphrase: edge.NewSecret("s3cret-phrase"),
		KnownHostsFile: "/etc/hosts",
	}
	for _, auth := range []gitrepo.Auth{{}, {Token: edge.NewSecret("s3cret-token")}, {Bearer: edge.NewSecret("s3cret-bearer")}, basic("ada", "s3cret-pass"), {SSH: key}} {
		source := gitrepo.Source{URL: "https://git.example/e", Ref: "refs/heads/main", CA: "-----BEGIN CERTIFICATE-----", Auth: auth, Shallow: true}
		data, err := json.Marshal(source.Wire())
		must.Do(t, err)
		var back gitrepo.Wire
		must.Do(t, json.Unmarshal(data, &back))
		if diff := cmp.Diff(source, back.Source(), cmp.Comparer(edge.Secret.Equal)); diff != "" {
			t.Error(diff)
		}
		var log strings.Builder
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "wire", source.Wire())
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "source", source)
		shown := fmt.Sprintf("%v %+v %#v %s %v", back, back, back, back, &back) + log.String()
		if strings.Contains(shown, "s3cret") {
			t.Errorf("a secret shows: %s", shown)
		}
	}
}

func TestErrorSurvivesAPipe(t *testing.T) {
	_, err := open(t).Fetch(t.Context(), gitrepo.Source{URL: "/nowhere/edge.git", Ref: "refs/heads/main"})
	data, encodeErr := json.Marshal(err)
	must.Do(t, encodeErr)
	var back *gitrepo.Error
	must.Do(t, json.Unmarshal(data, &back))
	wantError(t, back, gitrepo.ErrNotFound, "/nowhere/edge.git")
	if back.Error() != err.Error() || back.Hint == "" {
		t.Errorf("%+v became %+v", err, back)
	}
}
