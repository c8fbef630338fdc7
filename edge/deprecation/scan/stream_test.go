package scan

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

// generated is a reader that repeats a block up to a size, so that a large input
// costs neither disk nor memory.
type generated struct {
	block, after string
	left         int64
	pending      string
	ended        bool
}

func generate(before, block, after string, size int64) *generated {
	// Larger blocks, fewer steps.
	block = strings.Repeat(block, 1+(64<<10)/len(block))
	return &generated{block: block, after: after, left: size, pending: before}
}

func (g *generated) Read(p []byte) (int, error) {
	if g.pending == "" {
		switch {
		case g.left > 0:
			g.pending = g.block
			g.left -= int64(len(g.block))
		case !g.ended:
			g.pending, g.ended = g.after, true
		}
	}
	n := copy(p, g.pending)
	g.pending = g.pending[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

const (
	logLine    = `192.0.2.1 - - [01/Mar/2026:10:00:00 +0000] "GET /client/v4/zones/0123456789abcdef0123456789abcdef/rulesets?page=1 HTTP/1.1" 200 512 "-" "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"` + "\n"
	recordLine = `{"ts":"2026-03-01T10:00:00Z","level":"info","remote":"192.0.2.1","method":"GET","path":"/client/v4/zones/0123456789abcdef0123456789abcdef/rulesets","status":200,"bytes":512,"agent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"}` + "\n"
	harEntries = `{"request":{"method":"GET","url":"https://h.example/zones/1/rulesets","headers":[{"name":"accept","value":"*/*"}]},"response":{"content":{"text":"` + "{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}" + `"}}},`
)

// The needle of these inputs: what Keep looks for, and no line has.
var needle = []byte("/firewall/rules")

func keepNeedle(target []byte) bool { return bytes.Contains(target, needle) }

// large are inputs without a match, by the format they are in.
func large(size int64) map[Format]io.Reader {
	return map[Format]io.Reader{
		AccessLog: generate("", logLine, "", size),
		Records:   generate("", recordLine, "", size),
		Plain:     generate("", "GET /client/v4/zones/0123456789abcdef0123456789abcdef/rulesets\n", "", size/8),
		HAR:       generate(`{"log":{"entries":[`, harEntries, `{"request":{"method":"GET","url":"http://h/a"}}]}}`, size/8),
	}
}

// TestMemoryIsConstant reads 64 MB, in a soak 512, and looks at the heap on the way.
func TestMemoryIsConstant(t *testing.T) {
	const bound = 16 << 20
	size := int64(64 << 20)
	if soak.On {
		size = 512 << 20
	}
	for format, r := range large(size) {
		var before, during runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		watched := &watchedReader{r: r, every: 16 << 20, watch: func() {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			if now.HeapInuse > during.HeapInuse {
				during = now
			}
		}}
		stats, err := Reader(watched, string(format), Options{Keep: keepNeedle}, func(Call) error { return nil })
		if err != nil || stats.Format != format || stats.Lines == 0 || stats.Calls != 0 || stats.Skipped != 0 {
			t.Errorf("%s: %+v, %v", format, stats, err)
		}
		if watched.seen == 0 {
			watched.watch()
		}
		if grown := int64(during.HeapInuse) - int64(before.HeapInuse); grown > bound {
			t.Errorf("%s: the heap grows by %d MiB over a stream", format, grown>>20)
		}
	}
}

type watchedReader struct {
	r           io.Reader
	every, left int64
	seen        int
	watch       func()
}

func (w *watchedReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if w.left -= int64(n); w.left < 0 {
		w.left = w.every
		w.seen++
		w.watch()
	}
	return n, err
}

// BenchmarkReader measures inputs of which nothing matches; BenchmarkContains is
// the floor: searching the same bytes for one path.
func BenchmarkReader(b *testing.B) {
	const size = 64 << 20
	for _, format := range []Format{AccessLog, Records, Plain, HAR} {
		b.Run(string(format), func(b *testing.B) {
			text, err := io.ReadAll(large(size)[format])
			must.Do(b, err)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Reader(bytes.NewReader(text), "x", Options{Keep: keepNeedle}, func(Call) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkContains(b *testing.B) {
	text, err := io.ReadAll(large(64 << 20)[AccessLog])
	must.Do(b, err)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for rest := text; len(rest) > 0; { // by lines, as a reader must
			line, after, _ := bytes.Cut(rest, []byte("\n"))
			if bytes.Contains(line, needle) {
				b.Fatal("a line matches")
			}
			rest = after
		}
	}
}
