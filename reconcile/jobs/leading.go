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
// ctx ends. The context of do is under the lease, and ends with it.
func Leading(ctx context.Context, leases reconcile.Leases, name reconcile.LeaseName, do func(context.Context)) {
	for ctx.Err() == nil {
		changed := leases.Changed()
		lease, held := leases.Held(name)
		switch {
		case held && lease.Epoch == 0: // of the only process
			do(ctx)
			return
		case held:
			under(ctx, leases, lease, do)
		default:
			pause(ctx, changed)
		}
	}
}

// under runs do under a lease, and returns once both have ended.
func under(ctx context.Context, leases reconcile.Leases, lease reconcile.Lease, do func(context.Context)) {
	ctx, stop := context.WithCancel(reconcile.Under(ctx, lease))
	defer stop()
	go func() {
		for ctx.Err() == nil {
			changed := leases.Changed()
			now, held := leases.Held(lease.Name)
			if held && now.Epoch != lease.Epoch || !held && leases.Left(lease) <= 0 {
				stop()
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
