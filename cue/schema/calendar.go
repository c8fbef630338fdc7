package schema

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

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
var Calendar = sync.OnceValues(func() (deprecation.Calendar, error) {
	return builtIn[deprecation.Calendar](calendarJSON, "calendar")
})

// builtIn reads data that is a part of the program.
func builtIn[T any](data []byte, what string) (read T, err error) {
	if err = json.Unmarshal(data, &read); err != nil {
		err = fmt.Errorf("reading the built-in %s: %w", what, err)
	}
	return read, err
}
