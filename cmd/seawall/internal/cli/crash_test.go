package cli

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/seawall-dev/seawall/desired"
)

type crashed struct{}

func (crashed) Error() string   { return "the worker crashed: exit status 2" }
func (crashed) Printed() string { return "panic: odd\n\tframe\x1b[2J" }

// Whatever ends by a process that crashed shows what that printed, without what would steer the terminal.
func TestWhatACrashedProcessPrintedIsShown(t *testing.T) {
	const printed = "    the process printed:\n      panic: odd\n          frame\\u{1b}[2J\n"
	var out bytes.Buffer
	terminal := &Terminal{Out: &out, Err: &out}
	terminal.ShowError(fmt.Errorf("fetching: %w", crashed{}))
	if want := "seawall: error: fetching: the worker crashed: exit status 2\n" + printed; out.String() != want {
		t.Errorf("%q\nwant %q", &out, want)
	}
	out.Reset()
	terminal.ShowProblems(&out, []desired.Problem{{Message: "it crashed", Hint: "report it", Printed: crashed{}.Printed()}, {Message: "other"}})
	if want := "it crashed\n    hint: report it\n" + printed + "other\n"; out.String() != want {
		t.Errorf("%q\nwant %q", &out, want)
	}
}
