package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/once"
)

func newApply(t *terminal) *cobra.Command {
	var o options
	var yes bool
	order := once.Order{Who: whoami()}
	cmd := &cobra.Command{
		Use:   "apply [FILE]",
		Short: "Plan, send the changes, and read back to prove them",
		Long: `Plan, send one PATCH for each deployment that differs, read each back, and plan
again: nothing may be left. A declared token that does not exist is created, with
one POST that is never repeated, and its secret is delivered. A failure in one zone
or token does not stop the others.

On a terminal apply shows the plan and asks before it writes; --yes skips the
question. Without a terminal on standard input and standard error it does not ask,
so scripts need no flag. It does not ask for a saved plan either.

Interrupted by SIGINT (Ctrl-C) or SIGTERM, apply sends nothing more, waits up to 20
seconds for the answers and proofs of what it has sent, and prints the result of
each change: applied and proved; written, not proved; or not started. A second
signal ends it at once.

With a FILE that seawall plan --out saved, apply does exactly what that plan says.
It reads everything again first. If the result would differ from the plan, it sends
nothing and lists the differences. The file records the desired state, the
platform, and the zones and tokens of the plan. It expires. Flags that contradict
the file are an error.

Changes that a guard holds back are not sent. --approve takes the digest that the
plan shows beside a change that needs approval. It releases exactly that change,
and nothing if the change is different now. docs/guards.md describes all guards.

Exit codes: 0 converged; 1 failure; 4 partial: something was refused, blocked,
unknown, forbidden, not deployed, failed, or not kept by the platform, a token is
quarantined, or its secret is not delivered; 130 interrupted by SIGINT, 143 by
SIGTERM.`,
		Example: `  seawall apply
  seawall apply --yes
  seawall apply --dir . --base-url http://127.0.0.1:8787/client/v4
  seawall apply --only zone=shop.example
  seawall apply change.plan`,
		Args: atMostOneFile,
		RunE: func(cmd *cobra.Command, args []string) error { return t.apply(cmd, args, o, order, yes) },
	}
	o.addTo(cmd)
	o.addOutput(cmd)
	o.addOnly(cmd)
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask before writing")
	cmd.Flags().BoolVar(&order.AllowShrink, "allow-shrink", false, "accept a commit that declares half or less of what the last one declared")
	cmd.Flags().StringArrayVar(&order.Approve, "approve", nil, "release the change that the plan shows with this `DIGEST` (repeatable)")
	cmd.Flags().StringVar(&order.DuringFreeze, "during-freeze", "", "write during a freeze that allows it; `REASON` is recorded")
	return cmd
}

// apply makes the run. yes stands for a person's answer.
func (t *terminal) apply(cmd *cobra.Command, args []string, o options, order once.Order, yes bool) error {
	adjust, err := fromSaved(t, args, &o)
	if err != nil {
		return err
	}
	asked := false
	if len(args) == 0 && !yes && t.interactive() {
		order.Confirm = func(p diff.Plan) (err error) {
			asked, err = confirmPlan(cmd.Context(), t, p, o.output)
			return err
		}
	}
	report, err := t.runOnce(cmd, o, toApply, order, adjust)
	if err != nil {
		return err
	}
	if err := t.showReport(report, o.output, asked); err != nil {
		return err
	}
	t.tellUnused(order.Approve, report.Plan.Granted)
	switch {
	case report.Err != nil:
		return explain(report.Err)
	case !report.Converged():
		return exitStatus(exitAttention)
	}
	return nil
}

// tellUnused warns of approvals that nothing was released by: what they were about
// is not what this run would do.
func (t *terminal) tellUnused(approved, granted []string) {
	for _, digest := range approved {
		if !slices.Contains(granted, digest) {
			fmt.Fprintln(t.err, t.red("warning:"), "no change in this run has the digest", oneLine(digest))
			t.hint("seawall plan shows the current changes and their digests")
		}
	}
}

// showReport shows what a run has found and done. planned says that the plan was shown
// already.
func (t *terminal) showReport(r reconcile.Report, output string, planned bool) error {
	switch {
	case output == "json":
		return r.JSON(t.out)
	case output == "markdown":
		return r.Markdown(t.out)
	case planned:
		fmt.Fprintln(t.out)
		return r.TextOfResults(t.out, t.colourOut)
	}
	return r.Text(t.out, t.colourOut)
}

// confirmPlan shows a plan and asks whether to apply it. It does not ask where there is
// nothing to write. shown says that the plan is on standard output.
func confirmPlan(ctx context.Context, t *terminal, p diff.Plan, output string) (shown bool, err error) {
	changes, weaken := 0, 0
	for _, c := range p.Changes {
		if c.Applies() {
			changes++
			if c.Direction == diff.Weakens {
				weaken++
			}
		}
	}
	if changes == 0 {
		return false, nil
	}
	if shown = output == "text"; shown {
		err = p.Text(t.out, t.colourOut)
	} else {
		err = p.Text(t.err, t.colourErr)
	}
	if err != nil {
		return shown, err
	}
	question := "Apply " + plural(changes, "change", "changes")
	if weaken > 0 {
		question += fmt.Sprintf(", %d of which %s", weaken, verb(weaken, "weakens", "weaken"))
	}
	return shown, confirm(ctx, t, question+"?", false)
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
