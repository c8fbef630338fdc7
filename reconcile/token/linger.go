package token

import (
	"context"
	"time"
)

// grace is how long a write that was sent, and its proof, may go on after the work
// was told to stop.
const grace = 20 * time.Second

// lingering returns a context that outlives ctx by the grace, so that what was
// begun can be finished.
func lingering(ctx context.Context) (context.Context, context.CancelFunc) {
	long, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := endAfterGrace(ctx, long, cancel)
	return long, func() { stop(); cancel() }
}

// untilSent returns a context that ends with ctx as long as nothing was sent, and
// outlives it by the grace from then on. sending says that now something is, or
// returns why it must not be. It is called once at most.
func untilSent(ctx context.Context) (long context.Context, sending func() error, cancel context.CancelFunc) {
	long, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	sending = func() error {
		if !stop() {
			return context.Cause(ctx)
		}
		stop = endAfterGrace(ctx, long, func() { end(context.Cause(ctx)) })
		return nil
	}
	return long, sending, func() { stop(); end(nil) }
}

// endAfterGrace ends a context when the grace after the end of ctx is over, unless
// it is stopped before ctx ends or long has ended by then.
func endAfterGrace(ctx, long context.Context, end func()) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			end()
		case <-long.Done():
		}
	})
}
