package lease

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// HeldError is a lease that another process has.
type HeldError struct{ Row Row }

// Error names the process.
func (e *HeldError) Error() string {
	return fmt.Sprintf("%s has had the lease %q since %s", e.Row.Replica, e.Row.Name, e.Row.Since.UTC().Format(time.RFC3339))
}

// Take gets a lease for a command, at once or not at all, and renews it until release is called,
// which gives it up. c.Names are not asked for. Where another process has the lease, it is a
// [HeldError].
func Take(ctx context.Context, c Config, name reconcile.LeaseName) (leases *Holder, release func(), err error) {
	c.Names = []reconcile.LeaseName{name}
	h := New(c)
	h.command = true
	if _, err := h.look(ctx); err != nil {
		return nil, nil, err
	}
	if got, err := h.take(ctx, name); err != nil || got == 0 {
		v, looked := h.look(ctx)
		if err = cmp.Or(err, looked); err != nil {
			return nil, nil, err
		}
		return nil, nil, &HeldError{Row: v.rows[0]}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.Run(ctx)
	}()
	return h, func() { cancel(); <-ended }, nil
}
