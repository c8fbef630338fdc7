package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/seawall-dev/seawall/diff"
)

// ErrSuperseded: a newer commit declares the zone otherwise than the one that was
// about to be written. Nothing was sent; the newer declaration comes next.
var ErrSuperseded = errors.New("a newer commit changes it")

// ErrPutBack: the records were put back to an earlier time, and git was not looked at since. Nothing was
// sent. It is an [ErrSuperseded]: a newer commit may have been in force.
var ErrPutBack error = putBackError{}

type putBackError struct{}

func (putBackError) Error() string {
	return diff.ReasonPutBack + "; nothing is written until " + diff.ReleasePutBack
}

// Advice is what to try.
func (putBackError) Advice() string {
	return "run it again when seawall status does not say any more that the ledger was put back"
}

func (putBackError) Is(target error) bool { return target == ErrSuperseded }

// NotPutBack fails with [ErrPutBack] while nothing is written of what these records have.
func NotPutBack(ctx context.Context, records Records) error {
	standing, err := records.Standing(ctx)
	if err != nil {
		return fmt.Errorf("asking whether anything may be written: %w", err)
	}
	if standing.PutBack != 0 {
		return ErrPutBack
	}
	return nil
}

// ElsewhereError says that another process of Seawall writes to a zone, or has written to it since
// it was read. Nothing was sent: the zone is read and planned once more.
type ElsewhereError struct {
	Process int    // its number, for people
	Host    string // its machine; empty: this one, or it has ended
	Writing bool   // it had not ended when the wait for it did
}

func (e *ElsewhereError) Error() string {
	who := strconv.Itoa(e.Process)
	if e.Host != "" {
		who += " on " + e.Host
	}
	if e.Writing {
		return fmt.Sprintf("another Seawall process (%s) is writing to the zone", who)
	}
	return fmt.Sprintf("another Seawall process (%s) has written to the zone since it was read", who)
}

// HeldError says that the zone is held when its write is about to be recorded. Nothing was recorded.
type HeldError struct{ Hold diff.Hold }

func (e *HeldError) Error() string { return "the zone is " + e.Hold.String() }

// Permitted says why a write may not be recorded, nil where it may: accepted is the commit in
// force, and holds are what holds the zone at this moment. Those of reverts count only for
// the declaration that they depend on.
func (e Entry) Permitted(accepted string, holds []diff.Hold) error {
	if e.Asked.Commit != accepted {
		return fmt.Errorf("commit %s is in force now: %w", accepted, ErrSuperseded)
	}
	for _, h := range holds {
		if h.Reverted() && h.Declaration != e.Declaration {
			continue
		}
		if _, held := diff.HoldOn([]diff.Hold{h}, e.Subject.Zone, e.Subject.Scope); held {
			return &HeldError{h}
		}
	}
	return nil
}

// Grace is how long what was begun may go on after everything was told to stop: a write that
// was sent and its proof, and the records of what became of it. A request takes no longer.
const Grace = 20 * time.Second

// Lingering returns a context that outlives ctx by the grace, so that what was begun can be
// finished.
func Lingering(ctx context.Context) (context.Context, context.CancelFunc) {
	long, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := endAfterGrace(ctx, long, end)
	return long, func() { stop(); end(nil) }
}

// UntilSent returns a context that ends with ctx as long as nothing was sent, and
// outlives it by the grace from then on. sending says that now something is, or
// returns why it must not be. It is called once at most.
func UntilSent(ctx context.Context) (long context.Context, sending func() error, cancel context.CancelFunc) {
	long, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	sending = func() error {
		if !stop() {
			return context.Cause(ctx)
		}
		stop = endAfterGrace(ctx, long, end)
		return nil
	}
	return long, sending, func() { stop(); end(nil) }
}

// endAfterGrace ends a context when the grace after the end of ctx is over, unless
// it is stopped before ctx ends or long has ended by then.
func endAfterGrace(ctx, long context.Context, end context.CancelCauseFunc) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		timer := time.NewTimer(graceOf(ctx))
		defer timer.Stop()
		select {
		case <-timer.C:
			end(context.Cause(ctx))
		case <-long.Done():
		}
	})
}

func graceOf(ctx context.Context) time.Duration {
	if left, bounded := Left(ctx); bounded {
		return min(Grace, left)
	}
	return Grace
}
