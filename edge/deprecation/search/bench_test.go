package search_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seawall-dev/seawall/integration/must"
)

// sourceFile is a file of a program, of about so many bytes: mostly code, with
// paths of its own, and now and then a word of the calendar.
func sourceFile(i, size int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Package p%d serves the shop.\npackage p%d\n\n", i, i)
	for n := 0; b.Len() < size; n++ {
		switch {
		case i%10 == 0 && n == 3:
			fmt.Fprintf(&b, "\tuser := accounts.Find(\"/users/%%s/settings\", id%d) // the user's zones\n", n)
		case i%200 == 7 && n == 5:
			fmt.Fprintf(&b, "\tlist, err := client.Get(fmt.Sprintf(\"https://api.cloudflare.com/client/v4/zones/%%s/firewall/rules?page=%d\", zone))\n", n)
		default:
			fmt.Fprintf(&b, "\tif order%d, err := store.Load(ctx, \"orders/%d\"); err != nil { return fmt.Errorf(\"loading order %d: %%w\", err) }\n", n, n, n)
		}
	}
	return b.Bytes()
}

// writeTree makes a source tree in a git repository, so that git grep can search
// it too.
func writeTree(b *testing.B, dir string, files, size int) {
	for i := range files {
		name := filepath.Join(dir, fmt.Sprintf("d%d", i/100), fmt.Sprintf("f%d.go", i))
		if i%100 == 0 {
			must.Do(b, os.MkdirAll(filepath.Dir(name), 0o755))
		}
		must.Do(b, os.WriteFile(name, sourceFile(i, size), 0o644))
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}} {
		if out, err := exec.CommandContext(b.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			b.Skipf("git: %v %s", err, out)
		}
	}
}

// BenchmarkTree searches 100,000 files of 10 KiB, 1 GiB in all, beside git grep
// for one path, which is the least that could find anything.
func BenchmarkTree(b *testing.B) {
	const files, size = 100_000, 10 << 10
	dir := b.TempDir()
	writeTree(b, dir, files, size)
	b.Run("search", func(b *testing.B) {
		b.SetBytes(files * size)
		for b.Loop() {
			s := newSearch(b, nil)
			in, err := s.Tree(os.DirFS(dir), "tree")
			if err != nil || in.Files != files {
				b.Fatal(err, in.Files)
			}
			if n := s.Collector.Report(s.Matcher.Calendar()).Rules[0].Count; n != files/200 {
				b.Fatalf("%d calls are met", n)
			}
		}
	})
	b.Run("git-grep", func(b *testing.B) {
		b.SetBytes(files * size)
		for b.Loop() {
			out, err := exec.CommandContext(b.Context(), "git", "-C", dir, "grep", "-c", "/firewall/rules").Output()
			if err != nil || bytes.Count(out, []byte("\n")) != files/200 {
				b.Fatal(err)
			}
		}
	})
}

// A tree may have as many files as it likes: what a search of it needs stays the
// same.
func TestTreeTakesConstantMemory(t *testing.T) {
	// What workers have in hand comes on top at any one time, so the least counts.
	held := func(files int) uint64 {
		least := uint64(math.MaxUint64)
		tree := fstest.MapFS{}
		text := []byte(strings.Repeat("x = get(f\"/zones/{z}/firewall/rules?page=1\")\n", 200))
		for i := range files {
			tree[fmt.Sprintf("d%d/f%d.py", i%50, i)] = &fstest.MapFile{Data: text}
		}
		runtime.GC()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		s := newSearch(t, nil)
		s.Progress = func(_ string, n int, _ int64) {
			if n%100 == 0 {
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
	few, many := held(200), held(1600)
	if many > few+8<<20 {
		t.Errorf("200 files take %d KiB, 1600 take %d", few>>10, many>>10)
	}
}
