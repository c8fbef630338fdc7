package zone

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrBusy: the rulesets of the account are being read for another zone, and that
// takes long. Look again a little later, rather than keep a worker waiting.
var ErrBusy = errors.New("the rulesets of the account are being read")

// busyAfter is how long a zone waits for another zone's read of its account.
const busyAfter = 2 * time.Second

// turn is what one zone at a time has that reads something of an account for all.
type turn struct {
	free chan struct{} // holds a value while no one has it

	mu    sync.Mutex
	taken time.Time // when someone took it; zero while no one has it
}

func newTurn() *turn {
	t := &turn{free: make(chan struct{}, 1)}
	t.free <- struct{}{}
	return t
}

// take waits for the turn, but not for whoever has had it for long: [ErrBusy]. Another error is
// that the context has ended.
func (t *turn) take(ctx context.Context, now func() time.Time) error {
	select {
	case <-t.free: // mostly no one has it
	default:
		if err := t.wait(ctx, now); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken = now()
	return nil
}

func (t *turn) wait(ctx context.Context, now func() time.Time) error {
	t.mu.Lock()
	wait := busyAfter
	if !t.taken.IsZero() {
		wait -= now().Sub(t.taken)
	}
	t.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-t.free:
		return nil
	case <-timer.C:
		return ErrBusy
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t *turn) give() {
	t.mu.Lock()
	t.taken = time.Time{}
	t.mu.Unlock()
	t.free <- struct{}{}
}
