package ledger

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
)

func BenchmarkRestore10000(b *testing.B) {
	l := mustOpen(b, newPath(b))
	must(b, l.Prove(b.Context(), "c1", nil, fleet(10_000)))
	for b.Loop() {
		if got, err := l.Restore(b.Context()); err != nil || len(got.Applied) != 10_000 {
			b.Fatal(len(got.Applied), err)
		}
	}
}

// BenchmarkProveUnchanged10000 is the end of a sweep that found all in sync.
func BenchmarkProveUnchanged10000(b *testing.B) {
	l := mustOpen(b, newPath(b))
	all := fleet(10_000)
	for b.Loop() {
		must(b, l.Prove(b.Context(), "c1", nil, all))
	}
}

func BenchmarkOpen10000(b *testing.B) {
	path := newPath(b)
	must(b, mustOpen(b, path).Prove(b.Context(), "c1", nil, fleet(10_000)))
	for b.Loop() {
		must(b, closed(OpenReadOnly(path)))
	}
}

// BenchmarkProve1000 is what 16 workers write while a commit reaches 1,000 zones.
func BenchmarkProve1000(b *testing.B) {
	l := mustOpen(b, newPath(b))
	for n := 0; b.Loop(); n++ {
		commit := strconv.Itoa(n)
		todo := make(chan diff.Settled)
		var workers sync.WaitGroup
		for range 16 {
			workers.Go(func() {
				for s := range todo {
					proof := reconcile.Proof{Scope: s.ID.Scope, Fingerprint: commit, Commit: commit}
					if err := l.Prove(b.Context(), commit, []reconcile.Proof{proof}, []diff.Settled{s}); err != nil {
						b.Error(err)
					}
				}
			})
		}
		for _, s := range fleet(1000) {
			todo <- s
		}
		close(todo)
		workers.Wait()
	}
}

// BenchmarkStanding10000 asks beside a fleet of proofs: while nobody writes, and after
// each write.
func BenchmarkStanding10000(b *testing.B) {
	l := mustOpen(b, newPath(b))
	proofs := make([]reconcile.Proof, 10_000)
	for i := range proofs {
		proofs[i] = reconcile.Proof{Scope: deployment(i).Scope, Fingerprint: "f", Commit: "c1"}
	}
	must(b, l.Prove(b.Context(), "c1", proofs, fleet(10_000)))
	for name, write := range map[string]bool{"at rest": false, "changed": true} {
		b.Run(name, func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				if write {
					b.StopTimer()
					must(b, l.NonConvergent(b.Context(), deployment(1), strconv.Itoa(n)))
					b.StartTimer()
				}
				if _, err := l.Standing(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHeals is the record of each write that corrects a drift, where changes are limited.
func BenchmarkHeals(b *testing.B) {
	l := clocked(b, newPath(b))
	before := processTime()
	for n := 0; b.Loop(); n++ {
		at := noon.Add(time.Duration(n) * time.Millisecond)
		write := benchWrite(n, "c1")
		write.Heals = &reconcile.Healing{Drift: reconcile.Drift{Scope: benchZone(n), At: at}, Before: at.Add(-time.Second)}
		_, err := l.RecordWrite(b.Context(), write, nil)
		must(b, err)
	}
	b.ReportMetric(float64((processTime()-before).Microseconds())/float64(b.N), "cpu-µs/op")
}
