package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/once"
)

func newApply(t *terminal) *cobra.Command {
	var o options
	order := once.Order{Who: whoami()}
	cmd := &cobra.Command{
		Use:   "apply [FILE]",
		Short: "Make one run: plan, send the changes, prove them",
		Long: `Plan, send one PATCH for each deployment that differs, read each back, and plan
again: nothing may be left. A declared token that does not exist is created, with
one POST that is never repeated, and its secret delivered. A failure stays in its
zone or token. Interrupted, apply finishes the write in flight, proves it, and
stops.

With a FILE that seawall plan --out saved, it does what that plan says. It looks
again first, and where it would now do anything else it sends nothing and says
what has changed. The file says which zones and tokens it is about, and expires.

What guards hold back is not sent. --approve names the digest that a plan shows
beside what needs an approval: exactly that is released, and nothing if it would
be anything else by now. docs/guards.md tells of all guards.

Exit codes: 0 converged; 1 failure; 4 partial: something was refused, blocked,
unknown, not deployed, failed, written and not kept by the platform, or a token
is in doubt or its secret undelivered.`,
		Example: `  seawall apply
  seawall apply --dir . --base-url http://127.0.0.1:8787/client/v4
  seawall apply --only zone=shop.example
  seawall apply change.plan`,
		Args: atMostOneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			adjust, err := fromSaved(args)
			if err != nil {
				return err
			}
			report, err := t.runOnce(cmd, o, toApply, order, adjust)
			if err != nil {
				return err
			}
			if err := t.showReport(report, o.output); err != nil {
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
		},
	}
	o.addTo(cmd)
	o.addOutput(cmd)
	o.addOnly(cmd)
	cmd.Flags().BoolVar(&order.AllowShrink, "allow-shrink", false, "accept a commit that declares no more than half of the last one")
	cmd.Flags().StringArrayVar(&order.Approve, "approve", nil, "release what a plan shows under this `DIGEST` (repeatable)")
	cmd.Flags().StringVar(&order.DuringFreeze, "during-freeze", "", "pass freezes that allow that, for this `REASON`, which is recorded")
	return cmd
}

// tellUnused warns of approvals that nothing was released by: what they were about
// is not what this run would do.
func (t *terminal) tellUnused(approved, granted []string) {
	for _, digest := range approved {
		if !slices.Contains(granted, digest) {
			fmt.Fprintln(t.err, t.red("warning:"), "nothing in this run has the digest", oneLine(digest))
			t.hint("seawall plan shows what would be done now, and the digest of it")
		}
	}
}

func (t *terminal) showReport(r reconcile.Report, output string) error {
	switch output {
	case "json":
		return r.JSON(t.out)
	case "markdown":
		return r.Markdown(t.out)
	}
	return r.Text(t.out, t.colourOut)
}
