package main

import (
	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/reconcile"
)

func newApply(t *terminal) *cobra.Command {
	var o options
	order := reconcile.Order{Trigger: reconcile.TriggerManual, Retry: true}
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Make one run: plan, send the changes, prove them",
		Long: `Plan, send one PATCH for each deployment that differs, read each back, and plan
again: nothing may be left. A declared token that does not exist is created, with
one POST that is never repeated, and its secret delivered. A failure stays in its
zone or token. Interrupted, apply finishes the write in flight, proves it, and
stops.

Exit codes: 0 converged; 1 failure; 4 partial: something was refused, blocked,
unknown, not deployed, failed, written and not kept by the platform, or a token
is in doubt or its secret undelivered.`,
		Example: `  seawall apply
  seawall apply --dir . --base-url http://127.0.0.1:8787/client/v4
  seawall apply --only zone=shop.example`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := t.runOnce(cmd, o, toApply, order)
			if err != nil {
				return err
			}
			if err := t.showReport(report, o.output); err != nil {
				return err
			}
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
	return cmd
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
