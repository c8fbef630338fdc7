package compile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
	"github.com/seawall-dev/seawall/integration/must"
)

// folder writes files below a new directory and links beside them.
func folder(t *testing.T, files, links map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(root, name), text)
	}
	for name, target := range links {
		must.Do(t, os.Symlink(target, filepath.Join(root, name)))
	}
	return root
}

func write(t *testing.T, name, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must.Do(t, os.WriteFile(name, []byte(text), 0o644))
}

func TestDir(t *testing.T) {
	root := folder(t, map[string]string{
		"cue.mod/module.cue": mod, "base.cue": "package edge\n_id: \"" + id1 + "\"\n",
		"z/a.cue":   "package edge\naccount: prod: {id: _id, zone: x: {id: \"" + id2 + "\", waf: {}}}\n",
		"README.md": "words", ".git/config": "x", ".git/hooks/x.cue": "nonsense",
	}, map[string]string{"z/doc.md": "../README.md", "_out": "/etc"})
	fsys, err := compile.Dir(root)
	must.Do(t, err)
	state, problems := compiletest.Tree(fsys, ".", "")
	if len(problems) > 0 || state.Zones() != 1 || state.Accounts[0].Zones[0].Origin.String() != "z/a.cue:2:32" {
		t.Errorf("got %+v, %v", state, problems)
	}
	if _, err := fs.ReadFile(fsys, "README.md"); err == nil {
		t.Error("a file that is not CUE can be read")
	}
	for _, name := range []string{"../x.cue", "/etc/passwd", "z/../../x.cue"} {
		if _, err := fsys.Open(name); err == nil {
			t.Errorf("%s can be opened", name)
		}
	}
}

func TestDirRefuses(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.cue")
	write(t, outside, "package a\naccount: {}\n")
	for name, test := range map[string]struct {
		files, links map[string]string
		want         string
	}{
		"link out":       {links: map[string]string{"a.cue": outside}, want: "a.cue: the target of the symbolic link is outside the folder or does not exist"},
		"link up":        {links: map[string]string{"a.cue": "../../x.cue"}, want: "a.cue: the target of the symbolic link is outside the folder or does not exist"},
		"folder out":     {links: map[string]string{"teams": filepath.Dir(outside)}, want: "teams: the target of the symbolic link is outside the folder or does not exist"},
		"link to folder": {files: map[string]string{"a/a.cue": "package a"}, links: map[string]string{"b": "a"}, want: "b: the target of the symbolic link is a folder"},
		"link to file":   {files: map[string]string{"a/a.cue": "package a"}, links: map[string]string{"b.cue": "a/a.cue"}, want: "b.cue: the symbolic link is not followed"},
		"too large":      {files: map[string]string{"a/a.cue": string(make([]byte, 2<<20))}, want: "a/a.cue: the file has 2 MiB; the limit is 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := compile.Dir(folder(t, test.files, test.links))
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestDirWithoutFolder(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "no")
	_, err := compile.Dir(missing)
	if want := missing + ": opening the folder: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A file that may not be read is named.
func TestUnreadableFile(t *testing.T) {
	got := compile.AsProblem(&fs.PathError{Op: "openat", Path: "eu/edge.cue", Err: fs.ErrPermission})
	if got.Origin.File != "eu/edge.cue" || got.Message != "cannot be read: permission denied" {
		t.Errorf("%+v", got)
	}
}
