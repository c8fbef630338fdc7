package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
	"github.com/seawall-dev/seawall/edge/nearest"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/directory"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// radarFlags say what is compared, and how it is shown.
type radarFlags struct {
	setup.Options
	since         string
	all, detailed bool
}

func newRadar(t *cli.Terminal) *cobra.Command {
	var f radarFlags
	cmd := &cobra.Command{
		Use:   "radar [RULESET]",
		Short: "Show what a new version of a managed ruleset changes, and in which zones",
		Long: `Compare the newest version of each declared managed ruleset with the one before it, or
of RULESET: the key, the name or the id of one. First come the zones whose protection
the new version weakens, with the rules that do less there; then declarations that
cannot be applied any more, and what is strengthened; then the rules that were removed,
added or changed in the ruleset itself.

--since compares with an earlier version: the one that was there at a time
(2026-03-01T12:00:00Z), on a day (2026-03-01, UTC) or some time before now (7d, 24h), or
the one with a number (12).

Nothing is read from the platform. seawall run and seawall apply record each version
that they read, and the last 60 are kept. The zones are those of the commit in force, or
with --dir those of a folder. What is compared is what they declare: overrides that are
live and not declared are not known to it.

Exit codes: 0; 1 failure; 4 of some ruleset the versions to compare are not on record.
With --detailed-exitcode the highest that applies of 0 no new version, 2 a new version,
3 it weakens protection in a zone, 4 as above, or a declaration cannot be applied any more.`,
		Example: `  seawall radar
  seawall radar core --since 7d
  seawall radar "Core Ruleset" --since 12 -o json | jq '.rulesets[].groups[].zones[].zone'
  seawall radar --dir . --detailed-exitcode`,
		Args:              perhapsRuleset,
		ValidArgsFunction: setup.CompleteRuleset,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRadar(cmd.Context(), t, f, strings.Join(args, ""))
		},
	}
	setup.AddConfig(cmd, &f.Options)
	flags := cmd.Flags()
	flags.StringVar(&f.Dir, "dir", "", "the zones that `DIR` declares, instead of the commit in force")
	_ = cmd.MarkFlagDirname("dir")
	flags.StringVar(&f.since, "since", "", "compare with the version at this `TIME`, day or duration before now, or with this number")
	flags.BoolVar(&f.all, "all", false, "show every zone and every rule, and not only the first of many")
	flags.BoolVar(&f.detailed, "detailed-exitcode", false, "exit with 2 for a new version and 3 for one that weakens")
	cli.AddOutput(cmd, &f.Output, "text", "json", "markdown")
	return cmd
}

func runRadar(ctx context.Context, t *cli.Terminal, f radarFlags, ruleset string) error {
	in := radar.Input{Ruleset: ruleset}
	var err error
	if in.Since, err = f.from(time.Now()); err != nil {
		return err
	}
	err = setup.ReadLedger(ctx, t, f.Options, func(memory *ledger.Ledger) error {
		if path := memory.Missing(); path != "" {
			return cli.Fail(fmt.Errorf("there is no ledger in %s, so no version of a managed ruleset is on record", ledgerPlace(path)), ledgerHint)
		}
		if in.Seen, err = memory.Rulesets(ctx); err != nil {
			return err
		}
		in.State, err = f.state(ctx, t, memory)
		return err
	})
	if err != nil {
		return err
	}
	report := radar.Make(in)
	if ruleset != "" && len(report.Rulesets)+len(report.Problems) == 0 {
		known := report.Known()
		return cli.Fail(fmt.Errorf("no zone deploys a managed ruleset %q", ruleset),
			nearest.Hint(ruleset, known, "deployed are: "+strings.Join(known, ", ")))
	}
	if err := showRadar(t, f, report); err != nil {
		return err
	}
	return f.exit(report)
}

var versionForm = lazyregexp.New(`^[0-9]+$`)

// from is the version to compare with.
func (f radarFlags) from(now time.Time) (since radar.Since, err error) {
	switch {
	case f.since == "":
	case versionForm().MatchString(f.since):
		since.Version = f.since
	default:
		if since.Time, err = parseSince(f.since, now); err != nil {
			return since, cli.Fail(errors.New(err.Error()), "write it as 2026-03-01T12:00:00Z, 2026-03-01, 24h or 7d, or as the number of a version")
		}
	}
	return since, nil
}

// state is what is declared: in force, or in a folder, with the ids that are on record for its
// names.
func (f radarFlags) state(ctx context.Context, t *cli.Terminal, memory *ledger.Ledger) (desired.State, error) {
	if f.Dir != "" {
		state, err := setup.LoadState(ctx, t, f.Options)
		if err != nil {
			return state, err
		}
		names := directory.New(directory.Config{Memory: memory, ReadOnly: true, Now: time.Now})
		if err := names.Recall(ctx); err != nil {
			return state, err
		}
		return names.Resolve(state), nil
	}
	record, err := memory.Restore(ctx)
	if err != nil {
		return desired.State{}, err
	}
	if len(record.Accepted.State) == 0 {
		return desired.State{}, cli.Fail(errors.New("it is not on record what a commit declares, so it is not known which zones there are"),
			"seawall run or seawall apply accepts a commit and records it; --dir DIR takes the zones of a folder")
	}
	state, err := control.DecodeState(record.Accepted.State)
	// The report names the commit with each place, and those in zones on record may name none.
	return desired.MapOrigins(state, func(o desired.Origin) desired.Origin { return o.At(state.Commit) }), err
}

func showRadar(t *cli.Terminal, f radarFlags, report radar.Report) error {
	format := radar.Format{Colour: t.ColourOut, All: f.all}
	return t.Show(f.Output, report, func() error {
		if f.Output == "markdown" {
			return radar.Markdown(t.Out, report, format)
		}
		return radar.Text(t.Out, report, format)
	})
}

func (f radarFlags) exit(report radar.Report) error {
	codes := []int{0}
	if len(report.Problems) > 0 || f.detailed && report.Blocked() > 0 {
		codes = append(codes, int(cli.ExitAttention))
	}
	if f.detailed && report.Changes() {
		codes = append(codes, exitChanges)
	}
	if f.detailed && report.Weakens() {
		codes = append(codes, exitWeakens)
	}
	return cli.ExitWith(slices.Max(codes))
}
