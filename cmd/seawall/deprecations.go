package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/deprecations"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/deprecation/report"
	"github.com/seawall-dev/seawall/reconcile/inspect"
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
			calendar, corrections, _, err := deprecations.CalendarOf(cmd.Context(), t, loadFolder, a.Dir)
			if err != nil {
				return err
			}
			s := report.NewSchedule(calendar, corrections, at, days)
			err = t.ShowAs(a.Output, cli.Forms{
				"json": s.JSON, "markdown": s.Markdown, "text": func(w io.Writer) error { return s.Text(w, t.ColourOut) },
			})
			if err != nil {
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

// parseDays reads 90d or 12w; -1 where nothing is said.
func parseDays(text string) (int, error) {
	if text == "" {
		return -1, nil
	}
	const day = 24 * time.Hour
	if length, err := inspect.Length(text); err == nil && length >= 0 && length%day == 0 {
		return int(length / day), nil
	}
	return 0, cli.Fail(fmt.Errorf("--within %q is no number of days or weeks", text), "write it as 90d or 12w")
}

// loadFolder evaluates a folder of desired state.
func loadFolder(ctx context.Context, t *cli.Terminal, dir string) (desired.State, error) {
	return setup.LoadState(ctx, t, setup.Options{Dir: dir})
}

func newDeprecationsCheck(t *cli.Terminal) *cobra.Command {
	c := deprecations.Check{Terminal: t, Load: loadFolder}
	cmd := &cobra.Command{
		Use:   "check [FILE|DIR|-]...",
		Short: "Find calls to deprecated API features",
		Long: `Look for calls of the platform's API that are in the deprecation calendar:

  FILE        a HAR capture, an access log (common, combined, JSON lines), a script
              with curl, wget or HTTPie, an OpenAPI description, a Terraform plan or
              state as JSON, a Terraform configuration (.tf, .tf.json), requests of a
              REST client (.http), a collection, recorded interactions, a playbook, a
              pipeline, a notebook, Markdown, source code, or lines
              METHOD PATH-or-URL [JSON body]. The format is recognised; gzip and bzip2
              are unpacked; logs are read in constant memory.
  -           the same, from standard input, which must not be empty
  DIR         a folder: each file as above, and other texts for string literals that
              are such paths
  --dir DIR   a repository of desired state: what it declares under integration:,
              with its corrections of the calendar

Calls count if they go to a host of the platform, below its base path on any
host, or if the host is not known. --host adds hosts, --any-host counts all.

Each rule is reported once, the most severe first, with the places where it
matches and its replacement. Where the reference gives the new request, that is
shown too. The report shows the path of an address; of the query and the body it
shows only the members that the rule names.

A file of suppressions has one per line; "#" starts a comment:

  RULE WHERE EXPIRES REASON
  firewall-rules-and-filters scripts/old/** 2027-01-01 goes with OPS-12

WHERE is a glob that matches files or names of integrations. A suppression has no
effect from its expiry day on. The report lists suppressions that have expired or
match nothing.

Exit codes, the highest that applies, without suppressed calls: 0 none or announced,
2 deprecated, 3 past its end, 4 past its end without replacement. 1 failure, or
an input could not be read; with --strict also if a file or a line of one could
not be read.`,
		Example: `  seawall deprecations check access.log
  zstdcat access.log.zst | seawall deprecations check -
  seawall deprecations check src scripts/*.sh --suppress known.txt
  seawall deprecations check --dir . -o markdown
  seawall deprecations check src --at 2027-01-01 -o sarif > deprecations.sarif
  terraform show -json plan.out | seawall deprecations check --format terraform -`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.Run(cmd.Context(), args) },
	}
	cmd.Flags().StringVar(&c.Dir, "dir", "", "check the integrations that the desired state in `DIR` declares, with its calendar")
	cmd.Flags().StringVar(&c.Format, "format", "", "read files as `FORMAT` instead of recognising it: "+cli.Either(deprecations.Formats()))
	cmd.Flags().StringVar(&c.Suppress, "suppress", "", "`FILE` of suppressions, each with a reason and an expiry")
	checkFlags(cmd, &c)
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(deprecations.Formats(), cobra.ShellCompDirectiveNoFileComp))
	c.AddTo(cmd, "text", "json", "markdown", "sarif", "junit")
	return cmd
}

// checkFlags adds the flags for hosts, strictness and rewriting.
func checkFlags(cmd *cobra.Command, c *deprecations.Check) {
	cmd.Flags().StringArrayVar(&c.Hosts, "host", nil, "count calls to `HOST` too, such as gateway.example.com or *.example.com (repeatable)")
	cmd.Flags().BoolVar(&c.AnyHost, "any-host", false, "count calls to any host")
	cmd.Flags().BoolVar(&c.Strict, "strict", false, "exit with 1 if a file, or a line of one, could not be read as what it is")
	cmd.Flags().BoolVar(&c.Fix, "fix", false, "show as a diff what can be rewritten mechanically in curl commands, .http and .tf files, and ask before it is written")
	cmd.Flags().BoolVarP(&c.Yes, "yes", "y", false, "with --fix, write without asking")
	_ = cmd.MarkFlagFilename("suppress")
}
