package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/revert"
)

func newRevert(t *cli.Terminal) *cobra.Command {
	o := setup.Options{FromGit: true}
	var f historyFlags
	var yes bool
	order := revert.Order{Who: setup.Whoami()}
	cmd := &cobra.Command{
		Use:   "revert",
		Short: "Undo writes, and hold the zones until git changes",
		Long: `Put zones back to what they were before the writes of a commit (--commit), or
before all writes since a time (--since), as seawall history shows them. A zone is
put back as a whole, and only if what was written is still live. Other zones are
listed and left as they are. --commit does not bring back drift that was corrected
under the commit; --since undoes every write. Tokens are never reverted.

While the commit is still being applied, the command first stops it: in one step, no
process writes it any more, neither to the zones that it is put back in nor to those
that it has not reached, whatever wave they are in. Then it puts zones back. It waits
for requests that were on their way, and puts back what they have written.

The command shows the plan first and asks. With --yes it stops the commit before it
reads any zone: use that in an incident, and in scripts. Guards apply as to any
change.

All these zones are held, so the reverted change is not written again. The daemon's
log, seawall plan, seawall status and seawall hold list show that. The hold ends with
the next commit that changes the zone, or with seawall hold release zone NAME.

Exit codes: 0 the commit is stopped and everything was put back; 1 failure, or the
answer was not yes; 4 partial: zones were left as they are, refused, or could not be
written or proved. Run the command again to go on.`,
		Example: `  seawall revert --commit 1a2b3c4
  seawall revert --since 1h --zone shop.example
  seawall revert --commit 1a2b3c4 --yes`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := f.filter(time.Now())
			if err != nil {
				return err
			}
			if filter.Commit == "" && filter.Since.IsZero() {
				return cli.Fail(errors.New("--commit or --since is missing"), "give --commit COMMIT or --since TIME; seawall history shows what was written")
			}
			order.Filter, order.Agreed = filter, yes
			return runRevert(cmd.Context(), t, o, order, yes)
		},
	}
	setup.AddConfig(cmd, &o)
	setup.AddLogFlags(cmd, &o.LogFormat, &o.LogLevel)
	f.addTo(cmd)
	cmd.Flags().StringVar(&f.zone, "zone", "", "only the zone of this `NAME`")
	_ = cmd.RegisterFlagCompletionFunc("zone", setup.CompleteZone)
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().StringArrayVar(&order.Approve, "approve", nil, "release the change that the plan shows with this `DIGEST` (repeatable)")
	cmd.Flags().StringVar(&order.DuringFreeze, "during-freeze", "", "write during a freeze that allows it; `REASON` is recorded")
	return cmd
}

func runRevert(ctx context.Context, t *cli.Terminal, o setup.Options, order revert.Order, yes bool) error {
	a, err := assemble(ctx, t, o, setup.ToRevert, nil)
	if err != nil {
		return err
	}
	defer a.Close()
	show, wipe := t.Follow(cli.Quota{})
	run, err := a.Revert(a.Records, show)
	if err != nil {
		return err
	}
	planned, err := run.Plan(ctx, order)
	wipe()
	if err != nil {
		return err
	}
	if err := showRevertPlan(t, planned); err != nil {
		return err
	}
	warnUnused(t, order.Approve, planned.Plan.Granted)
	if planned.Zones()+planned.Stopped() == 0 && !yes {
		if len(planned.Left()) == 0 {
			fmt.Fprintln(t.Out, "\nnothing is left to put back")
		}
		return cli.Attention(!reconcile.Report{Plan: planned.Plan}.Converged())
	}
	if err := confirmRevert(ctx, t, planned, yes); err != nil {
		return err
	}
	report := run.Apply(ctx, planned)
	wipe()
	return showReverted(t, planned, report)
}

// showRevertPlan shows what would be put back, and what not.
func showRevertPlan(t *cli.Terminal, planned *revert.Planned) error {
	if planned.Writes+planned.Stopped() == 0 {
		return cli.Fail(errors.New("the history has no matching write to a zone"), "seawall history shows what was written")
	}
	if err := render.Text(t.Out, planned.Plan, t.ColourOut); err != nil {
		return err
	}
	if left := planned.Left(); len(left) > 0 {
		fmt.Fprintf(t.Out, "\nnot put back: %s: %s\n", cli.Plural(len(left), "zone", "zones"), cli.OneLine(strings.Join(left, ", ")))
	}
	if n := planned.Stopped(); n > 0 {
		fmt.Fprintf(t.Out, "\nnot reached yet: %s; the commit is stopped there\n", cli.Plural(n, "zone", "zones"))
	}
	return nil
}

// confirmRevert asks whether to put zones back, unless yes is the answer already.
func confirmRevert(ctx context.Context, t *cli.Terminal, planned *revert.Planned, yes bool) error {
	question := fmt.Sprintf("Put back %s, stop the commit in %s, and hold each of them until a new commit changes it?",
		cli.Plural(planned.Zones(), "zone", "zones"), cli.Plural(planned.Stopped(), "more zone", "more zones"))
	if !yes && !t.Interactive() {
		return cli.Fail(errors.New("nothing was sent: there is no terminal for the question"), "check the plan, then run the command again with --yes")
	}
	return cli.Confirm(ctx, t, question, yes)
}

// showReverted shows what was put back, and where the commit was stopped.
func showReverted(t *cli.Terminal, planned *revert.Planned, report reconcile.Report) error {
	fmt.Fprintln(t.Out)
	if len(report.Results) > 0 || report.Err != nil {
		if err := report.TextOfResults(t.Out, t.ColourOut); err != nil {
			return err
		}
	}
	if report.Err != nil {
		return report.Err
	}
	fmt.Fprint(t.Out, setup.Reverted(planned, report))
	return cli.Attention(!report.Converged())
}
