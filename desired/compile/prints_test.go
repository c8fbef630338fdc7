package compile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/integration/must"
)

// A unit says which folders had a say in it: its own, those above, what it
// imports, directly or not, and where cue.mod was looked for.
func TestLooked(t *testing.T) {
	fsys := tree(map[string]string{
		"cue.mod/module.cue": mod,
		"base.cue":           "package edge\n",
		"teams/a/a.cue":      "package edge\n\nimport \"example.com/edge/lib\"\n\nuser: lib.#User\n",
		"teams/b/b.cue":      "package edge\n",
		"lib/lib.cue":        "package lib\n\nimport \"example.com/edge/lib/deep\"\n\n#User: deep.#User\n",
		"lib/deep/deep.cue":  "package deep\n\n#User: \"u\"\n",
	})
	a, b := new(compile.Compiler).Folder(fsys, "teams/a").Looked, new(compile.Compiler).Folder(fsys, "teams/b").Looked
	for _, folder := range []string{".", "teams", "teams/a", "cue.mod", "teams/a/cue.mod", "teams/cue.mod", "lib", "lib/deep"} {
		if !slices.Contains(a, folder) {
			t.Errorf("teams/a looked at %q, not at %s", a, folder)
		}
	}
	for _, folder := range []string{"lib", "lib/deep", "teams/a"} {
		if slices.Contains(b, folder) {
			t.Errorf("teams/b looked at %q, at %s for no reason", b, folder)
		}
	}
}

// broken is a tree with a file that cannot be read.
type broken struct {
	fstest.MapFS
	file string
	err  error
}

func (b broken) ReadFile(name string) ([]byte, error) {
	if name == b.file {
		return nil, &fs.PathError{Op: "read", Path: name, Err: b.err}
	}
	return b.MapFS.ReadFile(name)
}

// What could not be read may be readable the next time, even where the error
// says that something, a pack of the store, is not there. Such a unit says
// that it must not be kept.
func TestUnreadableIsNotKept(t *testing.T) {
	files := tree(map[string]string{"cue.mod/module.cue": mod, "base.cue": "package edge\n", "a/a.cue": "package edge\nuser: \"u\"\n"})
	if unit := new(compile.Compiler).Folder(files, "."); unit.Looked == nil {
		t.Error("all is readable: not to be kept")
	}
	for _, file := range []string{"a/a.cue", "base.cue", "cue.mod/module.cue"} {
		for _, err := range []error{errors.New("input/output error"), fmt.Errorf("opening a pack: %w", fs.ErrNotExist)} {
			if unit := new(compile.Compiler).Folder(broken{files, file, err}, "a"); unit.Looked != nil {
				t.Errorf("%s: %v: to be kept, with %v", file, err, unit.Problems)
			}
		}
	}
}

// The prints of a folder are of its files' names and contents, whoever knows the
// contents' hashes; those of other folders stay.
func TestPrints(t *testing.T) {
	base := map[string]string{"a/a.cue": "1", "a/b/b.cue": "2"}
	before := prints(t, tree(base))
	for name, c := range map[string]struct {
		files map[string]string
		a, b  bool // whether it changes
	}{
		"the same":        {map[string]string{"a/a.cue": "1", "a/b/b.cue": "2"}, false, false},
		"content":         {map[string]string{"a/a.cue": "x", "a/b/b.cue": "2"}, true, false},
		"name":            {map[string]string{"a/x.cue": "1", "a/b/b.cue": "2"}, true, false},
		"one more":        {map[string]string{"a/a.cue": "1", "a/x.cue": "", "a/b/b.cue": "2"}, true, false},
		"below":           {map[string]string{"a/a.cue": "1", "a/b/b.cue": "x"}, false, true},
		"another folder":  {map[string]string{"a/a.cue": "1", "a/b/b.cue": "2", "a/c/c.cue": ""}, false, false},
		"moved":           {map[string]string{"a/a.cue": "1", "a/b/c/b.cue": "2"}, false, true},
		"gone":            {map[string]string{"a/a.cue": "1"}, false, true},
		"pieces shifted":  {map[string]string{"a/a.cue1": "", "a/b/b.cue": "2"}, true, false},
		"a name's prefix": {map[string]string{"a/a.cu": "e1", "a/b/b.cue": "2"}, true, false},
	} {
		after := prints(t, tree(c.files))
		if a, b := after["a"] != before["a"], after["a/b"] != before["a/b"]; a != c.a || b != c.b {
			t.Errorf("%s: a changed %v, want %v; a/b changed %v, want %v", name, a, c.a, b, c.b)
		}
		if agree := after.Agree(before); agree == (c.a || c.b) {
			t.Errorf("%s: agrees: %v", name, agree)
		}
	}
	hashed := fstest.MapFS{"a/a.cue": {Sys: "c0ffee"}}
	other := fstest.MapFS{"a/a.cue": {Sys: "c0ffed"}}
	if prints(t, hashed)["a"] == prints(t, other)["a"] {
		t.Error("hashes that are known do not count")
	}
	if (compile.Prints{}).Agree(compile.Prints{"a": ""}) == false || (compile.Prints{"a": "1"}).Agree(compile.Prints{"a": ""}) {
		t.Error("a folder that was not there is there now, and that went unnoticed")
	}
}

func prints(t *testing.T, fsys fs.FS) compile.Prints {
	t.Helper()
	p, err := compile.PrintsOf(fsys)
	must.Do(t, err)
	return p
}
