//go:build unix

package gitrepo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
)

// BenchmarkFetchOneChanged fetches a commit that changes one folder, of a repository with 100 zones
// in each: 1,000, 10,000 and 100,000 zones.
func BenchmarkFetchOneChanged(b *testing.B) {
	for _, folders := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(100*folders), func(b *testing.B) {
			u, r := gittest.New(b), open(b)
			text := strings.Repeat("\"zone.example\": {id: \"00000000000000000000000000000001\", waf: core: {paranoia: 2}}\n", 100)
			for i := range folders {
				u.Write(fmt.Sprintf("f%04d/zones.cue", i), fmt.Sprintf("package f\n%s// %d\n", text, i))
			}
			u.Commit()
			source := gitrepo.Source{URL: "file://" + u.Dir, Ref: "refs/heads/main"}
			fetch(b, r, source)
			var spent int64
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				n++
				want := u.Commit("f0001/zones.cue", fmt.Sprintf("package f\n%s// push %d\n", text, n))
				begun := cpu(b)
				b.StartTimer()
				if got := fetch(b, r, source); got != want {
					b.Fatalf("fetched %s, want %s", got, want)
				}
				spent += cpu(b) - begun
			}
			b.ReportMetric(float64(spent)/float64(b.N), "cpu-ns/op")
		})
	}
}
