package main

import (
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

func newWaves(t *cli.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "waves",
		Short: "Show the progress of a rollout, and resume it",
		Long: `If waves are configured, a commit is applied to the zones in steps, and halts when a
step fails. show prints the progress; resume continues a halted rollout. The daemon
may be running.`,
		Example: "  seawall waves show",
		Args:    knownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newWavesShow(t), newWavesResume(t))
	return cmd
}

func newWavesShow(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Show the progress of the current commit",
		Example: "  seawall waves show",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return setup.ReadLedger(t, o, func(memory *ledger.Ledger) error {
				record, err := memory.Restore(cmd.Context())
				if err != nil {
					return err
				}
				reverts, _ := diff.PutBacks(diff.Active(record.Holds, time.Now(), nil))
				return showWaves(t, record.Rollout, reverts)
			})
		},
	}
	setup.AddConfig(cmd, &o)
	return cmd
}

func showWaves(t *cli.Terminal, o reconcile.Rollout, reverts []diff.PutBack) error {
	for _, r := range reverts {
		fmt.Fprintln(t.Out, cli.OneLine(r.String()))
	}
	if len(o.Zones) == 0 {
		_, err := fmt.Fprintln(t.Out, "no rollout is in progress")
		return err
	}
	fmt.Fprintf(t.Out, "commit %s, wave %d open\n", cli.OneLine(o.Commit[:min(len(o.Commit), 12)]), o.Wave)
	if !o.Since.IsZero() {
		fmt.Fprintf(t.Out, "applied, and soaking since %s\n", o.Since.UTC().Format(time.RFC3339))
	}
	if o.Halted != "" {
		fmt.Fprintf(t.Out, "%s %s\n", t.Red("halted:"), cli.OneLine(o.Halted))
	}
	waves := map[int]map[reconcile.ZoneOutcome]int{}
	for _, z := range o.Zones {
		if waves[z.Wave] == nil {
			waves[z.Wave] = map[reconcile.ZoneOutcome]int{}
		}
		waves[z.Wave][z.Outcome]++
	}
	w := tabwriter.NewWriter(t.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WAVE\tWAITING\tDONE\tSKIPPED\tFAILED\tNOT KEPT\tACCEPTED")
	for _, n := range slices.Sorted(maps.Keys(waves)) {
		c := waves[n]
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t%d\n", n, c[reconcile.ZonePending], c[reconcile.ZoneDone], c[reconcile.ZoneSkipped],
			c[reconcile.ZoneFailed], c[reconcile.ZoneNonConvergent], c[reconcile.ZoneAccepted])
	}
	return w.Flush()
}

func newWavesResume(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	cmd := &cobra.Command{
		Use:   "resume",
		Short: "Resume a halted rollout",
		Long: `Resume a rollout after you have checked why it halted. Failed zones are tried again;
the next wave starts when the current one is done and its soak time is over.`,
		Example: "  seawall waves resume",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return setup.WriteLedger(t, o, func(_ setup.Settings, memory *ledger.Ledger) error {
				halted, err := memory.Resume(cmd.Context())
				if err == nil && !halted {
					err = cli.Fail(fmt.Errorf("no rollout is halted"), "seawall waves show prints the progress")
				}
				return err
			})
		},
	}
	setup.AddConfig(cmd, &o)
	return cmd
}
