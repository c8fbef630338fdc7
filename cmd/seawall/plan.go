package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/heap"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/once"
)

// Exit codes of plan beside 0, 1 and [cli.ExitAttention].
const (
	exitChanges = 2
	exitWeakens = 3
)

func newPlan(t *cli.Terminal) *cobra.Command {
	var o setup.Options
	var detailed bool
	var out string
	var valid time.Duration
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Show what would change, without writing",
		Long: `Compare desired state with what is live and show every change: old and new value,
the line that declares it, whether it strengthens or weakens, and what prevents
it. Nothing is written to the platform.

--out saves the plan for seawall apply FILE. That command does exactly what the plan
says, or nothing if the result would now differ.

Exit codes: 0; 1 failure; 4 something is unknown, forbidden, blocked, undecided,
bypassed, refused, not deployed, or a token is quarantined or its secret not delivered; 130
interrupted by SIGINT, 143 by SIGTERM. With --detailed-exitcode the highest that applies of 0 in
sync, 2 changes, 3 some of them weaken, 4 as above. What waits for time alone (a wave,
a freeze, the end of a hold) counts as a change.`,
		Example: `  seawall plan
  seawall plan --dir . --base-url https://api.example.com/client/v4
  seawall plan -o markdown --detailed-exitcode
  seawall plan --only zone=shop.example
  seawall plan --out change.plan && seawall apply change.plan`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if valid <= 0 {
				return cli.Usage("--valid %s is not a duration above zero", valid)
			}
			if err := checkOut(out, cmd.Flags().Changed("out")); err != nil {
				return err
			}
			var made setup.Settings
			order := once.Order{Brief: o.Output == "text" && out == ""} // nothing shows it
			report, err := runOnce(cmd.Context(), t, o, setup.ToPlan, &order, func(s setup.Settings) error { made = s; return nil })
			if err != nil {
				return err
			}
			if out != "" {
				if err := savePlan(out, report.Plan, made, o, order, valid); err != nil {
					return err
				}
			}
			if err := showPlan(t, o.Output, report.Plan); err != nil {
				return err
			}
			return exitOfPlan(report.Plan, detailed)
		},
	}
	o.AddTo(cmd)
	cli.AddOutput(cmd, &o.Output, "text", "json", "markdown")
	o.AddOnly(cmd)
	cmd.Flags().StringVar(&out, "out", "", "save the plan to `FILE`, for seawall apply FILE")
	cli.AddLength(cmd, &valid, "valid", savedFor, "how long the saved plan may be applied, such as 8h or 2d")
	_ = cmd.MarkFlagFilename("out", "plan")
	cmd.Flags().BoolVar(&detailed, "detailed-exitcode", false, "exit with 2 for changes and 3 for weakening changes")
	return cmd
}

func showPlan(t *cli.Terminal, output string, p diff.Plan) error {
	return t.ShowAs(output, cli.Forms{
		"json":     func(w io.Writer) error { return render.JSON(w, p) },
		"markdown": func(w io.Writer) error { return render.Markdown(w, p) },
		"text":     func(w io.Writer) error { return render.Text(w, p, t.ColourOut) },
	})
}

func exitOfPlan(p diff.Plan, detailed bool) error {
	if p.Attention() {
		return cli.ExitAttention
	}
	code := 0
	for _, c := range p.Changes {
		switch {
		case !detailed || !c.Applies() && !c.Refused.Quiet() && !c.Refused.WaitsForTime(): // an orphan is for a person, in his own time
		case c.Direction == diff.Weakens:
			return cli.ExitError(exitWeakens)
		default:
			code = exitChanges
		}
	}
	return cli.ExitWith(code)
}

// runOnce makes one run for plan, apply or a rotation. A run that failed before it had a plan is an error;
// mistakes in the desired state were told by then. adjust, where it is not nil, has the last
// word on the order.
func runOnce(ctx context.Context, t *cli.Terminal, o setup.Options, why setup.Purpose, order *once.Order, adjust func(setup.Settings) error) (reconcile.Report, error) {
	whileItRuns, stop := context.WithCancel(ctx)
	defer stop()
	heap.Follow(whileItRuns, heap.ToEnd)
	var err error
	if order.Zones, order.Tokens, err = o.Scope(); err != nil {
		return reconcile.Report{}, err
	}
	a, err := assemble(ctx, t, o, why, adjust)
	if err != nil {
		return reconcile.Report{}, err
	}
	defer a.Close()
	if why == setup.ToApply {
		defer cli.ExplainInterrupt(ctx, t)()
	}
	if why == setup.ToApply && order.Rotate != "" { // whoever has the tokens does it instead
		if err := a.LockTokens(ctx); err != nil {
			return reconcile.Report{}, err
		}
	}
	show, wipe := t.Follow(a.Quota)
	run := a.Once(show)
	do := run.Apply
	if why == setup.ToPlan {
		do = run.Plan
	}
	report := do(ctx, *order)
	wipe()
	if why == setup.ToPlan && ctx.Err() == nil {
		t.Hint(budgetHint(report.Plan.Requests.Used, a.Quota))
	}
	t.ShowProblems(t.Err, report.Problems)
	if report.Err != nil && len(report.Results) == 0 {
		return report, report.Err
	}
	return report, nil
}

// budgetHint says of a plan that took so many requests where less is left for the next one; else it is empty.
func budgetHint(used int64, q cli.Quota) string {
	left := q.Meter.Forecast()
	if int64(left.Left) >= used || q.Requests <= 0 {
		return ""
	}
	return fmt.Sprintf("another plan like this one waits for the request budget: %d of %s are left; one with --only zone=NAME needs fewer", left.Left, q.Budget)
}

// assemble makes what a run needs, if the configuration allows it and check, where it is not
// nil, agrees. The files that the run leaves in the state folder are those of its owner.
func assemble(ctx context.Context, t *cli.Terminal, o setup.Options, why setup.Purpose, check func(setup.Settings) error) (*setup.Assembly, error) {
	log, err := t.Logger(o.LogFormat, o.LogLevel)
	if err != nil {
		return nil, err
	}
	s, err := setup.ReadSettings(t, o)
	if err == nil && why != setup.ToPlan {
		err = s.MayWrite(o)
	}
	if err == nil && check != nil {
		err = check(s)
	}
	if err != nil {
		return nil, err
	}
	giveBack, err := setup.KeepOwner(t, s.StateDir)
	if err != nil {
		return nil, err
	}
	a, err := setup.Assemble(ctx, s, why, log)
	if err != nil {
		giveBack()
		return nil, err
	}
	closeAll := a.Close
	a.Close = func() { closeAll(); giveBack() }
	return a, nil
}
