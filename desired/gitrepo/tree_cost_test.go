package gitrepo_test

import (
	"fmt"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/must"
)

// listed lists the files of a commit that has so many folders with a file in each.
func listed(t testing.TB, folders int) (list func()) {
	t.Helper()
	u, r := gittest.New(t), open(t)
	for i := range folders {
		u.Write(fmt.Sprintf("f%04d/zones.cue", i), fmt.Sprintf("package f\nx: %d\n", i))
	}
	hash := u.Commit()
	fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"})
	return func() {
		_, err := r.Tree(hash, "", gitrepo.Limits{})
		must.Do(t, err)
	}
}

// To read a file costs its folder and those above it, however many others there are: of these,
// a name each.
func TestFilesCostWhatIsRead(t *testing.T) {
	var allocs []float64
	for _, folders := range []int{20, 420} {
		u, r := gittest.New(t), open(t)
		for i := range folders {
			u.Write(fmt.Sprintf("f%04d/zones.cue", i), fmt.Sprintf("package f\nx: %d\n", i))
		}
		hash := u.Commit()
		fetch(t, r, gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"})
		allocs = append(allocs, testing.AllocsPerRun(3, func() {
			files, err := r.Files(hash, "")
			must.Do(t, err)
			_, err = files.ReadFile("f0007/zones.cue")
			must.Do(t, err)
		}))
	}
	if each := (allocs[1] - allocs[0]) / 400; each > 15 {
		t.Errorf("each other folder takes %.0f allocations", each)
	}
}

// Listing a commit opens the pack once, and not for each folder and file: a folder with a file
// took 282 allocations then.
func TestTreeOpensThePackOnce(t *testing.T) {
	few, many := testing.AllocsPerRun(3, listed(t, 20)), testing.AllocsPerRun(3, listed(t, 220))
	if each := (many - few) / 200; each > 70 {
		t.Errorf("a folder with a file takes %.0f allocations", each)
	}
}

func BenchmarkTree(b *testing.B) {
	for _, folders := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(folders), func(b *testing.B) {
			list := listed(b, folders)
			b.ReportAllocs()
			for b.Loop() {
				list()
			}
		})
	}
}
