package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

func newDeprecations(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
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
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newDeprecationsList(t), newDeprecationsCheck(t))
	return cmd
}

// almanac is what list and check share: the day and whose calendar.
type almanac struct {
	at, dir, output string
	outputs         []string
}

func (a *almanac) addTo(cmd *cobra.Command, outputs ...string) {
	a.outputs = outputs
	flags := cmd.Flags()
	flags.StringVar(&a.at, "at", "", "use the state of the calendar at `DATE`, such as 2027-01-01 (default today, in UTC)")
	flags.StringVarP(&a.output, "output", "o", "text", wordsOf(outputs))
	_ = cmd.MarkFlagDirname("dir")
	complete(cmd, "output", outputs)
}

func complete(cmd *cobra.Command, flag string, words []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// wordsOf is "text, json or markdown".
func wordsOf(words []string) string {
	text := words[0]
	for _, w := range words[1 : len(words)-1] {
		text += ", " + w
	}
	return text + " or " + words[len(words)-1]
}

// day reads --at. A time of day is accepted; only its day in UTC counts.
func (a almanac) day(now func() time.Time) (time.Time, error) {
	if a.at == "" || a.at == "now" {
		return deprecation.DateOf(now()).Time(), nil
	}
	if at, err := time.Parse(time.RFC3339, a.at); err == nil {
		return deprecation.DateOf(at).Time(), nil
	}
	date, err := deprecation.ParseDate(a.at)
	if err != nil {
		return time.Time{}, fail(fmt.Errorf("--at: %w", err), "write an existing day in UTC, such as 2027-01-01")
	}
	return date.Time(), nil
}

// calendar is the calendar in force: the reference's, with what a folder of
// desired state corrects in it. Mistakes in the folder are told, and end the
// command.
func (t *terminal) calendar(cmd *cobra.Command, dir string) (deprecation.Calendar, []deprecation.Correction, desired.State, error) {
	published, err := schema.Calendar()
	if err != nil || dir == "" {
		return published, nil, desired.State{}, err
	}
	state, err := t.declared(cmd, options{dir: dir})
	if err != nil {
		return published, nil, state, err
	}
	calendar, corrections, err := published.With(state.CalendarAdditions())
	if err != nil {
		return published, nil, state, fail(err, "the calendar: field of the desired state corrects the deprecation calendar")
	}
	return calendar, corrections, state, nil
}
