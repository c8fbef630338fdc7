package ledger

import (
	"testing"

	"github.com/seawall-dev/seawall/diff"
)

func BenchmarkRecall10000(b *testing.B) {
	l := mustOpen(b, newPath(b))
	if err := l.Settle(b.Context(), "c1", fleet(10_000)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if got, err := l.Recall(b.Context()); err != nil || len(got.Applied) != 10_000 {
			b.Fatal(len(got.Applied), err)
		}
	}
}

// BenchmarkRecallChanged10000 has somebody write in between.
func BenchmarkRecallChanged10000(b *testing.B) {
	l := mustOpen(b, newPath(b))
	if err := l.Settle(b.Context(), "c1", fleet(10_000)); err != nil {
		b.Fatal(err)
	}
	for n := 0; b.Loop(); n++ {
		if err := l.Accept(b.Context(), "c1", diff.Size{Zones: n}); err != nil {
			b.Fatal(err)
		}
		if got, err := l.Recall(b.Context()); err != nil || len(got.Applied) != 10_000 || got.Size.Zones != n {
			b.Fatal(len(got.Applied), err)
		}
	}
}

// BenchmarkSettleUnchanged10000 is the end of a sweep that found all in sync.
func BenchmarkSettleUnchanged10000(b *testing.B) {
	l := mustOpen(b, newPath(b))
	all := fleet(10_000)
	for b.Loop() {
		if err := l.Settle(b.Context(), "c1", all); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen10000(b *testing.B) {
	path := newPath(b)
	if err := mustOpen(b, path).Settle(b.Context(), "c1", fleet(10_000)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		l, err := OpenReadOnly(path)
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
