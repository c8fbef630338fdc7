package gitrepo_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/must"
)

func names(t *testing.T, files fs.FS) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(files, ".", func(name string, _ fs.DirEntry, err error) error {
		all = append(all, name)
		return err
	})
	must.Do(t, err)
	return all
}

func TestTreeIsAFileSystem(t *testing.T) {
	u, r := gittest.New(t), open(t)
	big := "// " + strings.Repeat("x", 4000) + "\n"
	hash := u.Commit(
		"README.md", "hello", "base.cue", "a: 1\n", "empty.cue", "",
		"cue.mod/module.cue", `module: "example.com/edge@v0"`, "cue.mod/pkg/x.example/y/data.json", "{}",
		"teams/a/zones.cue", big, "teams/a/notes.txt", "", "docs/guide.md", "", "teams/b.cue/inner.cue", "b: 1\n",
	)
	fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"})
	files := tree(t, r, hash, "")
	if err := fstest.TestFS(files, "base.cue", "teams/a/zones.cue", "cue.mod/module.cue"); err != nil {
		t.Error(err)
	}
	want := []string{
		".", "base.cue", "cue.mod", "cue.mod/module.cue", "cue.mod/pkg", "cue.mod/pkg/x.example",
		"cue.mod/pkg/x.example/y", "cue.mod/pkg/x.example/y/data.json", "empty.cue", "teams",
		"teams/a", "teams/a/zones.cue", "teams/b.cue", "teams/b.cue/inner.cue",
	}
	if diff := cmp.Diff(want, names(t, files)); diff != "" {
		t.Error(diff)
	}
	if got := content(t, r, hash, "teams/a/zones.cue"); got != big {
		t.Errorf("zones.cue has %d bytes, want %d", len(got), len(big))
	}
	if _, err := files.ReadFile("README.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("README.md: %v, want fs.ErrNotExist", err)
	}
	info, err := files.Stat("base.cue")
	if err != nil || info.Sys() != u.Git("rev-parse", "HEAD:base.cue") {
		t.Errorf("Sys of base.cue is %v, %v", info.Sys(), err)
	}
}

// Files shows the same files as Tree, whatever is asked for first, and reads what is asked for.
func TestFilesAreThoseOfTheTree(t *testing.T) {
	u, r := gittest.New(t), open(t)
	hash := u.Commit(
		"README.md", "hello", "base.cue", "a: 1\n", "empty.cue", "", "cue.mod/module.cue", `module: "example.com/edge@v0"`,
		"cue.mod/pkg/x.example/y/data.json", "{}", "teams/a/zones.cue", "b: 1\n", "teams/a/notes.txt", "", "docs/guide/text.md", "", "docs/x.md", "",
		"deep/er/text.md", "", "deep/est/one/x.cue", "c: 1\n", "teams/b.cue/inner.cue", "b: 1\n",
	)
	fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"})
	all := []string{
		".", "README.md", "base.cue", "cue.mod", "cue.mod/module.cue", "cue.mod/pkg/x.example/y", "cue.mod/pkg/x.example/y/data.json", "cue.mod/none",
		"teams", "teams/a", "teams/a/zones.cue", "teams/a/notes.txt", "teams/a/cue.mod", "teams/b.cue", "docs", "docs/guide", "docs/x.md", "deep", "deep/er",
		"deep/er/text.md", "deep/est", "deep/est/one", "deep/est/one/x.cue", "base.cue/x", "none/none", "../base.cue", "empty.cue",
	}
	for _, root := range []string{"", "teams", "deep/est"} {
		whole := tree(t, r, hash, root)
		for first := range all {
			files, err := r.Files(hash, root)
			must.Do(t, err)
			for i := range all {
				name := all[(first+i)%len(all)]
				if want, got := shownAs(whole, name), shownAs(files, name); got != want {
					t.Fatalf("below %q, %s is %q after %s, want %q", root, name, got, all[first], want)
				}
			}
		}
	}
}

// shownAs is what a tree has under a name. Folders in a folder are left out.
func shownAs(files *gitrepo.Tree, name string) string {
	info, err := files.Stat(name)
	if err != nil {
		return "no: " + fmt.Sprint(errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid))
	}
	if !info.IsDir() {
		data, err := files.ReadFile(name)
		return fmt.Sprint(info.Name(), info.Size(), info.Sys(), string(data), err)
	}
	entries, err := files.ReadDir(name)
	var in []string
	for _, e := range entries {
		if !e.IsDir() {
			in = append(in, e.Name())
		}
	}
	return fmt.Sprint(info.Name(), in, err)
}

