package token

import (
	"context"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// request makes a request that writes, unless another process does this work by now, and ends it
// before another may.
func request[T any](ctx context.Context, do func(context.Context) (T, error)) (made T, err error) {
	if err := reconcile.MayWrite(ctx); err != nil {
		return made, err
	}
	ctx, leaves, end := reconcile.Request(ctx)
	defer end()
	return do(edge.BeforeSend(ctx, leaves))
}
