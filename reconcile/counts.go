package reconcile

import (
	"context"
	"errors"
	"maps"
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
	// All are the zones that the commit changes, and whether that weakens, as the process has counted
	// them that decides about commits; nil: this counts one zone.
	All map[edge.Scope]bool
	// Read are the zones that exist as that process has read since the commit was accepted: shares are
	// shares of them, too.
	Read []edge.Scope
}

// ErrCounted: other processes have counted changes that whoever asks does not know of. Nothing was
// counted.
var ErrCounted = errors.New("other processes have changed zones that count for limits, too")

// Counts are the changes that limits count while several processes make them: each counts what it is
// about to change before that, and knows by then what all others have counted. A zone may be counted
// more than once. Nothing of a commit is written before it is known what all of it changes: see Counted.
type Counts interface {
	// Tally has a change count, with the next number, unless another process than the one that asks
	// has counted one with a higher number than after: that is [ErrCounted]. What counts for
	// a drift from before a time is dropped; what counts for a commit, when another one is accepted.
	Tally(ctx context.Context, c Count, after int64, before time.Time) error
	// Counted has the whole of the accepted commit count, with the next number, in the place of what
	// was counted for it so before. Where another commit is accepted that is [ErrSuperseded].
	Counted(ctx context.Context, c Count) error
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
	for _, have := range f.counts {
		if have.Number > after && have.By != c.By {
			return ErrCounted
		}
	}
	f.counts = slices.DeleteFunc(f.counts, func(have Count) bool {
		return have.Commit == "" && have.At.Before(before)
	})
	f.add(c)
	return nil
}

// Counted implements [Counts].
func (f *Forgetful) Counted(ctx context.Context, c Count) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch err := ctx.Err(); {
	case err != nil:
		return err
	case c.Commit != f.has.Accepted.Commit:
		return ErrSuperseded
	}
	f.counts = slices.DeleteFunc(f.counts, func(have Count) bool { return have.All != nil })
	c.All = maps.Clone(c.All)
	f.add(c)
	return nil
}

// add has a change count with the next number; the caller holds the lock.
func (f *Forgetful) add(c Count) {
	f.number++
	c.Number = f.number
	f.counts = append(f.counts, c)
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
