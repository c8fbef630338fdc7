package jobs

import (
	"context"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// lostWithin is how soon a process notes that it has a lease, or has it no more, where nothing tells
// it.
const lostWithin = time.Second

// Leading runs do for as long as this process has a lease, again each time that it gets it, until
// ctx ends. The context of do is under the lease, and ends when it is to go to another process.
func Leading(ctx context.Context, leases reconcile.Leases, name reconcile.LeaseName, do func(context.Context)) {
	for ctx.Err() == nil {
		changed := leases.Changed()
		within, end, held := reconcile.Begin(ctx, leases, name)
		lease, several := reconcile.LeaseIn(within)
		switch {
		case !held:
			pause(ctx, changed)
		case !several:
			do(ctx)
			end()
			return
		default:
			under(within, leases, lease, do)
			end()
		}
	}
}

// under runs do under a lease, and returns once both have ended.
func under(ctx context.Context, leases reconcile.Leases, lease reconcile.Lease, do func(context.Context)) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer stop()
		for ctx.Err() == nil {
			changed := leases.Changed()
			if now, held := leases.Held(lease.Name); !held || now.Epoch != lease.Epoch {
				return
			}
			pause(ctx, changed)
		}
	}()
	do(ctx)
	<-ctx.Done()
}

func pause(ctx context.Context, changed <-chan struct{}) {
	timer := time.NewTimer(lostWithin)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-changed:
	case <-timer.C:
	}
}
