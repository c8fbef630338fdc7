package unitcache_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/unitcache"
	"github.com/seawall-dev/seawall/integration/must"
)

type cleaner interface {
	must.T
	Cleanup(func())
}

func tempDir(t cleaner) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "unitcache")
	must.Do(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func open(t cleaner, state string) *unitcache.Cache {
	t.Helper()
	cache, err := unitcache.Open(state)
	must.Do(t, err)
	t.Cleanup(func() { cache.Close() })
	return cache
}

// repository is the small one of the law, with its folders.
func repository(t must.T) (fstest.MapFS, []string) {
	t.Helper()
	fsys := tree(start())
	dirs, err := compile.Folders(fsys, ".")
	must.Do(t, err)
	return fsys, dirs
}

// kept are the files of the cache.
func kept(t must.T, state string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(state, "cache", "units", "*"))
	must.Do(t, err)
	hidden, _ := filepath.Glob(filepath.Join(state, "cache", "units", ".*")) // the pattern is sound
	return append(files, hidden...)
}

// A commit that touches one folder evaluates one folder; a restart none.
func TestOneFolderChanged(t *testing.T) {
	state := tempDir(t)
	cache := open(t, state)
	fsys, dirs := repository(t)
	all := len(dirs)
	steps := []struct {
		name    string
		do      func()
		want    unitcache.Count
		restart bool
	}{
		{"first", func() {}, unitcache.Count{Evaluated: all}, false},
		{"nothing", func() {}, unitcache.Count{Memory: all}, false},
		{"restart", func() {}, unitcache.Count{Disk: all}, true},
		{"one folder", func() { fsys["teams/a/zones.cue"].Data = []byte(zone(1, "", "1")) }, unitcache.Count{Evaluated: 1, Memory: all - 1}, false},
		{"and back", func() { fsys["teams/a/zones.cue"].Data = []byte(zone(1, "", "_level")) }, unitcache.Count{Disk: 1, Memory: all - 1}, false},
		{"a new folder", func() { fsys["teams/d/zones.cue"] = &fstest.MapFile{Data: []byte(zone(4, "", "1"))} }, unitcache.Count{Evaluated: 1, Memory: all}, false},
		{"a package that deep, lib, b and c use", func() { fsys["lib/deep/deep.cue"].Data = []byte(library("deep", 2, "")) }, unitcache.Count{Evaluated: 4, Memory: all - 3}, false},
		{"the root", func() { fsys["base.cue"].Data = []byte(base(3)) }, unitcache.Count{Evaluated: all + 1}, false},
	}
	for _, s := range steps {
		s.do()
		if s.restart {
			cache = open(t, state)
		}
		dirs, err := compile.Folders(fsys, ".")
		must.Do(t, err)
		if _, count := unitsOf(t, cache, fsys, dirs, nil); count != s.want {
			t.Errorf("%s: %+v, want %+v", s.name, count, s.want)
		}
	}
}

// Whatever happened to a file, its folder is evaluated anew and comes out the
// same; nothing of the file is believed.
func TestDamage(t *testing.T) {
	fsys, dirs := repository(t)
	want := fresh(fsys, dirs)
	for name, damage := range map[string]func(data, other []byte) []byte{
		"empty":          func([]byte, []byte) []byte { return nil },
		"cut":            func(data, _ []byte) []byte { return data[:len(data)-1] },
		"cut in half":    func(data, _ []byte) []byte { return data[:len(data)/2] },
		"longer":         func(data, _ []byte) []byte { return append(data, ' ') },
		"one bit":        func(data, _ []byte) []byte { data[len(data)/2] ^= 1; return data },
		"another zone":   func(data, _ []byte) []byte { return bytes.ReplaceAll(data, []byte("z1.example"), []byte("z2.example")) },
		"another's":      func(_, other []byte) []byte { return other },
		"another format": func(data, _ []byte) []byte { return bytes.Replace(data, []byte("unit 2"), []byte("unit 3"), 1) },
		"zeros":          func(data, _ []byte) []byte { return make([]byte, len(data)) },
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			unitsOf(t, open(t, state), fsys, dirs, nil)
			files := kept(t, state)
			var all [][]byte
			for _, file := range files {
				data, err := os.ReadFile(file)
				must.Do(t, err)
				all = append(all, data)
			}
			changed := 0
			for i, file := range files {
				data := damage(bytes.Clone(all[i]), bytes.Clone(all[(i+1)%len(all)]))
				if !bytes.Equal(data, all[i]) {
					changed++
				}
				must.Do(t, os.WriteFile(file, data, 0o600))
			}
			got, count := unitsOf(t, open(t, state), fsys, dirs, nil)
			if diff := gocmp.Diff(want, got); diff != "" || changed == 0 || count.Evaluated != changed {
				t.Errorf("%d files damaged, %+v; units (-evaluated +got):\n%s", changed, count, diff)
			}
			if _, count := unitsOf(t, open(t, state), fsys, dirs, nil); count.Disk != len(dirs) {
				t.Errorf("afterwards %+v, want all from disk", count)
			}
		})
	}
}

