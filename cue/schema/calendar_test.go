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
	"github.com/seawall-dev/seawall/integration/must"
)

var update = flag.Bool("update", false, "rewrite calendar.json")

// TestCalendarGolden holds the embedded JSON to the CUE it was made of.
func TestCalendarGolden(t *testing.T) {
	start := time.Now()
	v, err := Definition(cuecontext.New(), "#Published")
	if err == nil {
		err = v.Validate(cue.Concrete(true))
	}
	must.Do(t, err)
	data, err := v.MarshalJSON()
	must.Do(t, err)
	t.Logf("evaluating took %v", time.Since(start))
	var want bytes.Buffer
	must.Do(t, json.Indent(&want, data, "", "\t"))
	want.WriteByte('\n')
	if *update {
		must.Do(t, os.WriteFile("calendar.json", want.Bytes(), 0o644))
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
