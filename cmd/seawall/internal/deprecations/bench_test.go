package deprecations

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/deprecation/report"
	"github.com/seawall-dev/seawall/integration/must"
)

// accessLines is a piece of a busy gateway's access log, about a megabyte, in
// which one line of a hundred leans on what goes away.
func accessLines() []byte {
	var b bytes.Buffer
	paths := []string{"/assets/site.css?v=12345", "/client/v4/zones/%032x", "/client/v4/zones/%032x/rulesets/phases/http_request_firewall_managed/entrypoint", "/client/v4/accounts/%032x/rulesets?page=2", "/login"}
	for i := range 5000 {
		path := paths[i%len(paths)]
		if i%100 == 99 {
			path = "/client/v4/zones/%032x/firewall/rules?page=1"
		}
		if strings.Contains(path, "%") {
			path = fmt.Sprintf(path, i%997)
		}
		fmt.Fprintf(&b, `192.0.2.%d - - [21/Nov/2026:10:%02d:%02d +0000] "GET %s HTTP/1.1" 200 %d "-" "export/1.4 (+https://shop.example)"`+"\n",
			i%256, i/60%60, i%60, path, 100+i)
	}
	return b.Bytes()
}

// endless repeats a piece until so many bytes were read.
type endless struct {
	piece    []byte
	at       int
	left     int64
	eachTime func() // called whenever the piece begins again
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 && e.at == 0 {
		return 0, io.EOF
	}
	n := copy(p, e.piece[e.at:])
	e.left -= int64(n)
	if e.at += n; e.at == len(e.piece) {
		e.at = 0
		if e.eachTime != nil {
			e.eachTime()
		}
	}
	return n, nil
}

func newChecking(t testing.TB) *Check {
	t.Helper()
	calendar, err := schema.Calendar()
	must.Do(t, err)
	matcher, err := deprecation.NewMatcher(calendar)
	must.Do(t, err)
	day := deprecation.Date("2026-11-21").Time()
	return &Check{Terminal: &cli.Terminal{Out: io.Discard, Err: io.Discard}, day: day, matcher: matcher, collector: report.NewCollector(day, nil)}
}

// BenchmarkCheck1GB reads a log of a gibibyte, beside grep counting the lines with
// one path: the least that could find anything in it.
func BenchmarkCheck1GB(b *testing.B) {
	const size = 1 << 30
	file := filepath.Join(b.TempDir(), "access.log")
	f, err := os.Create(file)
	must.Do(b, err)
	if _, err := io.Copy(f, &endless{piece: accessLines(), left: size}); err != nil {
		b.Fatal(err)
	}
	must.Do(b, f.Close())
	b.Run("check", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			f, err := os.Open(file)
			must.Do(b, err)
			c := newChecking(b)
			if _, err := c.calls(f, "access.log", size); err != nil {
				b.Fatal(err)
			}
			_ = f.Close()
			if n := c.collector.Report(c.matcher.Calendar()).Rules[0].Count; n < 10_000 {
				b.Fatalf("%d calls met", n)
			}
		}
	})
	b.Run("floor", func(b *testing.B) {
		grep, err := exec.LookPath("grep")
		if err != nil {
			b.Skip("there is no grep here")
		}
		b.SetBytes(size)
		for b.Loop() {
			// With its output thrown away, grep would stop at the first line.
			out, err := exec.CommandContext(b.Context(), grep, "-c", "/firewall/rules", file).Output()
			if err != nil || len(out) < 6 {
				b.Fatalf("%s lines, %v", out, err)
			}
		}
	})
}

// A log may be as long as it likes, and each of its lines another call that is
// met: what check needs for it stays the same.
func TestCheckTakesConstantMemory(t *testing.T) {
	var line int
	piece := make([]byte, 0, 1<<20)
	write := func() {
		piece = piece[:0]
		for len(piece) < 1<<20-200 {
			line++
			piece = fmt.Appendf(piece, `192.0.2.1 - - [21/Nov/2026:10:00:00 +0000] "GET /zones/%032d/firewall/rules?q=%d HTTP/1.1" 200 1`+"\n", line, line)
		}
	}
	peak := func(pieces int) (most uint64) {
		line = 0
		write()
		done := 0
		e := &endless{piece: piece, left: int64(pieces) * int64(len(piece))}
		e.eachTime = func() {
			write()
			e.piece = piece
			if done++; done%4 == 0 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
		c := newChecking(t)
		in, err := c.calls(e, "access.log", 0)
		must.Do(t, err)
		if r := c.collector.Report(c.matcher.Calendar()); r.Rules[0].Count != in.Lines || in.Lines < pieces*5000 {
			t.Errorf("%d of %d lines met", r.Rules[0].Count, in.Lines)
		}
		return most
	}
	short, long := peak(4), peak(20)
	if long > short+1<<20 {
		t.Errorf("4 MiB take %d KiB, 20 MiB take %d", short>>10, long>>10)
	}
}
