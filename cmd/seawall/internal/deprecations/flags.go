package deprecations

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

// Flags are the flags that list and check share.
type Flags struct {
	at, Dir, Output string
}

// AddTo adds the flags to a command; outputs are the forms that --output takes.
func (a *Flags) AddTo(cmd *cobra.Command, outputs ...string) {
	cmd.Flags().StringVar(&a.at, "at", "", "use the state of the calendar at `DATE`, such as 2027-01-01 (default today, in UTC)")
	cli.AddOutput(cmd, &a.Output, outputs...)
	_ = cmd.MarkFlagDirname("dir")
}

// Day reads --at. A time of day is accepted; only its day in UTC counts.
func (a Flags) Day(now func() time.Time) (time.Time, error) {
	if a.at == "" || a.at == "now" {
		return deprecation.DateOf(now()).Time(), nil
	}
	if at, err := time.Parse(time.RFC3339, a.at); err == nil {
		return deprecation.DateOf(at).Time(), nil
	}
	date, err := deprecation.ParseDate(a.at)
	if err != nil {
		return time.Time{}, cli.Fail(fmt.Errorf("--at: %w", err), "write an existing day in UTC, such as 2027-01-01")
	}
	return date.Time(), nil
}

// Load reads and evaluates a folder of desired state, and reports mistakes in it.
type Load func(ctx context.Context, t *cli.Terminal, dir string) (desired.State, error)

// CalendarOf is the calendar in force: the reference's, with what a folder of
// desired state corrects in it. Mistakes in the folder are reported, and end the
// command.
func CalendarOf(ctx context.Context, t *cli.Terminal, load Load, dir string) (deprecation.Calendar, []deprecation.Correction, desired.State, error) {
	published, err := schema.Calendar()
	if err != nil || dir == "" {
		return published, nil, desired.State{}, err
	}
	state, err := load(ctx, t, dir)
	if err != nil {
		return published, nil, state, err
	}
	calendar, corrections, err := published.With(state.CalendarAdditions())
	if err != nil {
		return published, nil, state, cli.Fail(err, "the calendar: field of the desired state corrects the deprecation calendar")
	}
	return calendar, corrections, state, nil
}
