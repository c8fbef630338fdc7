package control

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// runCounts is what counts for the limits of a commit while one run writes some of its zones: all that
// the run is about to write, what was written before, and what other processes count meanwhile. Drift
// counts in the plan alone. It is safe for concurrent use; nil counts nothing.
type runCounts struct {
	commit  string
	process string // names the run where it counts
	facts   guard.Facts
	agreed  map[edge.Scope]bool // whose changes people have agreed to

	mu    sync.Mutex // guards these
	tally *guard.Tally
	after int64 // the number up to which it is known what others have counted
}

func newRunCounts(t Terms) *runCounts {
	if len(t.Facts.Rules) == 0 || t.State.Commit == "" || t.Restores != nil {
		return nil
	}
	c := &runCounts{commit: t.State.Commit, process: rand.Text(), agreed: map[edge.Scope]bool{}, tally: guard.NewTally("this commit", t.Facts)}
	c.facts = guard.Facts{Rules: t.Facts.Rules, Zones: t.Facts.Zones, LabelsBefore: t.Facts.LabelsBefore, Base: t.Facts.Base, Tally: c.tally}
	if t.Facts.Tally != nil {
		c.tally.CountAll(t.Facts.Tally)
	}
	for _, change := range t.Plan.Changes {
		switch {
		case change.Approved:
			c.agreed[change.Scope] = true
		case change.Applies() && change.Level() != edge.LevelCredential:
			c.tally.Count(change.Scope, change.Direction == diff.Weakens)
		}
	}
	return c
}

// refuses says which limit a change would pass by now; nil for none.
func (c *runCounts) refuses(now diff.Change) *diff.Refusal {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	refusal := refusalOf(now, c.facts)
	if refusal == nil || refusal.Guard != diff.GuardLimit {
		return nil // the plan has passed all others
	}
	return refusal
}

// of is a change as it counts, and up to which number it is known what others have counted; nil where
// it does not count.
func (c *runCounts) of(now diff.Change, at time.Time) (*reconcile.Count, int64) {
	if c == nil {
		return nil, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return &reconcile.Count{Scope: now.Scope, Commit: c.commit, At: at, Weakens: now.Direction == diff.Weakens, By: c.process}, c.after
}

// add has a change count for all processes. Where others have counted what is not known here, that is
// taken in: the change is to be judged again.
func (c *runCounts) add(ctx context.Context, records reconcile.Counts, count reconcile.Count, after int64) error {
	err := records.Tally(ctx, count, after, time.Time{})
	if err == nil || !errors.Is(err, reconcile.ErrCounted) {
		return err
	}
	list, failed := records.Tallied(ctx, after)
	if failed != nil {
		return fmt.Errorf("reading what counts for limits: %w", failed)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, other := range list {
		c.after = max(c.after, other.Number)
		if other.Commit != c.commit {
			continue
		}
		if other.All == nil {
			c.tally.Count(other.Scope, other.Weakens)
		}
		for id, weakens := range other.All {
			if !c.agreed[id] {
				c.tally.Count(id, weakens)
			}
		}
	}
	return err
}
