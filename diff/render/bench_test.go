package render

import (
	"testing"

	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/integration/must"
)

func BenchmarkMarkdown1000(b *testing.B) {
	plan := planner.Make(difftest.Large(1000, 60).Input())
	b.ReportAllocs()
	for b.Loop() {
		must.Do(b, Markdown(discard{}, plan))
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