func TestTreeBelowAPath(t *testing.T) {
	u, r := gittest.New(t), open(t)
	u.Commit("root.cue", "", "edge/base.cue", "", "edge/a/zones.cue", "", "other/x.cue", "", "bare/README", "")
	u.Link("other/link.cue", "x.cue") // not below the path: nobody's business
	hash := u.Commit()
	fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"})
	for path, want := range map[string][]string{
		"edge":    {".", "edge", "edge/a", "edge/a/zones.cue", "edge/base.cue"},
		"./edge/": {".", "edge", "edge/a", "edge/a/zones.cue", "edge/base.cue"},
		"edge/a":  {".", "edge", "edge/a", "edge/a/zones.cue"},
		"bare":    {".", "bare"},
	} {
		if diff := cmp.Diff(want, names(t, tree(t, r, hash, path))); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	for path, say := range map[string]string{
		"egde": `no folder "egde"`, "edge/b": `edge has no folder "b"`, "root.cue": "is a file",
		"../edge": "not a relative path", "/edge": "not a relative path",
	} {
		_, err := r.Tree(hash, path, gitrepo.Limits{})
		wantError(t, err, gitrepo.ErrPathNotFound, say)
	}
	_, err := r.Tree(hash, "egde", gitrepo.Limits{})
	if e := (*gitrepo.Error)(nil); !errors.As(err, &e) || e.Hint != "folders there: bare, edge, other" {
		t.Errorf("hint of %v", err)
	}
	for _, bad := range []string{"", "main", strings.Repeat("ab", 20)} {
		_, err := r.Tree(bad, ".", gitrepo.Limits{})
		wantError(t, err, gitrepo.ErrNoCommit, "reading commit")
	}
}

// TestTreeRefusals holds every way to lose a file without notice, all told at once.
func TestTreeRefusals(t *testing.T) {
	t.Parallel()
	u, r := gittest.New(t), open(t)
	u.Commit("a/good.cue", "a: 1\n", "a/README", "", "docs/x.md", "", "huge.bin", strings.Repeat("x", 3000))
	u.Write("big.cue", strings.Repeat("/", 2049))
	u.Write("lfs.cue", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n")
	u.Link("link.cue", "a/good.cue")
	u.Link("b", "a")
	u.Link("up", "../../etc")
	u.Link("etc", "/etc")
	u.Link("README", "a/README")     // harmless
	u.Link("dangling", "no/where")   // harmless
	u.Link("cue.mod/pkg", "../a")    // cue.mod is visible as a whole
	u.Link("a/here", "../a/./../a/") // a folder, however spelt
	sub := gittest.New(t)
	sub.Commit("s.cue", "s: 1\n")
	u.Git("-c", "protocol.file.allow=always", "submodule", "add", "-q", sub.Dir, "vendored")
	hash := u.Commit()
	fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"})

	want := []string{
		"a/here: is a symlink to the folder a, which is not followed",
		"b: is a symlink to the folder a, which is not followed",
		"big.cue: is 2.0 KiB, over the bound of 2 KiB for one file",
		"cue.mod/pkg: is a symlink, which is not followed",
		"etc: is a symlink to a target outside the repository",
		"lfs.cue: is a pointer of Git LFS, whose content is not fetched",
		"link.cue: is a symlink, which is not followed",
		"up: is a symlink to a target outside the repository",
		"vendored: is a submodule, which is not fetched",
	}
	got := problems(t, r, hash, gitrepo.Limits{FileBytes: 2048})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func problems(t *testing.T, r *gitrepo.Repo, hash string, limits gitrepo.Limits) []string {
	t.Helper()
	_, err := r.Tree(hash, ".", limits)
	var e *gitrepo.TreeError
	if !errors.As(err, &e) {
		t.Fatalf("Tree: %v, want a *TreeError", err)
	}
	for _, p := range e.Problems {
		if p.Origin.Commit != hash || p.Message == "" {
			t.Errorf("problem %+v lacks its origin", p)
		}
	}
	return strings.Split(err.Error(), "\n")
}

func TestTreeBounds(t *testing.T) {
	u, r := gittest.New(t), open(t)
	hash := u.Commit("a.cue", "12345", "b.cue", "12345", "c.cue", "12345", "x/y/z.txt", "")
	fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"})
	for _, test := range []struct {
		limits gitrepo.Limits
		want   string
	}{
		{gitrepo.Limits{Files: 2}, "c.cue: is one file more than the bound of 2"},
		{gitrepo.Limits{TreeBytes: 14}, "c.cue: takes the files over the bound of 14 bytes together"},
		{gitrepo.Limits{Entries: 5}, "x/y: the repository lists more than the bound of 5 files and folders"},
	} {
		if got := problems(t, r, hash, test.limits); !slices.Equal(got, []string{test.want}) {
			t.Errorf("%+v: %q", test.limits, got)
		}
	}
	exact := gitrepo.Limits{Files: 3, TreeBytes: 15, Entries: 6, FileBytes: 5}
	if _, err := r.Tree(hash, ".", exact); err != nil {
		t.Errorf("at the bounds: %v", err)
	}
}

// forge writes objects as no git would.
type forge struct{ *gittest.Repository }

func (f forge) tree(entries ...object.TreeEntry) plumbing.Hash {
	var b bytes.Buffer
	for _, e := range entries {
		fmt.Fprintf(&b, "%o %s\x00%s", e.Mode, e.Name, e.Hash[:])
	}
	return plumbing.NewHash(f.Object("tree", b.String()))
}

func (f forge) commit(tree plumbing.Hash) string {
	return f.Object("commit", "tree "+tree.String()+"\nauthor A <a@example.com> 0 +0000\ncommitter A <a@example.com> 0 +0000\n\nforged\n")
}

// TestTreeOfForgedObjects reads trees that git itself would never write but a
// server can send.
func TestTreeOfForgedObjects(t *testing.T) {
	t.Parallel()
	f := forge{gittest.New(t)}
	r := gitrepo.Reader(f.Dir + "/.git")
	blob := plumbing.NewHash(f.Object("blob", "a: 1\n"))
	file := func(name string) object.TreeEntry {
		return object.TreeEntry{Name: name, Mode: filemode.Regular, Hash: blob}
	}
	folder := func(name string, h plumbing.Hash) object.TreeEntry {
		return object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: h}
	}
	inner := f.tree(file("x.cue"))
	bomb, deep := inner, inner
	for range 12 {
		var same []object.TreeEntry
		for i := range 10 {
			same = append(same, folder(fmt.Sprintf("d%d", i), bomb))
		}
		bomb = f.tree(same...)
	}
	for range 70 {
		deep = f.tree(folder("d", deep))
	}
	for name, test := range map[string]struct {
		tree plumbing.Hash
		want string
	}{
		"parent":    {f.tree(folder("..", inner)), "contains the name \"..\", which cannot be used"},
		"slash":     {f.tree(file("../../etc/x.cue")), `contains the name "../../etc/x.cue"`},
		"newline":   {f.tree(file("a\nb.cue")), `contains the name "a\nb.cue"`},
		"not UTF-8": {f.tree(file("\xff.cue")), `contains the name "\xff.cue"`},
		"twice":     {f.tree(file("a.cue"), file("a.cue")), "a.cue: is listed twice"},
		"both":      {f.tree(file("a.cue"), folder("a.cue", inner)), "a.cue: is listed twice"},
		"bomb":      {bomb, "more than the bound of 1000 files and folders"},
		"deep":      {deep, "folders nest more than 64 deep"},
	} {
		got := problems(t, r, f.commit(test.tree), gitrepo.Limits{Entries: 1000})
		if len(got) != 1 || !strings.Contains(got[0], test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	missing := f.tree(file("a.cue"), object.TreeEntry{Name: "b.cue", Mode: filemode.Regular, Hash: plumbing.NewHash(strings.Repeat("ab", 20))})
	_, err := r.Tree(f.commit(missing), ".", gitrepo.Limits{})
	wantError(t, err, gitrepo.ErrStore, "b.cue")
}

func TestTreeReadByManyAtOnce(t *testing.T) {
	t.Parallel()
	u, r := gittest.New(t), open(t)
	const files = 200
	body := strings.Repeat("// filler\n", 120) // too long to be peeked at, so it is read on demand
	for i := range files {
		u.Write(fmt.Sprintf("teams/t%02d/zone%d.cue", i/20, i), fmt.Sprintf("zone: %d\n%s", i, body))
	}
	hash := u.Commit()
	fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"})
	teams := tree(t, r, hash, "teams")
	var wait sync.WaitGroup
	for part := range 4 {
		wait.Go(func() {
			for i := part; i < files; i += 4 {
				f, err := teams.Open(fmt.Sprintf("teams/t%02d/zone%d.cue", i/20, i))
				if err != nil {
					t.Error(err)
					return
				}
				if data, err := io.ReadAll(f); err != nil || string(data) != fmt.Sprintf("zone: %d\n%s", i, body) {
					t.Errorf("zone%d.cue: %d bytes, %v", i, len(data), err)
				}
			}
		})
	}
	wait.Wait()
}
