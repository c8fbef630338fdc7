package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// BenchmarkWritten is what a ledger does for one zone of a fleet that a commit changes, with 16
// workers: it is asked what stands before the write is recorded and before it is sent, and
// records the write and its proof. The history has two earlier entries a zone.
func BenchmarkWritten(b *testing.B) {
	for _, zones := range []int{1000, 10_000, 100_000} {
		b.Run(strconv.Itoa(zones), func(b *testing.B) {
			l, at := provedFleet(b, zones), atomic.Int64{}
			b.ReportAllocs()
			b.ResetTimer()
			before := processTime()
			var workers sync.WaitGroup
			for range 16 {
				workers.Go(func() {
					for n := int(at.Add(1)); n <= b.N; n = int(at.Add(1)) {
						writeZone(b, l, n%zones, "c"+strconv.Itoa(1+n/zones))
					}
				})
			}
			workers.Wait()
			b.ReportMetric(float64((processTime()-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// provedFleet is a ledger with so many zones, in which a commit was proved.
func provedFleet(tb testing.TB, zones int) *Ledger {
	tb.Helper()
	l := clocked(tb, newPath(tb))
	must(tb, l.AcceptCommit(tb.Context(), reconcile.Acceptance{Commit: "c1"}))
	const most = 1000
	for from := 0; from < zones; from += most {
		var proofs []reconcile.Proof
		var owned []diff.Settled
		var entries []reconcile.Entry
		for n := from; n < min(from+most, zones); n++ {
			write := benchWrite(n, "c0")
			proofs = append(proofs, benchProof(n, "c0"))
			owned = append(owned, benchOwned(write))
			entries = append(entries, write, benchResult(int64(len(entries)+1), write))
		}
		must(tb, l.Prove(tb.Context(), "c1", proofs, owned, entries...))
	}
	return l
}

func writeZone(tb testing.TB, l *Ledger, n int, declared string) {
	ctx := tb.Context()
	stands := func() {
		if _, err := l.Standing(ctx); err != nil {
			tb.Error(err)
		}
	}
	stands()
	write := benchWrite(n, declared)
	number, err := l.RecordWrite(ctx, write, []diff.Settled{benchOwned(write)})
	if err != nil {
		tb.Error(err)
	}
	stands()
	err = l.Prove(ctx, "c1", []reconcile.Proof{benchProof(n, declared)}, []diff.Settled{benchOwned(write)}, benchResult(number, write))
	if err != nil {
		tb.Error(err)
	}
}

// benchWrite is as large as a usual one, to a zone whose id is as the platform's.
func benchWrite(n int, declared string) reconcile.Entry {
	e := healing(n)
	e.Trigger, e.Asked.Commit, e.Seen = reconcile.TriggerSync, "c1", "7"
	e.Subject.Scope = edge.ZoneScope(edge.ZoneID(benchText(n, "zone")[:32]))
	e.Declaration = benchText(n, declared)
	return e
}

func benchResult(number int64, write reconcile.Entry) reconcile.Entry {
	result := concluded(number, write.Subject, "8")
	result.Trigger, result.Asked.Commit = write.Trigger, write.Asked.Commit
	return result
}

func benchProof(n int, declared string) reconcile.Proof {
	return reconcile.Proof{Scope: benchWrite(n, declared).Subject.Scope, Fingerprint: benchText(n, declared), Labels: map[string]string{"tier": "gold"}, Commit: "c1"}
}

func benchOwned(write reconcile.Entry) diff.Settled {
	s := diff.Settled{ID: write.Subject.ID(), Version: "8"}
	for _, m := range write.Members {
		s.Owned = append(s.Owned, m.Path)
	}
	return s
}

func benchText(n int, what string) string {
	sum := sha256.Sum256(fmt.Append(nil, n, what))
	return hex.EncodeToString(sum[:])
}

// processTime is the processor time of this process so far.
func processTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
