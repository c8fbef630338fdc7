package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/deprecations"
	"github.com/seawall-dev/seawall/edge/deprecation/report"
)

func newDeprecations(t *cli.Terminal) *cobra.Command {
	return group(&cobra.Command{
		Use:   "deprecations",
		Short: "List deprecated API features and find who still uses them",
		Long: `The platform publishes a schedule of endpoints, fields and parameters that it
deprecates. Seawall contains the whole schedule. These commands show it and find
uses of deprecated features in logs, captures, scripts, API descriptions,
Terraform, source code, and in the integrations that a repository of desired state
declares. They need no network and no credential.

Exit codes, the highest that applies: 0 none, 2 deprecated, 3 past its end,
4 past its end without replacement; 1 failure.`,
		Example: `  seawall deprecations list --within 90d
  seawall deprecations check access.log
  seawall deprecations check src --at 2027-01-01`,
	}, newDeprecationsList(t), newDeprecationsCheck(t))
}

func newDeprecationsList(t *cli.Terminal) *cobra.Command {
	var a deprecations.Flags
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
			at, err := a.Day(time.Now)
			if err != nil {
				return err
			}
			days, err := parseDays(within)
			if err != nil {
				return err
			}
			calendar, corrections, _, err := deprecations.CalendarOf(cmd.Context(), t, a.Dir)
			if err != nil {
				return err
			}
			s := report.NewSchedule(calendar, corrections, at, days)
			if err := showSchedule(t, s, a.Output); err != nil {
				return err
			}
			return cli.ExitWith(s.ExitCode())
		},
	}
	cmd.Flags().StringVar(&a.Dir, "dir", "", "apply the corrections of the desired state in `DIR`")
	cmd.Flags().StringVar(&within, "within", "", "only what ends within `TIME` of the day, such as 90d or 12w")
	a.AddTo(cmd, "text", "json", "markdown")
	return cmd
}

func showSchedule(t *cli.Terminal, s report.Schedule, output string) error {
	switch output {
	case "json":
		return s.JSON(t.Out)
	case "markdown":
		return s.Markdown(t.Out)
	}
	return s.Text(t.Out, t.ColourOut)
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
	return 0, cli.Fail(fmt.Errorf("--within %q is no number of days or weeks", text), "write it as 90d or 12w")
}
