package reconcile

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

// Count is a zone that a process is about to change, as limits count it over all processes.
type Count struct {
	Scope edge.Scope
	// Commit is the one for which the zone is changed; empty: a drift is corrected.
	Commit  string
	At      time.Time
	Weakens bool
	By      string // the process
	Number  int64  // from 1; the store gives it
}

// ErrCounted: other processes have counted changes that whoever asks does not know of. Nothing was
// counted.
var ErrCounted = errors.New("other processes have changed zones that count for limits, too")

// Counts are the changes that limits count while several processes make them: each counts what it is
// about to change before that, and knows by then what all others have counted. A zone may be counted
// more than once.
type Counts interface {
	// Tally has a change count, with the next number, unless another process than the one that asks
	// has counted one with a higher number than after: that is [ErrCounted]. What counts for
	// a drift from before a time is dropped, and what counts for a commit that was accepted before.
	Tally(ctx context.Context, c Count, after int64, before time.Time) error
	// Tallied returns what counts with a higher number than after, in the order of numbers.
	Tallied(ctx context.Context, after int64) ([]Count, error)
}

// Tally implements [Counts].
func (f *Forgetful) Tally(ctx context.Context, c Count, after int64, before time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	last := int64(0)
	for _, have := range f.counts {
		if last = have.Number; have.Number > after && have.By != c.By {
			return ErrCounted
		}
	}
	f.counts = slices.DeleteFunc(f.counts, func(have Count) bool {
		return have.Number < last && (have.Commit == "" && have.At.Before(before) || have.Commit != "" && have.Commit != f.has.Accepted.Commit)
	})
	c.Number = last + 1
	f.counts = append(f.counts, c)
	return nil
}

// Tallied implements [Counts].
func (f *Forgetful) Tallied(ctx context.Context, after int64) (list []Count, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.counts {
		if c.Number > after {
			list = append(list, c)
		}
	}
	return list, ctx.Err()
}
