package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/once"
)

// Exit codes of plan and apply beside 0 and 1.
const (
	exitChanges   = 2
	exitWeakens   = 3
	exitAttention = 4
)

func newPlan(t *terminal) *cobra.Command {
	var o options
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

Exit codes: 0; 1 failure; 4 something is unknown, forbidden, blocked, refused, not
deployed, or a token is quarantined or its secret not delivered; 130 interrupted by
SIGINT, 143 by SIGTERM. With --detailed-exitcode the highest that applies of 0 in
sync, 2 changes, 3 some of them weaken, 4 as above.`,
		Example: `  seawall plan
  seawall plan --dir . --base-url https://api.example.com/client/v4
  seawall plan -o markdown --detailed-exitcode
  seawall plan --only zone=shop.example
  seawall plan --out change.plan && seawall apply change.plan`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if valid <= 0 {
				return usage("--valid %s is not a duration above zero", valid)
			}
			var made settings
			order := once.Order{}
			report, err := t.runOnce(cmd, o, toPlan, order, func(s settings, o once.Order) (once.Order, error) {
				made, order = s, o
				return o, nil
			})
			if err != nil {
				return err
			}
			if out != "" {
				if err := savePlan(out, report.Plan, made, o, order, valid); err != nil {
					return err
				}
			}
			if err := t.showPlan(report.Plan, o.output); err != nil {
				return err
			}
			return exitOfPlan(report.Plan, detailed)
		},
	}
	o.addTo(cmd)
	o.addOutput(cmd)
	o.addOnly(cmd)
	cmd.Flags().StringVar(&out, "out", "", "save the plan to `FILE`, for seawall apply FILE")
	cmd.Flags().DurationVar(&valid, "valid", savedFor, "how long the saved plan may be applied")
	_ = cmd.MarkFlagFilename("out", "plan")
	cmd.Flags().BoolVar(&detailed, "detailed-exitcode", false, "exit with 2 for changes and 3 for weakening changes")
	return cmd
}

func (t *terminal) showPlan(p diff.Plan, output string) error {
	switch output {
	case "json":
		return render.JSON(t.out, p)
	case "markdown":
		return render.Markdown(t.out, p)
	}
	return render.Text(t.out, p, t.colourOut)
}

func exitOfPlan(p diff.Plan, detailed bool) error {
	if p.Attention() {
		return exitStatus(exitAttention)
	}
	code := 0
	for _, c := range p.Changes {
		switch {
		case !detailed || !c.Applies() && !c.Refused.Observed(): // an orphan is for a person, in his own time
		case c.Direction == diff.Weakens:
			return exitStatus(exitWeakens)
		default:
			code = exitChanges
		}
	}
	if code == 0 {
		return nil
	}
	return exitStatus(code)
}

// runOnce makes one run for plan or apply. A run that failed before it had a
// plan is an error; mistakes in the desired state were told by then.
// adjust, where it is not nil, has the last word on the order.
func (t *terminal) runOnce(
	cmd *cobra.Command, o options, why purpose, order once.Order, adjust func(settings, once.Order) (once.Order, error),
) (reconcile.Report, error) {
	if err := oneOf("--output", o.output, "text", "json", "markdown"); err != nil {
		return reconcile.Report{}, err
	}
	log, err := t.logger(o.logFormat, o.logLevel)
	if err != nil {
		return reconcile.Report{}, err
	}
	if order.Zones, order.Tokens, err = o.scope(); err != nil {
		return reconcile.Report{}, err
	}
	s, err := t.settings(o)
	if err != nil {
		return reconcile.Report{}, err
	}
	if why == toApply {
		if err := s.mayWrite(o); err != nil {
			return reconcile.Report{}, err
		}
	}
	if adjust != nil {
		if order, err = adjust(s, order); err != nil {
			return reconcile.Report{}, err
		}
	}
	giveBack, err := keepOwner(t, s.StateDir)
	if err != nil {
		return reconcile.Report{}, err
	}
	defer giveBack()
	a, err := assemble(cmd.Context(), s, why, log)
	if err != nil {
		return reconcile.Report{}, err
	}
	defer a.close()
	if why == toApply {
		defer sayInterrupted(cmd.Context(), t)()
	}
	show, wipe := t.follow(a.quota)
	run := a.once(show)
	var report reconcile.Report
	if why == toPlan {
		report = run.Plan(cmd.Context(), order)
	} else {
		report = run.Apply(cmd.Context(), order)
	}
	wipe()
	t.problems(t.err, report.Problems)
	if report.Err != nil && len(report.Results) == 0 {
		return report, explain(report.Err)
	}
	return report, nil
}

// explain adds what to try to an error of a run.
func explain(err error) error {
	if advice := adviceOf(err); advice != "" {
		return fail(err, advice)
	}
	if errors.Is(err, reconcile.ErrInvalid) {
		return fail(err, "nothing was sent; seawall validate checks a folder without a network")
	}
	return err
}

// adviceOf is the hint of a failure of git or of the ledger; empty for none.
func adviceOf(err error) string {
	var known interface{ Advice() string }
	if errors.As(err, &known) {
		return known.Advice()
	}
	return ""
}
