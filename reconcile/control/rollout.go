package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// rollout is how far the commit in force has come through the waves: what is on
// record, and what has become of zones since.
type rollout struct {
	have     reconcile.Rollout                    // replaced by take alone; its zones are never written to
	next     int                                  // the wave after the open one; 0 for none
	outcomes map[edge.Scope]reconcile.ZoneOutcome // not on record yet
	under    map[edge.Scope]reconcile.Lease       // of those that were noted under a lease
	stale    bool                                 // have is not what was on record when it was read last
}

func newRollouts(have reconcile.Rollout) rollout {
	o := rollout{outcomes: map[edge.Scope]reconcile.ZoneOutcome{}, under: map[edge.Scope]reconcile.Lease{}}
	o.take(have)
	return o
}

// anew is what is on record by now, with what has become of zones of the same commit since.
func (o *rollout) anew(have reconcile.Rollout) rollout {
	next := newRollouts(have)
	if o.have.Commit == have.Commit && o.outcomes != nil {
		next.outcomes, next.under = o.outcomes, o.under
	}
	return next
}

// take takes over what is on record.
func (o *rollout) take(have reconcile.Rollout) { o.have, o.next = have, after(have, have.Wave) }

// facts are [factsOf] of it, which costs no look at its zones.
func (o *rollout) facts(waves []reconcile.Wave, now time.Time) *guard.Rollout {
	return factsAt(o.have, waves, now, func() int { return o.next })
}

// open is [open] of it.
func (o *rollout) open(waves []reconcile.Wave, now time.Time) int {
	wave, _ := openAt(o.have, waves, now, func() int { return o.next })
	return wave
}

// of tells guards how far it is for one zone at a time; nil where the zone does not
// wait for it.
func (o *rollout) of(id edge.Scope, waves []reconcile.Wave, now time.Time) *guard.Rollout {
	if !waits(o.have, id) {
		return nil
	}
	f := o.facts(waves, now)
	if f == nil || !o.delays(id, waves, f.Open) {
		return nil
	}
	f.Wave[id] = o.have.Zones[id].Wave
	return f
}

// delays reports whether a zone has to wait while zones up to a wave may be written. One
// that was done, and of which that is not on record yet, does not: what differs in it
// is drift.
func (o *rollout) delays(id edge.Scope, waves []reconcile.Wave, open int) bool {
	if len(waves) == 0 || !waits(o.have, id) {
		return false
	}
	wave := o.have.Zones[id].Wave
	if wave <= o.have.Wave && o.outcomes[id] != reconcile.ZonePending && o.outcomes[id] != reconcile.ZoneFailed {
		return false
	}
	return o.have.Halted != "" || wave > open
}

// recordOutcomes records what became of zones since, and returns the zones of waves that have opened
// by it. A person may have let the waves go on meanwhile. Of several processes each records what it
// has found, under the lease by which it has: one that is late must not put a failure in the place of
// what the next holder has made good. The waves are judged by all on record in the same transaction,
// so any may record that one opens or is halted: whoever has recorded the last outcome of a wave knows
// first when its time is over, and a second one finds nothing to change.
func (c *Control) recordOutcomes(ctx context.Context) (opened []edge.Scope, err error) {
	waves, now := c.Guards.Waves, c.Now()
	c.mu.Lock()
	before, found := c.state.rollout.have, c.state.rollout.byLease() // workers note more meanwhile
	c.mu.Unlock()
	if len(waves) == 0 || len(before.Zones) == 0 {
		return nil, nil
	}
	if len(found) == 0 && moves(before, waves, now) {
		return c.roll(ctx, nil)
	}
	for lease, outcomes := range found {
		more, failed := c.roll(reconcile.Under(ctx, lease), outcomes)
		if errors.Is(failed, reconcile.ErrLeaseLost) {
			c.mu.Lock()
			c.state.rollout.drop(lease)
			c.mu.Unlock()
			continue
		}
		opened, err = append(opened, more...), errors.Join(err, failed)
	}
	return opened, err
}

