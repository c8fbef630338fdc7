package unitcache_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/unitcache"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

func TestMain(m *testing.M) { os.Exit(soak.Main(m, 12)) }

// The law of the cache: whatever commit follows whatever other, with the memory
// of a daemon or after restarts, the units are those of an evaluation that knows
// nothing. The commits are made of all that CUE brings together: files of a
// folder and those above it, packages that are imported, also by one another,
// and the module.
func TestCachedIsUncached(t *testing.T) {
	reused := 0
	rapid.Check(t, func(t *rapid.T) {
		state := tempDir(t)
		cache := open(t, state)
		files := start()
		for range rapid.IntRange(2, 4).Draw(t, "commits") {
			if rapid.Bool().Draw(t, "restart") {
				cache = open(t, state)
			}
			edits().Draw(t, "edit").apply(files)
			fsys := tree(files)
			dirs, err := compile.Folders(fsys, ".")
			if err != nil {
				continue // every file is gone
			}
			got, count := unitsOf(t, cache, fsys, dirs, nil)
			reused += count.Disk + count.Memory
			if diff := gocmp.Diff(fresh(fsys, dirs), got); diff != "" {
				t.Fatalf("%+v of\n%s\n(-evaluated +from the cache):\n%s", count, listed(files), diff)
			}
		}
	})
	if reused == 0 {
		t.Error("no unit ever came from the cache: the test says nothing")
	}
}

// unitsOf evaluates in this process what the cache has not.
func unitsOf(t must.T, cache *unitcache.Cache, fsys fs.FS, dirs []string, order *unitcache.Order) ([]compile.Unit, unitcache.Count) {
	t.Helper()
	prints, err := compile.PrintsOf(fsys)
	must.Do(t, err)
	o := unitcache.Order{Now: time.Now()}
	if order != nil {
		o = *order
	}
	o.Prints, o.Folders, o.Most = prints, dirs, 1<<30
	units, count, err := cache.Units(o, func(folders []string, room int64) ([]unitcache.Result, error) {
		return evaluate(fsys, folders, room)
	})
	must.Do(t, err)
	slices.SortFunc(units, func(a, b compile.Unit) int { return cmp.Compare(a.Dir, b.Dir) })
	return units, count
}

func evaluate(fsys fs.FS, folders []string, room int64) (results []unitcache.Result, err error) {
	var compiler compile.Compiler
	for _, dir := range folders {
		unit := compiler.Folder(fsys, dir)
		encoded := unit.Encode()
		if room -= encoded.Size(); room < 0 {
			return nil, unitcache.ErrTooMuch
		}
		results = append(results, unitcache.Result{Unit: unit, Encoded: encoded})
	}
	return results, nil
}

func fresh(fsys fs.FS, dirs []string) (units []compile.Unit) {
	for _, dir := range dirs {
		units = append(units, new(compile.Compiler).Folder(fsys, dir))
	}
	slices.SortFunc(units, func(a, b compile.Unit) int { return cmp.Compare(a.Dir, b.Dir) })
	return units
}

const (
	account = "0123456789abcdef0123456789abcdef"
	module  = "module: \"example.com/edge@v0\"\nlanguage: version: \"v0.16.0\"\n"
)

// start is a small repository with everything in it.
func start() map[string]string {
	return map[string]string{
		"cue.mod/module.cue": module,
		"base.cue":           base(2),
		"lib/lib.cue":        library("lib", 3, "example.com/edge/lib/deep"),
		"lib/deep/deep.cue":  library("deep", 1, ""),
		"teams/a/zones.cue":  zone(1, "", "_level"),
		"teams/b/zones.cue":  zone(2, "example.com/edge/lib", "lib.#Level"),
		"teams/c/zones.cue":  zone(3, "example.com/edge/lib/deep", "deep.#Level"),
	}
}

func base(level int) string {
	return fmt.Sprintf("package edge\n\n_level: %d\naccount: prod: {id: %q, ruleset: core: name: \"Core\"}\n", level, account)
}

// library is a package with a level, its own or another's.
func library(name string, level int, from string) string {
	if from == "" {
		return fmt.Sprintf("package %s\n\n#Level: %d\n", name, level)
	}
	return fmt.Sprintf("package %s\n\nimport %q\n\n#Level: %s.#Level\n#Own: %d\n", name, from, from[strings.LastIndex(from, "/")+1:], level)
}

func zone(n int, from, level string) string {
	head := "package edge\n\n"
	if from != "" {
		head += fmt.Sprintf("import %q\n\n", from)
	}
	return head + fmt.Sprintf("account: prod: zone: \"z%d.example\": {id: \"%032x\", waf: core: paranoia: %s}\n", n, n, level)
}

// edit is one thing that people do to a repository.
type edit struct{ file, text, to string }

func (e edit) apply(files map[string]string) {
	switch text, there := files[e.file]; {
	case e.to != "" && there:
		delete(files, e.file)
		files[e.to] = text
	case e.text == "":
		delete(files, e.file)
	default:
		files[e.file] = e.text
	}
}

func edits() *rapid.Generator[edit] {
	names := []string{
		"base.cue", "lib/lib.cue", "lib/deep/deep.cue", "lib/base.cue", "lib/more.cue", "teams/base.cue", "teams/a/zones.cue", "teams/b/zones.cue",
		"teams/c/zones.cue", "teams/b/more.cue", "teams/b/_off.cue", "teams/b/b_test.cue", "teams/d/zones.cue", "cue.mod/module.cue",
		"cue.mod/pkg/example.com/edge/lib/lib.cue", "teams/cue.mod/module.cue", "lib/deep/sub/sub.cue",
	}
	texts := []string{
		base(1), base(4), base(9), library("lib", 2, ""), library("lib", 4, ""), library("deep", 2, ""), library("deep", 4, ""),
		library("lib", 1, "example.com/edge/lib/deep"), "package edge\n\n#Level: 2\n", "package lib\n\n#Other: 1\n", "package other\n",
		zone(1, "", "_level"), zone(2, "", "3"), zone(2, "example.com/edge/lib", "lib.#Level"), zone(3, "example.com/edge/lib/deep", "deep.#Level"),
		zone(4, "example.com/edge/lib:lib", "lib.#Level"), zone(5, "example.com/other/lib", "lib.#Level"), "package edge\n\n@if(x)\n", "not CUE {",
		"package edge\n\n_level: 2\n", module, strings.Replace(module, "edge", "other", 1), strings.Replace(module, "16", "15", 1), "",
	}
	return rapid.Custom(func(t *rapid.T) edit {
		e := edit{file: rapid.SampledFrom(names).Draw(t, "file"), text: rapid.SampledFrom(texts).Draw(t, "text")}
		if rapid.IntRange(0, 4).Draw(t, "rename") == 0 {
			e.to = rapid.SampledFrom(names).Draw(t, "to")
		}
		return e
	})
}

func tree(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func listed(files map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "-- %s --\n%s", name, files[name])
	}
	return b.String()
}
