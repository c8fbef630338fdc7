package deprecations

import (
	"io"
	"strings"
	"testing"
	"time"
)

// A short input passes without a word; of a long one there is now and then one.
func TestProgressOfReading(t *testing.T) {
	for _, c := range []struct {
		ago  time.Duration
		want string
	}{{0, ""}, {time.Minute, "reading a.log: 3 MB of 6, 50 %"}} {
		var told []string
		began := time.Now().Add(-c.ago)
		f := &progress{
			Reader: strings.NewReader(strings.Repeat("x", 3_000_000)), name: "a.log", size: 6_000_000, began: began, last: began,
			show: func(stage string, _, _ int) { told = append(told, stage) },
		}
		if _, err := f.Read(make([]byte, 3_000_000)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(f); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(told, "|"); got != c.want {
			t.Errorf("begun %v ago: %q, want %q", c.ago, got, c.want)
		}
	}
}
