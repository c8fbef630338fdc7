package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/edge/deprecation/report"
)

func newDeprecationsList(t *terminal) *cobra.Command {
	var a almanac
	var within string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show the deprecation calendar",
		Long: `Show every rule of the deprecation calendar, the latest first: what ends, when,
its state on the day, and its replacement. With --dir the corrections of a
repository of desired state are applied and shown.

Exit codes, the highest of the rules that are listed: 0 none or announced,
2 deprecated, 3 past its end, 4 past its end without replacement; 1 failure.
The whole calendar contains rules that are long past, so the code is mostly 4
without --within. With --within it covers only what ends in that time.`,
		Example: `  seawall deprecations list
  seawall deprecations list --within 90d
  seawall deprecations list --at 2025-03-01 --within 90d
  seawall deprecations list --dir . -o json | jq .corrections`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("--output", a.output, a.outputs...); err != nil {
				return err
			}
			at, err := a.day(time.Now)
			if err != nil {
				return err
			}
			days, err := parseDays(within)
			if err != nil {
				return err
			}
			calendar, corrections, _, err := t.calendar(cmd, a.dir)
			if err != nil {
				return err
			}
			s := report.NewSchedule(calendar, corrections, at, days)
			if err := t.showSchedule(s, a.output); err != nil {
				return err
			}
			return exitWith(s.ExitCode())
		},
	}
	cmd.Flags().StringVar(&a.dir, "dir", "", "apply the corrections of the desired state in `DIR`")
	cmd.Flags().StringVar(&within, "within", "", "only what ends within `TIME` of the day, such as 90d or 12w")
	a.addTo(cmd, "text", "json", "markdown")
	return cmd
}

func (t *terminal) showSchedule(s report.Schedule, output string) error {
	switch output {
	case "json":
		return s.JSON(t.out)
	case "markdown":
		return s.Markdown(t.out)
	}
	return s.Text(t.out, t.colourOut)
}

// exitWith ends a command that has said everything; 0 is success.
func exitWith(code int) error {
	if code == 0 {
		return nil
	}
	return exitStatus(code)
}

// parseDays reads 90d or 12w; -1 where nothing is said.
func parseDays(text string) (int, error) {
	if text == "" {
		return -1, nil
	}
	for unit, days := range map[string]int{"d": 1, "w": 7} {
		number, ok := strings.CutSuffix(text, unit)
		if n, err := strconv.Atoi(number); ok && err == nil && n >= 0 && n <= math.MaxInt32/7 {
			return n * days, nil
		}
	}
	return 0, fail(fmt.Errorf("--within %q is no number of days or weeks", text), "write it as 90d or 12w")
}
