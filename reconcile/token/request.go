package token

import (
	"context"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// request makes a request that writes, unless another process does this work by now, or what the caller
// of the work has put into the context ([edge.BeforeSend]) fails: that is called before the request waits
// for its turn, and again before it leaves. It ends the request before another process may do the work.
func request[T any](ctx context.Context, w *Worker, do func(context.Context) (T, error)) (made T, err error) {
	ctx, done, err := w.begin(ctx)
	defer done()
	if err != nil {
		return made, err
	}
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

// Leasing is a [reconcile.TokenMemory] over a database whose process has taken the lease on tokens by itself, as commands do:
// no context of their work says so.
type Leasing interface {
	// BeginRequest returns the context of a request under that lease; [reconcile.ErrLeaseLost] where it is
	// lost. end is to be called after the request, and is never nil.
	BeginRequest(ctx context.Context) (within context.Context, end func(), err error)
}

// begin begins a request that writes. end is to be called once it has ended; it is never nil.
func (w *Worker) begin(ctx context.Context) (within context.Context, end func(), err error) {
	if memory, ok := w.Memory.(Leasing); ok {
		return memory.BeginRequest(ctx)
	}
	return ctx, func() {}, nil
}
