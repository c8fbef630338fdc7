package search_test

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
)

// A tree may have as many files as it likes: what a search of it needs stays the
// same.
func TestTreeTakesConstantMemory(t *testing.T) {
	// What workers have in hand comes on top at any one time, so the least counts.
	held := func(files int) uint64 {
		least := uint64(math.MaxUint64)
		tree := fstest.MapFS{}
		text := []byte(strings.Repeat("x = get(f\"/zones/{z}/firewall/rules?page=1\")\n", 100))
		for i := range files {
			tree[fmt.Sprintf("d%d/f%d.py", i%50, i)] = &fstest.MapFile{Data: text}
		}
		runtime.GC()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		s := newSearch(t, nil)
		s.Progress = func(_ string, n int, _ int64) {
			if n%50 == 0 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				if n > files/2 {
					least = min(least, m.HeapAlloc-min(m.HeapAlloc, before.HeapAlloc))
				}
			}
		}
		if _, err := s.Tree(tree, "tree"); err != nil {
			t.Fatal(err)
		}
		return least
	}
	few, many := held(100), held(900)
	if many > few+8<<20 {
		t.Errorf("100 files take %d KiB, 900 take %d", few>>10, many>>10)
	}
}