// A daemon and commands work on one folder at once, on commits of their own.
func TestManyAtOnce(t *testing.T) {
	state := tempDir(t)
	const levels = 3
	commit := func(n int) (fstest.MapFS, []string) {
		fsys, dirs := repository(t)
		fsys["teams/a/zones.cue"].Data = []byte(zone(1, "", fmt.Sprint(1+n%levels)))
		return fsys, dirs
	}
	var want [levels][]compile.Unit
	for n := range want {
		want[n] = fresh(commit(n))
	}
	var group sync.WaitGroup
	for process := range 4 {
		cache := open(t, state)
		for range 2 {
			group.Go(func() {
				for n := range 6 {
					fsys, dirs := commit(n + process)
					got, _ := unitsOf(t, cache, fsys, dirs, nil)
					if diff := gocmp.Diff(want[(n+process)%levels], got); diff != "" {
						t.Error(diff)
					}
				}
			})
		}
	}
	group.Wait()
	fsys, dirs := repository(t)
	unitsOf(t, open(t, state), fsys, dirs, nil)
	if _, count := unitsOf(t, open(t, state), fsys, dirs, nil); count.Disk != len(dirs) {
		t.Errorf("afterwards %+v, want all from disk", count)
	}
	if files, want := len(kept(t, state)), len(dirs)+levels; files != want {
		t.Errorf("%d files, want %d: one for each unit there was, and none half written", files, want)
	}
}

// What nobody uses goes, and what is used stays, as long as it is.
func TestUnusedGoes(t *testing.T) {
	state := tempDir(t)
	now := time.Now()
	cache := open(t, state)
	fsys, dirs := repository(t)
	unitsOf(t, cache, fsys, dirs, nil)
	writing := filepath.Join(state, "cache", "units", ".abandoned")
	must.Do(t, os.WriteFile(writing, []byte("half"), 0o600))
	for i := range 4 { // each time another value of one folder, 10 days apart
		now = now.Add(10 * 24 * time.Hour)
		fsys["teams/a/zones.cue"].Data = []byte(zone(1, "", fmt.Sprint(1+i)))
		unitsOf(t, cache, fsys, dirs, &unitcache.Order{Now: now})
	}
	if _, err := os.Stat(writing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that nobody goes on writing: %v", err)
	}
	if _, count := unitsOf(t, open(t, state), fsys, dirs, nil); count.Disk != len(dirs) {
		t.Errorf("in use are %+v, want all from disk", count)
	}
	fsys["teams/a/zones.cue"].Data = []byte(zone(1, "", "_level"))
	if _, count := unitsOf(t, open(t, state), fsys, dirs, nil); count.Evaluated != 1 {
		t.Errorf("unused for 40 days: %+v, want it evaluated anew", count)
	}
}

