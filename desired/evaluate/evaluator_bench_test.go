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

// BenchmarkEvaluateOneChanged evaluates a commit that touches one folder of 100 zones, with the rest
// in memory.
func BenchmarkEvaluateOneChanged(b *testing.B) {
	for _, zones := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(zones), func(b *testing.B) {
			f := newBenchFleet(b, zones)
			e := Evaluator{bounds: evaluationBounds, cache: &unitcache.Cache{}, merger: &compile.Merger{}} // each commit drives the other out
			f.compile(b, e, 0)
			n := 0
			withCPU(b, func() { n++; f.compile(b, e, n) })
		})
	}
}

// BenchmarkEvaluate evaluates a commit: with nothing kept; after a restart, with all on disk; and
// with all in memory. The last, "listing", is what is left of that: a worker that walks the
// commit's tree.
func BenchmarkEvaluate(b *testing.B) {
	for _, zones := range []int{1000, 10_000} { // nothing kept takes a minute for 100,000
		b.Run(fmt.Sprint(zones), func(b *testing.B) { benchEvaluate(b, newBenchFleet(b, zones)) })
	}
}

func benchEvaluate(b *testing.B, f benchFleet) {
	b.Run("cold", func(b *testing.B) {
		withCPU(b, func() { f.compile(b, Evaluator{bounds: evaluationBounds}, 0) })
	})
	b.Run("none_changed", func(b *testing.B) {
		e := Evaluator{bounds: evaluationBounds, cache: &unitcache.Cache{}}
		f.compile(b, e, 0)
		withCPU(b, func() { f.compile(b, e, 0) })
	})
	b.Run("restarted", func(b *testing.B) {
		cache, err := unitcache.Open(f.state)
		must.Do(b, err)
		defer cache.Close()
		f.compile(b, Evaluator{bounds: evaluationBounds, cache: cache}, 0)
		withCPU(b, func() {
			cache, err := unitcache.Open(f.state)
			must.Do(b, err)
			defer cache.Close()
			f.compile(b, Evaluator{bounds: evaluationBounds, cache: cache}, 0)
		})
	})
	b.Run("listing", func(b *testing.B) {
		withCPU(b, func() {
			if _, err := (Evaluator{bounds: evaluationBounds}).list(b.Context(), f.at(0)); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// benchFleet is a state folder with a store that has two commits, which differ in one folder.
type benchFleet struct {
	zones   int
	state   string
	commits [2]string
}

func (f benchFleet) at(n int) tree {
	return tree{Store: filepath.Join(f.state, "git"), Commit: f.commits[n%2]}
}

func (f benchFleet) compile(b *testing.B, e Evaluator, n int) {
	b.Helper()
	got, problems, err := e.compile(b.Context(), f.at(n))
	if err != nil || len(problems) > 0 || got.Zones() != f.zones {
		b.Fatalf("%d zones, %v, %v", got.Zones(), problems, err)
	}
}

// newBenchFleet declares zones in folders of 100.
func newBenchFleet(b *testing.B, zones int) benchFleet {
	b.Helper()
	f := benchFleet{zones: zones, state: b.TempDir()}
	origin, folders := gittest.New(b), zones/100
	for name, file := range compiletest.Fleet(zones, folders) {
		origin.Write(name, string(file.Data))
	}
	repo, err := gitrepo.Open(filepath.Join(f.state, "git"))
	must.Do(b, err)
	changed := fmt.Sprintf("team%04d/zones.cue", folders/2)
	text := string(compiletest.Fleet(zones, folders)[changed].Data)
	for i := range f.commits {
		origin.Commit(changed, strings.ReplaceAll(text, `"wordpress"`, fmt.Sprintf(`"wordpress%d"`, i)))
		fetched, err := repo.Fetch(b.Context(), gitrepo.Source{URL: "file://" + origin.Dir, Ref: "refs/heads/main"})
		must.Do(b, err)
		f.commits[i] = fetched.Commit
	}
	return f
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
