package reconcile

import (
	"context"
	"errors"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

// Begin begins work under the lease on a name; false where that is not held. The context is that of
// [Under]: all that the work sends asks it once more ([Left], [Request]). end is to be called once
// nothing of the work is on its way any more; it is never nil.
func Begin(ctx context.Context, leases Leases, name LeaseName) (_ context.Context, end func(), held bool) {
	lease, end, held := leases.Begin(name)
	if !held {
		return ctx, end, false
	}
	return context.WithValue(Under(ctx, lease), leasesKey{}, leases), end, true
}

type leasesKey struct{}

// Apart is the context of what is put on record whoever has the lease of the work: what takes
// something of this process back, and gives nothing.
func Apart(ctx context.Context) context.Context { return Under(ctx, Lease{}) }

// Left is for how long what has begun under the lease of a context may still be on its way; false
// where it is under none, so that nothing bounds it.
func Left(ctx context.Context) (left time.Duration, bounded bool) {
	lease, leases, bounded := holding(ctx)
	if !bounded {
		return 0, false
	}
	return leases.Left(lease), true
}

// holding is the lease of a context with whoever has it; false where it is under none.
func holding(ctx context.Context) (lease Lease, leases Leases, under bool) {
	lease, under = LeaseIn(ctx)
	leases, ok := ctx.Value(leasesKey{}).(Leases)
	return lease, leases, under && ok
}

// MayWrite reports whether something may still be sent under the lease of a context: with
// [ErrLeaseLost] it may not, since the lease is gone, or is about to be given to another process.
func MayWrite(ctx context.Context) error {
	lease, leases, bounded := holding(ctx)
	if !bounded {
		return nil
	}
	if now, held := leases.Held(lease.Name); !held || now.Epoch != lease.Epoch || leases.Left(lease) <= 0 {
		return ErrLeaseLost
	}
	return nil
}

// errCut: the lease was about to end. What the request has done is not known.
var errCut = errors.New("the request was ended: another process may do this work soon")

// Request returns the context of a request that writes. leaves is to be called directly before the
// request is sent, at each try: it fails where nothing may be sent any more, and has the request end
// before the lease of its work does. end is to be called with what the request came to: where that is no
// answer, the lease is kept for as long as a server may be at work on it, whatever has ended the request.
func Request(ctx context.Context) (request context.Context, leaves func() error, end func(error)) {
	request, cancel := context.WithCancelCause(ctx)
	var timer *time.Timer
	sent := false
	leaves = func() error {
		if err := MayWrite(ctx); err != nil {
			return err
		}
		left, bounded := Left(ctx)
		switch {
		case !bounded:
		case timer == nil:
			timer = time.AfterFunc(left, func() { cancel(errCut) })
		default:
			timer.Reset(left)
		}
		sent = true
		return nil
	}
	return request, leaves, func(err error) {
		if timer != nil {
			timer.Stop()
		}
		if lease, leases, under := holding(ctx); under && mayBeAtWork(sent, err) {
			leases.Cut(lease)
		}
		cancel(nil)
	}
}

// mayBeAtWork reports whether a server may still be at work on a request that has ended so. Only an answer
// says that it is not, be it a refusal: neither who has ended the request, nor an error of another kind.
func mayBeAtWork(sent bool, err error) bool {
	_, answered := errors.AsType[*edge.Error](err)
	return errors.Is(err, edge.ErrOutcomeUnknown) || sent && err != nil && !answered
}