// The folder is bounded; what was used last stays.
func TestBoundedSize(t *testing.T) {
	state := tempDir(t)
	fsys, dirs := repository(t)
	unitsOf(t, open(t, state), fsys, dirs, nil)
	units := filepath.Join(state, "cache", "units")
	for i := range 5 {
		name := filepath.Join(units, fmt.Sprintf("%064d", i))
		must.Do(t, os.WriteFile(name, nil, 0o600))
		must.Do(t, os.Truncate(name, 60<<20)) // takes no space
		when := time.Now().Add(-time.Duration(5-i) * time.Hour)
		must.Do(t, os.Chtimes(name, when, when))
	}
	fsys["teams/a/zones.cue"].Data = []byte(zone(1, "", "1"))
	unitsOf(t, open(t, state), fsys, dirs, nil)
	for i := range 5 {
		_, err := os.Stat(filepath.Join(units, fmt.Sprintf("%064d", i)))
		if gone := errors.Is(err, fs.ErrNotExist); gone != (i == 0) {
			t.Errorf("file %d: %v; 4 of 60 MiB fit into 256", i, err)
		}
	}
	if _, count := unitsOf(t, open(t, state), fsys, dirs, nil); count.Disk != len(dirs) {
		t.Errorf("in use are %+v, want all from disk", count)
	}
}

// All units together are bounded, wherever they come from: what is kept must
// not let in what an evaluation would refuse.
func TestTooMuch(t *testing.T) {
	state := tempDir(t)
	fsys, dirs := repository(t)
	prints, err := compile.PrintsOf(fsys)
	must.Do(t, err)
	results, err := evaluate(fsys, dirs, 1<<30)
	must.Do(t, err)
	var sum int64
	for _, r := range results {
		sum += r.Encoded.Size()
	}
	units := func(cache *unitcache.Cache, most int64) (unitcache.Count, error) {
		_, count, err := cache.Units(unitcache.Order{Prints: prints, Folders: dirs, Now: time.Now(), Most: most},
			func(folders []string, room int64) ([]unitcache.Result, error) { return evaluate(fsys, folders, room) })
		return count, err
	}
	warm := open(t, state)
	if _, err := units(warm, sum); err != nil {
		t.Fatalf("as much as there is: %v", err)
	}
	for name, cache := range map[string]*unitcache.Cache{"nothing kept": nil, "in memory": warm, "on disk": open(t, state)} {
		if _, err := units(cache, sum-1); !errors.Is(err, unitcache.ErrTooMuch) {
			t.Errorf("%s: %v, want it refused", name, err)
		}
		if _, err := units(cache, sum); err != nil {
			t.Errorf("%s: %v, want it taken", name, err)
		}
	}
}

// Whoever asks about one folder has that one whole, and outlines of the others; these stay out
// of the memory.
func TestOneFolderWhole(t *testing.T) {
	state := tempDir(t)
	fsys, dirs := repository(t)
	want, _ := unitsOf(t, open(t, state), fsys, dirs, nil)
	cache := open(t, state)
	one := unitcache.Order{Now: time.Now(), Whole: func([]compile.Unit) map[string]bool { return map[string]bool{"teams/b": true} }}
	got, count := unitsOf(t, cache, fsys, dirs, &one)
	if all := len(dirs); count != (unitcache.Count{Disk: all, Outlined: all - 1}) {
		t.Errorf("%+v of %d folders", count, all)
	}
	for i, u := range want {
		if u.Dir != "teams/b" {
			var err error
			u, err = u.Encode().Outlined()
			must.Do(t, err)
		}
		if diff := gocmp.Diff(u, got[i]); diff != "" {
			t.Errorf("%s: %s", u.Dir, diff)
		}
	}
	if got, count := unitsOf(t, cache, fsys, dirs, nil); count.Disk != len(dirs) || gocmp.Diff(want, got) != "" {
		t.Errorf("afterwards %+v, want all whole, and from disk", count)
	}
}

// A look at a pull request finds what the branch has, and leaves it there.
func TestBeside(t *testing.T) {
	cache := &unitcache.Cache{}
	fsys, dirs := repository(t)
	unitsOf(t, cache, fsys, dirs, nil)
	pull := tree(start())
	pull["base.cue"].Data = []byte(base(4))
	if _, count := unitsOf(t, cache, pull, dirs, &unitcache.Order{Beside: true, Now: time.Now()}); count.Evaluated != len(dirs) {
		t.Errorf("the pull request: %+v, want all evaluated", count)
	}
	if _, count := unitsOf(t, cache, fsys, dirs, nil); count.Memory != len(dirs) {
		t.Errorf("the branch afterwards: %+v, want all in memory", count)
	}
}
