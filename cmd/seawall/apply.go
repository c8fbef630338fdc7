package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/once"
)

func newApply(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	var yes bool
	order := once.Order{Who: setup.Whoami()}
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
undecided, bypassed, unknown, forbidden, not deployed, failed, or not kept by the platform, a
token is quarantined, or its secret is not delivered; 130 interrupted by SIGINT, 143
by SIGTERM.`,
		Example: `  seawall apply
  seawall apply --yes
  seawall apply --dir . --base-url http://127.0.0.1:8787/client/v4
  seawall apply --only zone=shop.example
  seawall apply change.plan`,
		Args: perhapsPlan,
		RunE: func(cmd *cobra.Command, args []string) error { return runApply(t, cmd, args, o, order, yes) },
	}
	o.AddTo(cmd)
	cli.AddOutput(cmd, &o.Output, "text", "json", "markdown")
	o.AddOnly(cmd)
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask before writing")
	cmd.Flags().BoolVar(&order.AllowShrink, "allow-shrink", false, "accept a commit that drops half or more of what the last one declared")
	cmd.Flags().StringArrayVar(&order.Approve, "approve", nil, "release the change that the plan shows with this `DIGEST` (repeatable)")
	cmd.Flags().StringVar(&order.DuringFreeze, "during-freeze", "", "write during a freeze that allows it; `REASON` is recorded")
	return cmd
}

// runApply makes the run. yes stands for a person's answer.
func runApply(t *cli.Terminal, cmd *cobra.Command, args []string, o setup.Options, order once.Order, yes bool) error {
	adjust, err := fromSaved(t, args, &o, &order)
	if err != nil {
		return err
	}
	order.Undigested = o.Output == "text" // which does not show it
	asked := false
	if len(args) == 0 && !yes && t.Interactive() {
		order.Confirm = func(p diff.Plan) (err error) {
			asked, err = confirmPlan(cmd.Context(), t, p, o.Output)
			return err
		}
	}
	report, err := runOnce(cmd.Context(), t, o, setup.ToApply, &order, adjust)
	if err != nil {
		return err
	}
	if err := showReport(t, report, o.Output, asked); err != nil {
		return err
	}
	warnUnused(t, order.Approve, report.Plan.Granted)
	if report.Err != nil {
		return report.Err
	}
	return cli.Attention(!report.Converged())
}

// warnUnused warns of approvals that nothing was released by: what they were about
// is not what this run would do.
func warnUnused(t *cli.Terminal, approved, granted []string) {
	for _, digest := range approved {
		if !slices.Contains(granted, digest) {
			fmt.Fprintln(t.Err, t.Red("warning:"), "no change in this run has the digest", cli.OneLine(digest))
			t.Hint("seawall plan shows the current changes and their digests")
		}
	}
}

// showReport shows what a run has found and done. planned says that the plan was shown
// already.
func showReport(t *cli.Terminal, r reconcile.Report, output string, planned bool) error {
	return t.ShowAs(output, cli.Forms{"json": r.JSON, "markdown": r.Markdown, "text": func(w io.Writer) error {
		if !planned {
			return r.Text(w, t.ColourOut)
		}
		fmt.Fprintln(w)
		return r.TextOfResults(w, t.ColourOut)
	}})
}

// confirmPlan shows a plan and asks whether to apply it. It does not ask where there is
// nothing to write. shown says that the plan is on standard output.
func confirmPlan(ctx context.Context, t *cli.Terminal, p diff.Plan, output string) (shown bool, err error) {
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
	if shown, err = showFirst(t, p, output); err != nil {
		return shown, err
	}
	question := "Apply " + cli.Plural(changes, "change", "changes")
	if weaken > 0 {
		question += ", " + cli.Plural(weaken, "of which weakens", "of which weaken")
	}
	return shown, cli.Confirm(ctx, t, question+"?", false)
}

// showFirst shows a plan before a question: on standard error where the result has another
// form. shown says that it is on standard output.
func showFirst(t *cli.Terminal, p diff.Plan, output string) (shown bool, err error) {
	if output == "text" {
		return true, render.Text(t.Out, p, t.ColourOut)
	}
	return false, render.Text(t.Err, p, t.ColourErr)
}
