package ledger

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// BenchmarkRecordOneChanged puts a commit that changes one zone on record, with the declarations of
// the whole fleet: some 20 bytes a zone, in parts of 64 zones.
func BenchmarkRecordOneChanged(b *testing.B) {
	for _, zones := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(zones), func(b *testing.B) {
			l := mustOpen(b, newPath(b))
			proofs := make([]reconcile.Proof, zones)
			for i := range proofs {
				proofs[i] = reconcile.Proof{Scope: deployment(i).Scope, Fingerprint: "f", Commit: "c0"}
			}
			must(b, l.Prove(b.Context(), "c0", proofs, fleet(zones)))
			parts := partsOf(zones)
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				n++
				commit := fmt.Sprint("c", n)
				must(b, l.AcceptCommit(b.Context(), reconcile.Acceptance{Commit: commit, Given: []edge.Scope{deployment(n % zones).Scope}}))
				parts[len(parts)/2] = reconcile.PartOf([]byte(commit))
				must(b, l.SaveState(b.Context(), commit, parts))
			}
		})
	}
}

// partsOf is what a fleet declares, in parts as a daemon makes them.
func partsOf(zones int) []reconcile.StatePart {
	parts, random := make([]reconcile.StatePart, 2+zones/64), rand.NewChaCha8([32]byte{})
	for i := range parts {
		data := make([]byte, 20*64)
		_, _ = random.Read(data)
		parts[i] = reconcile.PartOf(data)
	}
	return parts
}
