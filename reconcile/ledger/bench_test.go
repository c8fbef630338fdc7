package ledger

import "testing"

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
