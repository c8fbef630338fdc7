package token

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Apply delivers secrets that still wait for their sink, then sends what a guarded
// plan has: creations first, deletions last. In this order a new secret goes where
// the one it replaces went. Where another process works on tokens it does nothing.
func (w *Worker) Apply(ctx context.Context, live diff.TokensLive, plan diff.Plan) Outcome {
	if live.Elsewhere != "" {
		return Outcome{Plan: plan}
	}
	a := applier{Worker: w, outcome: Outcome{Plan: plan}, empty: map[desired.Sink]bool{}, rejected: map[edge.AccountID]bool{}}
	a.deliver(ctx, live, w.waiting(live))
	send(ctx, &a, w.create)
	send(ctx, &a, w.amend)
	send(ctx, &a, func(ctx context.Context, c diff.Change, d diff.Deletion) reconcile.Result {
		if a.inUse(d.Sink) {
			return reconcile.Result{Change: c, Outcome: reconcile.NotStarted, Err: errStillInUse}
		}
		return w.delete(ctx, c, d)
	})
	a.outcome.Err = errors.Join(a.stopped, w.record(ctx, live, plan.Settled))
	return a.outcome
}

var errStillInUse = errors.New("its secret is still in use: its successor was not created")

// applier carries one Apply.
type applier struct {
	*Worker
	outcome Outcome
	empty   map[desired.Sink]bool // places that still wait for a secret on record
	stopped error                 // why nothing more is sent, or not for an owner
	ended   bool                  // nothing more is sent for any
	// rejected are the owners whose credential the platform does not accept.
	rejected map[edge.AccountID]bool
}

// send makes the changes of one kind of operation.
func send[O diff.SecretOperation](ctx context.Context, a *applier, do func(context.Context, diff.Change, O) reconcile.Result) {
	for _, c := range a.outcome.Plan.Changes {
		operation, ok := c.Operation.(O)
		if !ok || !c.Applies() {
			continue
		}
		result := reconcile.Result{Change: c, Outcome: reconcile.NotStarted}
		owner := operation.OwnedBy()
		if !a.ended && !a.rejected[owner] && ctx.Err() == nil {
			result = do(ctx, c, operation)
		}
		switch {
		case a.rejected[owner]:
		case rejected(result.Err):
			a.rejected[owner], a.stopped = true, errors.Join(a.stopped, a.of(owner).rejection(result.Err))
		case !a.ended && result.Outcome == reconcile.NotStarted && ctx.Err() != nil: // else it waits for another token
			a.ended, a.stopped = true, errors.Join(a.stopped, context.Cause(ctx))
		}
		a.outcome.Results = append(a.outcome.Results, result)
	}
}

// deliver tries again to deliver sealed secrets. A problem that it solves is taken
// out of the plan.
func (a *applier) deliver(ctx context.Context, live diff.TokensLive, waiting []diff.TokenRecord) {
	for _, record := range waiting {
		a.empty[*record.Sink] = true
		if ctx.Err() != nil {
			continue
		}
		result := a.redeliver(ctx, live.Of(record.Owner).Account, record)
		a.outcome.Results = append(a.outcome.Results, result)
		if result.Outcome == reconcile.Converged {
			a.empty[*record.Sink] = false
			a.outcome.Plan.Problems = withoutUndelivered(a.outcome.Plan.Problems, record.Key)
		}
	}
}

func withoutUndelivered(problems []diff.Problem, key string) []diff.Problem {
	kept := make([]diff.Problem, 0, len(problems))
	for _, p := range problems {
		if p.State != diff.Undelivered || p.Token != key {
			kept = append(kept, p)
		}
	}
	return kept
}

// inUse reports whether a place still waits for another token's secret: what is
// there now is needed.
func (a *applier) inUse(place *desired.Sink) bool {
	if place == nil || a.empty[*place] {
		return place != nil
	}
	filled := map[string]bool{}
	for _, result := range a.outcome.Results {
		_, created := result.Change.Operation.(diff.Creation)
		filled[result.Change.Token] = filled[result.Change.Token] || created && result.Outcome == reconcile.Converged
	}
	return slices.ContainsFunc(a.outcome.Plan.Changes, func(c diff.Change) bool {
		creation, creates := c.Operation.(diff.Creation)
		return creates && creation.Sink != nil && *creation.Sink == *place && !filled[c.Token]
	})
}

// failed is the result of a change that could not be made. What is another process's to do by now, or may
// not be declared any more, has not failed.
func failed(c diff.Change, doing string, err error) reconcile.Result {
	if errors.Is(err, reconcile.ErrSuperseded) {
		return reconcile.Result{Change: c, Outcome: reconcile.NotStarted, Err: err}
	}
	return reconcile.Result{Change: c, Outcome: reconcile.Failed, Err: fmt.Errorf("%s: %w", doing, err)}
}
