//go:build unix

package unitcache_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired/unitcache"
	"github.com/seawall-dev/seawall/integration/must"
)

// filled is a state folder whose cache has all units, and the folder of these.
func filled(t *testing.T) (state, units string) {
	t.Helper()
	state = tempDir(t)
	fsys, dirs := repository(t)
	unitsOf(t, open(t, state), fsys, dirs, nil)
	return state, filepath.Join(state, "cache", "units")
}

func TestFolderIsPrivate(t *testing.T) {
	state, units := filled(t)
	for path, want := range map[string]os.FileMode{filepath.Dir(units): 0o700, units: 0o700, kept(t, state)[0]: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

// Where others could write until now, nothing is believed.
func TestOthersCouldWrite(t *testing.T) {
	for _, mode := range []os.FileMode{0o770, 0o702, 0o777, 0o755} {
		state, units := filled(t)
		must.Do(t, os.Chmod(units, mode))
		fsys, dirs := repository(t)
		if _, count := unitsOf(t, open(t, state), fsys, dirs, nil); count.Evaluated != len(dirs) {
			t.Errorf("mode %v: %+v, want all evaluated", mode, count)
		}
		if info, err := os.Stat(units); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("mode %v: afterwards %v, %v", mode, info.Mode(), err)
		}
	}
}

// A cache that cannot be used on disk works in memory, and the error says why.
func TestNoUseOnDisk(t *testing.T) {
	type spoiled struct {
		spoil func(t *testing.T, state, units string)
		want  string
	}
	cases := map[string]spoiled{
		"symbolic link": {func(t *testing.T, state, units string) {
			must.Do(t, os.Rename(units, filepath.Join(state, "elsewhere")), os.Symlink("../elsewhere", units))
		}, "is not a folder"},
		"symbolic link above": {func(t *testing.T, state, units string) {
			must.Do(t, os.Rename(filepath.Dir(units), filepath.Join(state, "elsewhere")), os.Symlink("elsewhere", filepath.Dir(units)))
		}, "is not a folder"},
		"file": {func(t *testing.T, _, units string) {
			must.Do(t, os.RemoveAll(units), os.WriteFile(units, nil, 0o600))
		}, "is not a folder"},
		"no state": {func(t *testing.T, state, _ string) { must.Do(t, os.RemoveAll(state)) }, "no such file"},
	}
	if os.Geteuid() == 0 { // nobody else can give a folder away; TestMine is for all
		cases["somebody else's"] = spoiled{func(t *testing.T, _, units string) { must.Do(t, os.Chown(units, 12345, 12345)) }, "belongs to another user"}
		cases["somebody else's state"] = spoiled{func(t *testing.T, state, _ string) { must.Do(t, os.Chown(state, 12345, 12345)) }, "belongs to another user"}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			state, units := filled(t)
			c.spoil(t, state, units)
			cache, err := unitcache.Open(state)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			fsys, dirs := repository(t)
			if _, count := unitsOf(t, cache, fsys, dirs, nil); count.Evaluated != len(dirs) {
				t.Errorf("%+v, want all evaluated", count)
			}
			if _, count := unitsOf(t, cache, fsys, dirs, nil); count.Memory != len(dirs) {
				t.Errorf("%+v, want all in memory", count)
			}
		})
	}
}
