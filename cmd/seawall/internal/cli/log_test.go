package cli

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
)

// Both formats write durations as text and leave out what is empty, and no line has a page
// of HTML in it.
func TestLogAttributes(t *testing.T) {
	const page = "502: <!DOCTYPE html><html><body><h1>Bad\n gateway</h1></body></html>"
	for format, want := range map[string]string{
		"json": `"msg":"m","took":"1.5s","wait":"2m0s","n":0,"error":"502: Bad gateway","reason":"a <zone> of\n","failure":"502: Bad gateway","some":["a","b"]}`,
		"text": `INF m took=1.5s wait=2m0s n=0 error="502: Bad gateway" reason="a <zone> of" failure="502: Bad gateway" some="a; b"`,
	} {
		var out bytes.Buffer
		log, err := (&Terminal{Err: &out}).Logger(format, "info")
		must.Do(t, err)
		log.Info("m", "took", 1500*time.Millisecond, "empty", "", "none", nil, "list", []string{}, slog.Duration("wait", 2*time.Minute),
			"n", 0, "error", page, "reason", "a <zone> of\n", "failure", errors.New(page), "some", []string{"a", "b"})
		want = strings.Replace(want, `of\n`, "of", 1)
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: %s", format, out.String())
		}
	}
}
