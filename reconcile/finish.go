package reconcile

import (
	"context"
	"errors"
	"time"
)

// ErrSuperseded: a newer commit declares the zone otherwise than the one that was
// about to be written. Nothing was sent; the newer declaration comes next.
var ErrSuperseded = errors.New("a newer commit changes it")

// Lingering returns a context that outlives ctx by d, so that what was begun can
// be finished.
func Lingering(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	long, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-long.Done():
		}
	})
	return long, func() { stop(); cancel() }
}
