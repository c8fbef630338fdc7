package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

var update = flag.Bool("update", false, "rewrite calendar.json")

// TestCalendarGolden holds the embedded JSON to the CUE it was made of.
func TestCalendarGolden(t *testing.T) {
	start := time.Now()
	v, err := Definition(cuecontext.New(), "#Published")
	if err == nil {
		err = v.Validate(cue.Concrete(true))
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := v.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("evaluating took %v", time.Since(start))
	var want bytes.Buffer
	if err := json.Indent(&want, data, "", "\t"); err != nil {
		t.Fatal(err)
	}
	want.WriteByte('\n')
	if *update {
		if err := os.WriteFile("calendar.json", want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(want.Bytes(), calendarJSON) {
		t.Error("calendar.json is not what calendar.cue says; run the test with -update")
	}
}

// BenchmarkCalendar reads what the golden test evaluates; a command that needs
// the calendar waits for it.
func BenchmarkCalendar(b *testing.B) {
	for b.Loop() {
		if _, err := builtIn[deprecation.Calendar](calendarJSON, "calendar"); err != nil {
			b.Fatal(err)
		}
	}
}
