package token

import (
	"context"
	"errors"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// delete ends a token that Seawall made or adopted. One that is gone already is
// as good as deleted.
func (w *Worker) delete(ctx context.Context, c diff.Change, d diff.Deletion) reconcile.Result {
	ctx, cancel := reconcile.Lingering(ctx)
	defer cancel()
	o := w.of(d.Owner)
	_, err := request(ctx, w, func(ctx context.Context) (struct{}, error) { return struct{}{}, o.Writer.DeleteToken(ctx, d.ID) })
	if errors.Is(err, edge.ErrOutcomeUnknown) {
		if _, readErr := o.Reader.UserToken(ctx, d.ID); readErr != nil {
			err = readErr
		}
	}
	if err != nil && !errors.Is(err, edge.ErrNotFound) {
		return failed(c, "deleting the token", err)
	}
	if err := w.Memory.Gone(ctx, d.Intent); err != nil {
		return failed(c, "recording the deletion", err)
	}
	return reconcile.Result{Change: c, Outcome: reconcile.Converged}
}
