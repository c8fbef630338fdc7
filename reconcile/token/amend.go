package token

import (
	"context"
	"errors"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// amend updates a token in place and reads it back. An update whose outcome is
// unknown is judged by what is read. Where it had no effect it has failed, and the
// next work sends it again: that would do the same.
func (w *Worker) amend(ctx context.Context, c diff.Change, a diff.Amendment) reconcile.Result {
	ctx, cancel := reconcile.Lingering(ctx)
	defer cancel()
	o := w.of(a.Owner)
	_, lost := request(ctx, w, func(ctx context.Context) (edge.Token, error) { return o.Writer.UpdateToken(ctx, a.ID, a.Body) })
	if lost != nil && !errors.Is(lost, edge.ErrOutcomeUnknown) {
		return failed(c, "updating the token", lost)
	}
	live, err := o.Reader.UserToken(ctx, a.ID)
	if err != nil {
		return failed(c, "reading the token back", errors.Join(lost, err))
	}
	left := planner.Secrets.Remaining(a, live)
	switch {
	case len(left) > 0 && lost != nil:
		return failed(c, "updating the token", lost)
	case len(left) > 0:
		w.unkept[c.ID()] = c.Fingerprint()
		return reconcile.Result{
			Change: c, Outcome: reconcile.NonConvergent, Left: left,
			Err: fmt.Errorf("token %s was written, but is not as sent", a.ID),
		}
	}
	delete(w.unkept, c.ID())
	if err := w.Memory.Amend(ctx, a.Intent, a.Spec, a.Hash); err != nil {
		return failed(c, "recording the update", err)
	}
	return reconcile.Result{Change: c, Outcome: reconcile.Converged}
}
