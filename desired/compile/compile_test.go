package compile_test

import (
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
	"github.com/seawall-dev/seawall/examples"
	"github.com/seawall-dev/seawall/integration/must"
)

const (
	id1 = "0123456789abcdef0123456789abcdef"
	id2 = "00000000000000000000000000000002"
	mod = "module: \"example.com/edge@v0\"\nlanguage: version: \"v0.16.0\"\n"
)

// tree makes a file system of names and texts.
func tree(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func valid(t *testing.T, files map[string]string) desired.State {
	t.Helper()
	state, problems := compiletest.Tree(tree(files), ".", "c0ffee")
	for _, p := range problems {
		t.Errorf("problem: %s (%s)", p, p.Hint)
	}
	return state
}

func TestOneZone(t *testing.T) {
	state := valid(t, map[string]string{"zones/shop.cue": oneZone})
	d := state.Accounts[0].Zones[0].Deployments[0]
	if got, want := d.Paranoia.Origin, (desired.Origin{File: "zones/shop.cue", Line: 9, Column: 4}); got != want {
		t.Errorf("origin of paranoia: got %v, want %v", got, want)
	}
	if !d.Enabled.Value || !d.Enabled.Origin.IsZero() {
		t.Errorf("enabled: got %+v, want true from nowhere", d.Enabled)
	}
}

// What a folder comes to does not depend on what was evaluated before it.
func TestCompilerIsFolder(t *testing.T) {
	var compiler compile.Compiler
	var trees []fs.FS
	small := compiletest.Fleet(3, 1)
	alone := new(compile.Compiler).Folder(small, "team0000")
	names, err := filepath.Glob("testdata/mistakes/*.txtar")
	must.Do(t, err)
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		must.Do(t, err)
		fsys, _ := unpack(archive)
		trees = append(trees, fsys)
	}
	for _, name := range []string{"fleet", "monorepo", "tokens"} {
		fsys, err := fs.Sub(examples.Files, name)
		must.Do(t, err)
		trees = append(trees, fsys)
	}
	trees = append(trees, compiletest.Fleet(30, 3))
	for _, fsys := range trees {
		dirs, err := compile.Folders(fsys, ".")
		if err != nil {
			continue // a mistake of the tree
		}
		for _, dir := range dirs {
			if diff := cmp.Diff(new(compile.Compiler).Folder(fsys, dir), compiler.Folder(fsys, dir)); diff != "" {
				t.Errorf("%s (-alone +after others):\n%s", dir, diff)
			}
		}
		if diff := cmp.Diff(alone, compiler.Folder(small, "team0000")); diff != "" {
			t.Errorf("after %s (-alone +after others):\n%s", dirs, diff)
		}
	}
}
