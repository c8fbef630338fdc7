package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

func newWaves(t *cli.Terminal) *cobra.Command {
	return group(&cobra.Command{
		Use:   "waves",
		Short: "Show the progress of a rollout, and resume it",
		Long: `If waves are configured, a commit is applied to the zones in steps, and halts when a
step fails. show prints the progress; resume continues a halted rollout. The daemon
may be running.`,
		Example: "  seawall waves show",
	}, newWavesShow(t), newWavesResume(t))
}

func newWavesShow(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Show the progress of the current commit",
		Example: "  seawall waves show\n  seawall waves show -o json | jq -r .halted",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return setup.ReadLedger(cmd.Context(), t, o, func(memory *ledger.Ledger) error {
				noLedger(t, memory, "no rollout is known")
				record, err := memory.Restore(cmd.Context())
				if err != nil {
					return err
				}
				reverts, _ := diff.PutBacks(diff.Active(record.Holds, time.Now(), nil))
				progress := progressOf(record.Rollout)
				return t.Show(o.Output, progress, func() error { return showWaves(t, progress, reverts) })
			})
		},
	}
	setup.AddConfig(cmd, &o)
	cli.AddOutput(cmd, &o.Output, "text", "json")
	return cmd
}

// rollout is the JSON form of how far a commit is applied. Without a commit none is.
type rollout struct {
	Version int       `json:"version"`
	Commit  string    `json:"commit,omitempty"`
	Open    int       `json:"open,omitempty"`   // the number of the wave that is open
	Soaking time.Time `json:"soaking,omitzero"` // when that one was applied
	Halted  string    `json:"halted,omitempty"` // why nothing goes on
	Waves   []wave    `json:"waves"`
}

// wave is how many zones of it have come how far.
type wave struct {
	Number   int `json:"wave"`
	Zones    int `json:"zones"`
	Done     int `json:"done"`
	Waiting  int `json:"waiting"`
	Person   int `json:"needs_a_person"`
	Failed   int `json:"failed"`
	NotKept  int `json:"not_kept"` // the platform did not keep what was written
	Accepted int `json:"resumed"`  // failed or not kept, and a person has resumed the rollout
}

func progressOf(o reconcile.Rollout) rollout {
	p := rollout{Version: 1, Waves: []wave{}}
	if len(o.Zones) == 0 {
		return p
	}
	p.Commit, p.Open, p.Soaking, p.Halted = o.Commit, o.Wave, o.Since.UTC(), o.Halted
	waves := map[int]*wave{}
	for _, z := range o.Zones {
		one := cmp.Or(waves[z.Wave], &wave{Number: z.Wave})
		waves[z.Wave] = one
		one.Zones++
		for _, part := range one.parts() {
			if part.of == z.Outcome {
				*part.zones++
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(waves)) {
		p.Waves = append(p.Waves, *waves[n])
	}
	return p
}

// wavePart counts zones of a wave with the same outcome.
type wavePart struct {
	of    reconcile.ZoneOutcome
	zones *int
	text  string
}

func (w *wave) parts() []wavePart {
	return []wavePart{
		{reconcile.ZoneDone, &w.Done, "done"},
		{reconcile.ZonePending, &w.Waiting, "waiting"},
		{reconcile.ZoneSkipped, &w.Person, "skipped: a person is needed, see seawall status"},
		{reconcile.ZoneFailed, &w.Failed, "failed: not read or not written"},
		{reconcile.ZoneNonConvergent, &w.NotKept, "written, but not kept by the platform"},
		{reconcile.ZoneAccepted, &w.Accepted, "failed or not kept before the rollout was resumed"},
	}
}

// String says how far a wave is, without what there is none of.
func (w wave) String() string {
	var said []string
	for _, part := range w.parts() {
		if *part.zones > 0 {
			said = append(said, fmt.Sprintf("%d %s", *part.zones, part.text))
		}
	}
	return fmt.Sprintf("%s: %s", cli.Plural(w.Zones, "zone", "zones"), strings.Join(said, ", "))
}

func showWaves(t *cli.Terminal, o rollout, reverts []diff.PutBack) error {
	for _, r := range reverts {
		fmt.Fprintln(t.Out, cli.OneLine(r.String()))
	}
	if o.Commit == "" {
		_, err := fmt.Fprintln(t.Out, "no rollout is in progress")
		return err
	}
	fmt.Fprintf(t.Out, "commit %s: wave %d is open\n", cli.OneLine(cli.ShortCommit(o.Commit)), o.Open)
	if !o.Soaking.IsZero() {
		fmt.Fprintf(t.Out, "wave %d is applied; the next one opens when its soak time is over, which began at %s\n", o.Open, o.Soaking.Format(time.RFC3339))
	}
	if o.Halted != "" {
		fmt.Fprintf(t.Out, "%s %s\n", t.Red("halted:"), cli.OneLine(o.Halted))
		t.Hint("when it is mended: " + diff.ReleaseHalted)
	}
	var rows [][]string
	for _, one := range o.Waves {
		rows = append(rows, []string{fmt.Sprintf("wave %d", one.Number), one.String()})
	}
	return t.Table(rows)
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
			return setup.WriteLedger(cmd.Context(), t, o, func(_ setup.Settings, memory *ledger.Ledger) error {
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