// byLease are the outcomes that are not on record yet, by the lease under which they were noted.
func (o *rollout) byLease() map[reconcile.Lease]map[edge.Scope]reconcile.ZoneOutcome {
	found := map[reconcile.Lease]map[edge.Scope]reconcile.ZoneOutcome{}
	for id, outcome := range o.outcomes {
		lease := o.under[id]
		if found[lease] == nil {
			found[lease] = map[edge.Scope]reconcile.ZoneOutcome{}
		}
		found[lease][id] = outcome
	}
	return found
}

// drop forgets what was noted under a lease that another process has by now.
func (o *rollout) drop(lease reconcile.Lease) {
	maps.DeleteFunc(o.outcomes, func(id edge.Scope, _ reconcile.ZoneOutcome) bool { return o.under[id] == lease })
	maps.DeleteFunc(o.under, func(_ edge.Scope, under reconcile.Lease) bool { return under == lease })
}

// roll records outcomes, and how far the waves have come by all that is on record.
func (c *Control) roll(ctx context.Context, outcomes map[edge.Scope]reconcile.ZoneOutcome) (opened []edge.Scope, err error) {
	waves, now := c.Guards.Waves, c.Now()
	c.mu.Lock()
	before := c.state.rollout.have
	c.mu.Unlock()
	var next reconcile.Rollout
	err = c.Records.Roll(ctx, func(have reconcile.Rollout) reconcile.Rollout {
		next = have
		if have.Commit == before.Commit {
			upTo, _ := open(have, waves, now)
			next = Noted(have, waves, upTo, outcomes, now)
		}
		return next
	})
	if err != nil {
		return nil, fmt.Errorf("recording how far the waves have come: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.rollout.recorded(before, next, outcomes), nil
}

// readRollout takes the rollout on record in the place of the one that was known: a person
// has let it go on, or another process has come further.
func (c *Control) readRollout(ctx context.Context) error {
	return c.Records.Roll(ctx, func(have reconcile.Rollout) reconcile.Rollout {
		c.mu.Lock()
		defer c.mu.Unlock()
		have.Zones = maps.Clone(have.Zones)
		c.state.rollout.take(have)
		return have
	})
}

// Rollout says how far the waves have come, nil where there are none on their way.
func (c *Control) Rollout() *guard.Rollout {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.rollout.facts(c.Guards.Waves, c.Now())
}

// recorded takes in a rollout that was put on record with outcomes, and returns the zones
// of waves that have opened by it.
func (o *rollout) recorded(before, next reconcile.Rollout, outcomes map[edge.Scope]reconcile.ZoneOutcome) (opened []edge.Scope) {
	if o.have.Commit != before.Commit {
		return nil // a newer commit has its own
	}
	o.take(next)
	for id, outcome := range outcomes {
		if o.outcomes[id] == outcome {
			delete(o.outcomes, id)
			delete(o.under, id)
		}
	}
	for id, z := range next.Zones {
		if z.Wave > before.Wave && z.Wave <= next.Wave && waits(next, id) {
			opened = append(opened, id)
		}
	}
	return opened
}

// note keeps what has become of a zone until it is recorded. lease is that of the look at it; zero
// for none.
func (o *rollout) note(id edge.Scope, outcome reconcile.ZoneOutcome, lease reconcile.Lease) {
	if !waits(o.have, id) || outcome == reconcile.ZonePending {
		return
	}
	o.outcomes[id] = outcome
	if lease.Epoch > 0 {
		o.under[id] = lease
	}
}

// compare notes whether the rollout on record is another one than is known.
func (o *rollout) compare(standing reconcile.Standing) {
	o.stale = o.have.Commit != standing.RolloutCommit || o.have.Halted != standing.RolloutHalted || o.have.Wave != standing.RolloutWave
}
