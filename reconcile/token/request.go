package token

import (
	"context"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// request makes a request that writes, unless another process does this work by now, or what the caller
// of the work has put into the context ([edge.BeforeSend]) fails: that is called before the request waits
// for its turn, and again before it leaves. It ends the request before another process may do the work.
func request[T any](ctx context.Context, do func(context.Context) (T, error)) (made T, err error) {
	if err := reconcile.MayWrite(ctx); err != nil {
		return made, err
	}
	if err := edge.Sending(ctx); err != nil {
		return made, err
	}
	ctx, leaves, end := reconcile.Request(ctx)
	defer func() { end(err) }()
	return do(edge.BeforeSend(ctx, leaves))
}
