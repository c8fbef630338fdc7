package ledger

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// BenchmarkRecordOneChanged puts a commit that changes one zone on record, with the declarations of
// the whole fleet: some 20 bytes a zone, packed by who calls it.
func BenchmarkRecordOneChanged(b *testing.B) {
	for _, zones := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(zones), func(b *testing.B) {
			l := mustOpen(b, newPath(b))
			proofs := make([]reconcile.Proof, zones)
			for i := range proofs {
				proofs[i] = reconcile.Proof{Scope: deployment(i).Scope, Fingerprint: "f", Commit: "c0"}
			}
			must(b, l.Prove(b.Context(), "c0", proofs, fleet(zones)))
			state, random := make([]byte, 20*zones), rand.NewChaCha8([32]byte{})
			_, _ = random.Read(state)
			copy(state, "\x1f\x8b")
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				n++
				commit := fmt.Sprint("c", n)
				must(b, l.AcceptCommit(b.Context(), reconcile.Acceptance{Commit: commit, Given: []edge.Scope{deployment(n % zones).Scope}}))
				must(b, l.SaveState(b.Context(), commit, append(bytes.Clone(state), byte(n), byte(n>>8))))
			}
		})
	}
}
