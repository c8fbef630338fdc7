package evaluate

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/desired/unitcache"
	"github.com/seawall-dev/seawall/integration/must"
)

// BenchmarkCompile10000 evaluates 10,000 zones in 100 folders of a commit: with
// nothing kept; for a commit that touches one folder, with the rest in memory;
// the same after a restart, with the rest on disk; and with all in memory. The
// last, "listing", is what is left of that: a worker that walks the commit's tree.
func BenchmarkCompile10000(b *testing.B) {
	const zones = 10_000
	state, commits := benchRepository(b, zones, 100)
	at := func(n int) tree { return tree{Store: filepath.Join(state, "git"), Commit: commits[n%2]} }
	compileAt := func(b *testing.B, e Evaluator, n int) {
		b.Helper()
		got, problems, err := e.compile(b.Context(), at(n))
		if err != nil || len(problems) > 0 || got.Zones() != zones {
			b.Fatalf("%d zones, %v, %v", got.Zones(), problems, err)
		}
	}
	b.Run("cold", func(b *testing.B) {
		withCPU(b, func() { compileAt(b, Evaluator{bounds: evaluationBounds}, 0) })
	})
	b.Run("one_changed", func(b *testing.B) {
		e := Evaluator{bounds: evaluationBounds, cache: &unitcache.Cache{}, merger: &compile.Merger{}} // in memory: each commit drives the other out
		compileAt(b, e, 0)
		n := 0
		withCPU(b, func() { n++; compileAt(b, e, n) })
	})
	b.Run("none_changed", func(b *testing.B) {
		e := Evaluator{bounds: evaluationBounds, cache: &unitcache.Cache{}}
		compileAt(b, e, 0)
		withCPU(b, func() { compileAt(b, e, 0) })
	})
	b.Run("restarted", func(b *testing.B) {
		cache, err := unitcache.Open(state)
		must.Do(b, err)
		defer cache.Close()
		compileAt(b, Evaluator{bounds: evaluationBounds, cache: cache}, 0)
		withCPU(b, func() {
			cache, err := unitcache.Open(state)
			must.Do(b, err)
			defer cache.Close()
			compileAt(b, Evaluator{bounds: evaluationBounds, cache: cache}, 0)
		})
	})
	b.Run("listing", func(b *testing.B) {
		withCPU(b, func() {
			if _, err := (Evaluator{bounds: evaluationBounds}).list(b.Context(), at(0)); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// benchRepository is a state folder with a store that has two commits, which
// differ in one folder.
func benchRepository(b *testing.B, zones, folders int) (state string, commits [2]string) {
	b.Helper()
	origin, state := gittest.New(b), b.TempDir()
	for name, file := range compiletest.Fleet(zones, folders) {
		origin.Write(name, string(file.Data))
	}
	repo, err := gitrepo.Open(filepath.Join(state, "git"))
	must.Do(b, err)
	changed := fmt.Sprintf("team%04d/zones.cue", folders/2)
	text := string(compiletest.Fleet(zones, folders)[changed].Data)
	for i := range commits {
		origin.Commit(changed, strings.ReplaceAll(text, `"wordpress"`, fmt.Sprintf(`"wordpress%d"`, i)))
		fetched, err := repo.Fetch(b.Context(), gitrepo.Source{URL: "file://" + origin.Dir, Ref: "refs/heads/main"})
		must.Do(b, err)
		commits[i] = fetched.Commit
	}
	return state, commits
}

// withCPU runs a benchmark and tells the processor time of this process and its
// children.
func withCPU(b *testing.B, do func()) {
	b.ReportAllocs()
	before := processorTime(b)
	for b.Loop() {
		do()
	}
	b.ReportMetric(float64((processorTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

func processorTime(b *testing.B) (sum time.Duration) {
	b.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		must.Do(b, syscall.Getrusage(who, &usage))
		sum += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return sum
}
