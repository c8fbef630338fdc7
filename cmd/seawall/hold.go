package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/nearest"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

func newHold(t *cli.Terminal) *cobra.Command {
	return group(&cobra.Command{
		Use:   "hold",
		Short: "Pause changes to a zone",
		Long: `Seawall reads and reports a held zone, but does not write to it: neither drift nor
a commit is applied. The hold ends at its time, or when you release it. Use it
while you change a zone by hand. The daemon may be running; its next run honours
the hold.`,
		Example: `  seawall hold zone shop.example --for 2h --reason INC-1`,
	}, newHoldZone(t), newHoldList(t), newHoldRelease(t))
}

func newHoldZone(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	var length time.Duration
	var reason string
	cmd := &cobra.Command{
		Use:   "zone NAME",
		Short: "Hold a zone",
		Long: `Hold the zone that is declared by this name, in every account that has one. The
hold stays with the zone when a commit renames it. To change the end or the
reason, hold it again.`,
		Example:           `  seawall hold zone shop.example --for 2h --reason INC-1`,
		Args:              oneZone,
		ValidArgsFunction: setup.CompleteZone,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkHold(length, reason); err != nil {
				return err
			}
			return setup.WriteLedger(cmd.Context(), t, o, func(s setup.Settings, memory *ledger.Ledger) error {
				declared, err := checkZone(cmd.Context(), t, s, args[0])
				if err != nil {
					return err
				}
				state, err := inForce(cmd.Context(), memory)
				if err != nil {
					return err
				}
				hold := setup.NewHold(args[0], slices.Concat(declared, setup.ZonesNamed(state, args[0])), time.Now(), length, reason)
				if err := memory.Hold(cmd.Context(), hold, setup.Whoami()); err != nil {
					return err
				}
				_, err = fmt.Fprintf(t.Out, "%s is %s\n", cli.OneLine(hold.Zone), cli.OneLine(hold.String()))
				return err
			})
		},
	}
	setup.AddConfig(cmd, &o)
	cli.AddLength(cmd, &length, "for", 0, "how long, such as 45m, 2h or 2d")
	cmd.Flags().StringVar(&reason, "reason", "", "the reason, which plans and status show")
	return cmd
}

// checkHold says what is wrong with the flags.
func checkHold(length time.Duration, reason string) error {
	switch err := setup.CheckHold(length, reason); {
	case length < 0:
		return cli.Fail(fmt.Errorf("--for %s is not a duration above zero", length), "give the length of the hold, such as --for 2h")
	case errors.Is(err, setup.ErrNoLength):
		return cli.Fail(errors.New("--for is missing"), "give the length of the hold, such as --for 2h")
	case errors.Is(err, setup.ErrTooLong):
		return cli.Fail(fmt.Errorf("--for %s is longer than %s", length, setup.MostHold), "a lasting state belongs in the repository")
	case errors.Is(err, setup.ErrNoReason):
		return cli.Fail(errors.New("--reason is missing"), "give the reason, such as --reason INC-1")
	default:
		return err
	}
}

func newHoldList(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Show which zones are held",
		Example: "  seawall hold list\n  seawall hold list -o json | jq -r '.holds[].zone'",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return setup.ReadLedger(cmd.Context(), t, o, func(memory *ledger.Ledger) error {
				standing, err := memory.Standing(cmd.Context())
				if err != nil {
					return err
				}
				missing := noLedger(t, memory, "no hold is known")
				holds := append([]diff.Hold{}, diff.Active(standing.Holds, time.Now(), nil)...)
				if len(holds) == 0 && !missing && o.Output == "text" {
					fmt.Fprintln(t.Err, "no zone is held")
				}
				return t.Show(o.Output, heldZones{1, holds}, func() error { return listHolds(t, holds) })
			})
		},
	}
	setup.AddConfig(cmd, &o)
	cli.AddOutput(cmd, &o.Output, "text", "json")
	return cmd
}

// heldZones is the JSON form of the holds.
type heldZones struct {
	Version int         `json:"version"`
	Holds   []diff.Hold `json:"holds"`
}

func listHolds(t *cli.Terminal, holds []diff.Hold) error {
	rows := [][]string{{"ZONE", "UNTIL", "REASON"}}
	for _, h := range holds {
		rows = append(rows, []string{h.Zone, h.End(), h.Reason})
	}
	return t.Table(rows)
}

func newHoldRelease(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	zone := &cobra.Command{
		Use:               "zone NAME",
		Short:             "End the hold on a zone",
		Long:              "End the hold on a zone early. The daemon's next sync writes the waiting changes.",
		Example:           "  seawall hold release zone shop.example",
		Args:              oneZone,
		ValidArgsFunction: setup.CompleteZone,
		RunE: func(cmd *cobra.Command, args []string) error {
			return setup.WriteLedger(cmd.Context(), t, o, func(_ setup.Settings, memory *ledger.Ledger) error {
				held, err := releaseZone(cmd.Context(), memory, args[0])
				if err == nil && !held {
					err = cli.Fail(fmt.Errorf("no zone %q is held", args[0]), "seawall hold list shows the held zones")
				}
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(t.Out, cli.OneLine(args[0]), "is not held any more")
				return err
			})
		},
	}
	setup.AddConfig(zone, &o)
	return group(&cobra.Command{Use: "release", Short: "End a hold", Example: "  seawall hold release zone shop.example"}, zone)
}

// inForce is what the commit in force declares, with ids that were found by their names, too: a
// hold stays with these zones whatever they are called later. It declares nothing where that is
// not on record.
func inForce(ctx context.Context, memory *ledger.Ledger) (desired.State, error) {
	record, err := memory.Restore(ctx)
	if err != nil {
		return desired.State{}, err
	}
	state, err := control.DecodeState(record.Accepted.State)
	if err != nil {
		return desired.State{}, nil //nolint:nilerr // another version has put it there: what git declares must do
	}
	return state, nil
}

// releaseZone ends the holds on a zone by its name, or by the one that it had when it was
// held.
func releaseZone(ctx context.Context, memory *ledger.Ledger, name string) (held bool, err error) {
	state, err := inForce(ctx, memory)
	if err != nil {
		return false, err
	}
	standing, err := memory.Standing(ctx)
	if err != nil {
		return false, err
	}
	names, _ := setup.HeldNames(state, standing.Holds, name)
	return setup.Release(ctx, memory, names, time.Now())
}

// checkZone refuses a name that the commit in force does not declare: a hold that
// holds nothing is found out too late. It asks the copy on disk and not the
// server, which may be away in the hour in which holds are needed; where there is
// no commit yet, the name is taken as it is, with a warning. It returns the ids that are
// declared for the name.
func checkZone(ctx context.Context, t *cli.Terminal, s setup.Settings, name string) ([]edge.Scope, error) {
	state, err := setup.LastGood(ctx, s, setup.NoZone)
	if err != nil {
		fmt.Fprintln(t.Err, t.Red("warning:"), "could not check whether the zone exists:", cli.OneLine(err.Error()))
		return nil, nil
	}
	var names []string
	for _, zone := range state.EachZone() {
		if zone.Key == name {
			return setup.ZonesNamed(state, name), nil
		}
		names = append(names, zone.Key)
	}
	return nil, cli.Fail(fmt.Errorf("no zone %q is declared", name), nearest.Hint(name, names, zoneHint))
}
