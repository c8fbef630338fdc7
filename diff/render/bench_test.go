package render

import (
	"testing"

	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/planner"
)

func BenchmarkMarkdown1000(b *testing.B) {
	plan := planner.Make(difftest.Large(1000, 60).Input())
	b.ReportAllocs()
	for b.Loop() {
		if err := Markdown(discard{}, plan); err != nil {
			b.Fatal(err)
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
