package compile_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
	"github.com/seawall-dev/seawall/integration/must"
)

var update = flag.Bool("update", false, "write what is told into testdata/mistakes")

// Each archive of testdata/mistakes is a tree and, as its last file "want",
// what a person is told of it: a line for the problem, an indented one for the
// hint. The exported schema lies in the folder seawall of every tree that has a
// module.
func TestMistakes(t *testing.T) {
	names, err := filepath.Glob("testdata/mistakes/*.txtar")
	if err != nil || len(names) < 40 {
		t.Fatalf("corpus: %d archives, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			must.Do(t, err)
			fsys, want := unpack(archive)
			state, problems := compiletest.Tree(fsys, ".", "")
			if len(desired.Errors(problems)) > 0 && (state.Accounts != nil || state.Tokens != nil || state.User != nil) {
				t.Errorf("a tree with mistakes has a state: %+v", state)
			}
			got := report(problems)
			noNoise(t, got)
			if *update {
				rewrite(t, name, archive, got)
			} else if got != want {
				t.Errorf("told\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func unpack(archive *txtar.Archive) (fsys fstest.MapFS, want string) {
	fsys = fstest.MapFS{}
	for _, f := range archive.Files {
		if f.Name == "want" {
			want = string(f.Data)
			continue
		}
		fsys[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	if fsys["cue.mod/module.cue"] != nil {
		maps.Copy(fsys, exported())
	}
	return fsys, want
}

func exported() fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, data := range schema.Export() {
		fsys["seawall/"+name] = &fstest.MapFile{Data: data}
	}
	return fsys
}

func report(problems []desired.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		if p.Warning {
			b.WriteString("warning: ")
		}
		b.WriteString(p.String() + "\n")
		if p.Hint != "" {
			b.WriteString("    " + p.Hint + "\n")
		}
	}
	return b.String()
}

// noNoise holds that nothing of CUE's insides reaches a person.
func noNoise(t *testing.T, told string) {
	t.Helper()
	for _, noise := range []string{"_|_", "/seawall/", "empty disjunction", "out of bound", "does not satisfy", "matchN", "#ID", "#Key", "=~", "fsIOFS", "registry"} {
		if strings.Contains(told, noise) {
			t.Errorf("told %q of CUE's insides:\n%s", noise, told)
		}
	}
	if told == "" {
		t.Error("nothing was told")
	}
	for line := range strings.Lines(told) {
		if len(line) > 400 {
			t.Errorf("a line of %d bytes: %s", len(line), line)
		}
	}
}

func rewrite(t *testing.T, name string, archive *txtar.Archive, told string) {
	t.Helper()
	kept := archive.Files[:0]
	for _, f := range archive.Files {
		if f.Name != "want" {
			kept = append(kept, f)
		}
	}
	archive.Files = append(kept, txtar.File{Name: "want", Data: []byte(told)})
	must.Do(t, os.WriteFile(name, txtar.Format(archive), 0o644))
}
