package gitrepo_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/must"
)

const shop = "_tier: {\n\tparanoia: 2\n\tscore: 40\n}\nshop: _tier\nblog: _tier\n"

func TestLastChanges(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	first := u.Commit("zones.cue", shop)
	raised := u.Commit("zones.cue", strings.Replace(shop, "paranoia: 2", "paranoia: 3", 1))
	// A branch adds a line above; main changes another line; then they are merged.
	u.Git("checkout", "-q", "-b", "side")
	commented := u.Commit("zones.cue", "// All zones.\n"+strings.Replace(shop, "paranoia: 2", "paranoia: 3", 1))
	u.Git("checkout", "-q", "main")
	u.Commit("zones.cue", strings.Replace(strings.Replace(shop, "paranoia: 2", "paranoia: 3", 1), "blog: _tier\n", "", 1))
	u.Git("merge", "-q", "-m", "Merge", "side")
	u.Git("mv", "zones.cue", "all.cue")
	u.Git("commit", "-q", "-m", "Move")
	inside := u.Commit("all.cue", strings.Replace(read(t, filepath.Join(u.Dir, "all.cue")), "\tscore: 40\n", "", 1), "other.cue", "x: 1\n")

	r := open(t)
	tip := fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"})
	at := func(first, last int) gitrepo.Region { return gitrepo.Region{File: "all.cue", First: first, Last: last} }
	regions := []gitrepo.Region{at(3, 3), at(1, 1), at(5, 5), at(2, 4), at(4, 5)}
	found, err := r.LastChanges(t.Context(), tip, nil, regions)
	must.Do(t, err)
	for i, want := range []string{raised, commented, first, inside, first} {
		if got := found[i]; got.Hash != want || got.Cut || got.Uncommitted || !strings.HasPrefix(got.Author, "Ada") {
			t.Errorf("lines %v: %+v, want commit %s", regions[i], got, want)
		}
	}

	work, ok, err := gitrepo.FindWorkTree(u.Dir)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	now := strings.Replace(read(t, filepath.Join(u.Dir, "all.cue")), "paranoia: 3", "paranoia: 4", 1)
	found, err = work.LastChanges(t.Context(), map[string][]byte{"all.cue": []byte(now)}, regions[:2])
	if err != nil || !found[0].Uncommitted || found[1].Hash != commented {
		t.Errorf("with a change that is not committed: %+v, %v", found, err)
	}

	ended, end := context.WithCancel(t.Context())
	end()
	if found, err = r.LastChanges(ended, tip, nil, regions[:1]); err != nil || !found[0].Cut {
		t.Errorf("with no time left: %+v, %v", found, err)
	}
}

// What a shallow store has no history of is said to be older.
func TestLastChangesOfShallowHistory(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	u.Commit("zones.cue", shop)
	tip := u.Commit("other.cue", "x: 1\n")
	r := open(t)
	fetch(t, r, gitrepo.Source{URL: "file://" + u.Dir, Ref: "refs/heads/main", Shallow: true})
	found, err := r.LastChanges(t.Context(), tip, nil, []gitrepo.Region{{File: "zones.cue", First: 1, Last: 1}})
	if err != nil || !found[0].Cut || found[0].Hash != tip {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestFindWorkTree(t *testing.T) {
	t.Parallel()
	u := gittest.New(t)
	commit := u.Commit("edge/zones.cue", shop)
	second := filepath.Join(t.TempDir(), "second")
	u.Git("worktree", "add", "-q", "-b", "second", second)
	work, ok, err := gitrepo.FindWorkTree(filepath.Join(second, "edge"))
	if err != nil || !ok || work.Folder != "edge" {
		t.Fatalf("%+v, %v, %v", work, ok, err)
	}
	found, err := work.LastChanges(t.Context(), nil, []gitrepo.Region{{File: "edge/zones.cue", First: 2, Last: 2}})
	if err != nil || found[0].Hash != commit {
		t.Errorf("%+v, %v", found, err)
	}
	if _, ok, err := gitrepo.FindWorkTree(t.TempDir()); ok || err != nil {
		t.Errorf("a folder outside of git: %v, %v", ok, err)
	}
	empty := t.TempDir()
	gittest.Open(t, empty).Git("init", "-q")
	work, _, err = gitrepo.FindWorkTree(empty)
	must.Do(t, err)
	if found, err = work.LastChanges(t.Context(), nil, []gitrepo.Region{{File: "zones.cue", First: 1, Last: 1}}); err != nil || !found[0].Uncommitted {
		t.Errorf("before the first commit: %+v, %v", found, err)
	}
}

// BenchmarkLastChanges looks for twelve lines in a file that each of 1,000 commits changes.
func BenchmarkLastChanges(b *testing.B) {
	u := gittest.New(b)
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "zone%d: waf: _tier\n", i)
	}
	u.Commit("zones.cue", text.String())
	contents := make([]string, 1000)
	for i := range contents {
		contents[i] = text.String() + fmt.Sprintf("extra: %d\n", i)
	}
	chain := u.Chain("zones.cue", contents...)
	r := gitrepo.Reader(filepath.Join(u.Dir, ".git"))
	var regions []gitrepo.Region
	for i := range 12 {
		regions = append(regions, gitrepo.Region{File: "zones.cue", First: 10 * (i + 1), Last: 10 * (i + 1)})
	}
	for b.Loop() {
		ctx, end := context.WithTimeout(b.Context(), time.Minute)
		found, err := r.LastChanges(ctx, chain[len(chain)-1], nil, regions)
		end()
		if err != nil || found[0].Cut {
			b.Fatal(found, err)
		}
	}
}

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	must.Do(t, err)
	return string(text)
}
