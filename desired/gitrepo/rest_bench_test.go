//go:build unix

package gitrepo_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/must"
)

// BenchmarkFetchAtRest is a fetch that finds nothing new, which the daemon does
// every minute: 2,000 files in 100 folders, after 12 fetches.
func BenchmarkFetchAtRest(b *testing.B) {
	u := gittest.New(b)
	for i := range 2_000 {
		u.Write(fmt.Sprintf("f%02d/z%04d.cue", i%100, i), fmt.Sprintf("package f\nx: %d\n%s", i, strings.Repeat("// text\n", 30)))
	}
	u.Commit()
	r := open(b)
	source := gitrepo.Source{URL: u.Dir, Ref: "refs/heads/main"}
	for i := range 12 {
		u.Commit("f00/z0000.cue", fmt.Sprintf("package f\nx: %d\n", i))
		if _, err := r.Fetch(b.Context(), source); err != nil {
			b.Fatal(err)
		}
	}
	begun := cpu(b)
	for b.Loop() {
		if _, err := r.Fetch(b.Context(), source); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpu(b)-begun)/float64(b.N), "cpu-ns/op")
}

// cpu is the processor time that this process has taken, in nanoseconds.
func cpu(b *testing.B) int64 {
	var usage syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Utime.Nano() + usage.Stime.Nano()
}
