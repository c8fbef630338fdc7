package schema

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

// calendarJSON is calendar.cue, evaluated. CUE takes longer for that than many
// a command takes for its work, so it happens in a test, which writes the file
// with -update and holds the two equal without it.
//
//go:embed calendar.json
var calendarJSON []byte

// Calendar returns the reference's schedule of deprecations, as calendar.cue
// has it. It is read on the first call; what is returned must not be changed.
var Calendar = sync.OnceValues(readCalendar)

func readCalendar() (deprecation.Calendar, error) {
	var c deprecation.Calendar
	if err := json.Unmarshal(calendarJSON, &c); err != nil {
		return deprecation.Calendar{}, fmt.Errorf("reading the built-in calendar: %w", err)
	}
	return c, nil
}

// evaluatedCalendar is calendar.cue against #Calendar, as JSON.
func evaluatedCalendar() ([]byte, error) {
	v, err := Definition(cuecontext.New(), "#Published")
	if err != nil {
		return nil, err
	}
	if err := v.Validate(cue.Concrete(true)); err != nil {
		return nil, fmt.Errorf("evaluating calendar: %w", err)
	}
	return v.MarshalJSON()
}
