package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/revert"
)

func newRevert(t *terminal) *cobra.Command {
	var o options
	var f historyFlags
	var yes bool
	order := revert.Order{Who: whoami()}
	cmd := &cobra.Command{
		Use:   "revert",
		Short: "Undo writes, and hold the zones until git changes",
		Long: `Put zones back to what they were before the writes of a commit (--commit), or
before all writes since a time (--since), as seawall history shows them. A zone is
put back as a whole, and only if what was written is still live. Other zones are
listed and left as they are. --commit does not bring back drift that was corrected
under the commit; --since undoes every write. Tokens are never reverted.

The command shows the plan first and asks; use --yes in scripts. Guards apply as to
any change.

Each zone that is put back is held, so the daemon does not write the reverted change
again. Its log, seawall plan and seawall hold list show the hold. The hold ends with
the next commit that changes the zone, or with seawall hold release zone NAME.

Exit codes: 0 everything was put back; 1 failure, or the answer was not yes; 4
partial: zones were left as they are, refused, or could not be written or proved.`,
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
				return fail(errors.New("--commit or --since is missing"), "give --commit COMMIT or --since TIME; seawall history shows what was written")
			}
			order.Filter = filter
			return t.revert(cmd.Context(), o, order, yes)
		},
	}
	addConfig(cmd, &o)
	addLogFlags(cmd, &o.logFormat, &o.logLevel)
	f.addTo(cmd)
	cmd.Flags().StringVar(&f.zone, "zone", "", "only the zone of this `NAME`")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().StringArrayVar(&order.Approve, "approve", nil, "release the change that the plan shows with this `DIGEST` (repeatable)")
	cmd.Flags().StringVar(&order.DuringFreeze, "during-freeze", "", "write during a freeze that allows it; `REASON` is recorded")
	return cmd
}

func (t *terminal) revert(ctx context.Context, o options, order revert.Order, yes bool) error {
	log, err := t.logger(o.logFormat, o.logLevel)
	if err != nil {
		return err
	}
	s, err := t.settings(o)
	if err != nil {
		return err
	}
	if err := s.mayWrite(o); err != nil {
		return err
	}
	a, err := assemble(ctx, s, toApply, log)
	if err != nil {
		return err
	}
	defer a.close()
	show, wipe := t.progress()
	run, err := a.revert(show)
	if err != nil {
		return err
	}
	planned, err := run.Plan(ctx, order)
	wipe()
	if err != nil {
		return explain(err)
	}
	if err := t.showRevertPlan(planned); err != nil {
		return err
	}
	t.tellUnused(order.Approve, planned.Plan.Granted)
	if planned.Zones() == 0 {
		return exitOfRevert(reconcile.Report{Plan: planned.Plan})
	}
	if err := t.confirmRevert(ctx, planned, yes); err != nil {
		return err
	}
	report := run.Apply(ctx, planned)
	wipe()
	return t.showReverted(report)
}

// showRevertPlan shows what would be put back, and what not.
func (t *terminal) showRevertPlan(planned *revert.Planned) error {
	if planned.Writes == 0 {
		return fail(errors.New("the history has no matching write to a zone"), "seawall history shows what was written")
	}
	if err := planned.Plan.Text(t.out, t.colourOut); err != nil {
		return err
	}
	if left := planned.Left(); len(left) > 0 {
		fmt.Fprintf(t.out, "\nnot put back: %s: %s\n", plural(len(left), "zone", "zones"), oneLine(strings.Join(left, ", ")))
	}
	return nil
}

// confirmRevert asks whether to put zones back, unless yes is the answer already.
func (t *terminal) confirmRevert(ctx context.Context, planned *revert.Planned, yes bool) error {
	zones := planned.Zones()
	question := fmt.Sprintf("Put %s back, and hold %s until git differs from commit %s?",
		plural(zones, "zone", "zones"), map[bool]string{true: "it", false: "them"}[zones == 1], short(planned.Plan.Commit))
	if !yes && !t.interactive() {
		return fail(errors.New("nothing was sent: there is no terminal for the question"), "check the plan, then run the command again with --yes")
	}
	return confirm(ctx, t, question, yes)
}

// showReverted shows what was put back.
func (t *terminal) showReverted(report reconcile.Report) error {
	fmt.Fprintln(t.out)
	if err := report.TextOfResults(t.out, t.colourOut); err != nil {
		return err
	}
	if report.Count(reconcile.Converged) > 0 {
		fmt.Fprintln(t.out, "the zones are held until git changes them; seawall hold list shows them")
	}
	if report.Err != nil {
		return explain(report.Err)
	}
	return exitOfRevert(report)
}

func exitOfRevert(r reconcile.Report) error {
	if !r.Converged() {
		return exitStatus(exitAttention)
	}
	return nil
}

// revert is one revert. It needs the history, so a repository.
func (a *assembly) revert(show reconcile.Progress) (*revert.Run, error) {
	records, ok := a.records.(revert.Records)
	if !ok {
		return nil, errors.New("there is no ledger, so there is no history to revert")
	}
	return &revert.Run{
		Records: records, Guards: a.guards, Reader: a.reader, Writer: a.writer, Concurrency: a.concurrency,
		Budget: a.quota.Budget, Requests: a.requests, Progress: show, Now: time.Now, Log: a.log,
		Compile: func(ctx context.Context, commit string) (desired.State, error) {
			state, problems, err := a.git.Compiler.Compile(ctx, commit)
			if err == nil && len(desired.Errors(problems)) > 0 {
				err = fmt.Errorf("%w: %s", reconcile.ErrInvalid, desired.Errors(problems)[0])
			}
			return state, err
		},
	}, nil
}
