package control

import (
	"context"
	"fmt"
	"maps"
	"reflect"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Rename puts a generation in force that differs from g only in the ids that zones and
// accounts were found to have. What is on record stays with the id: a zone that has a new
// one is another zone, of which nothing is proved and nothing is owned. It does nothing
// where g is not in force any more.
func (c *Control) Rename(ctx context.Context, g *Generation, state desired.State) (Decision, error) {
	c.deciding.Lock()
	defer c.deciding.Unlock()
	now := c.Current()
	if !now.Same(g) {
		return Decision{}, nil
	}
	g = now
	standing, err := c.Records.Standing(ctx)
	if err != nil {
		return Decision{}, fmt.Errorf("asking what others have accepted since: %w", err)
	}
	if standing.Commit != g.State.Commit { // the commit of another process comes first
		return Decision{}, nil
	}
	next := newGeneration(state, g)
	c.mu.Lock()
	d := c.state.zones.between(g, next)
	d.Renamed, d.Forward = ids(g.State, state), len(d.Due)-len(d.Back)
	next.earlier = renamedEarlier(g.earlier, d.Renamed)
	a := c.state.acceptance(next, d)
	a.Author, a.Renamed, a.Rollout = c.state.accepted.Author, d.Renamed, renamed(c.state.rollout.have, d.Renamed)
	c.mu.Unlock()
	if err := c.Records.AcceptCommit(ctx, a); err != nil {
		return Decision{}, fmt.Errorf("recording the ids of zones: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.accept(a)
	d.Look = c.state.rename(next)
	return d, nil
}

// rename makes a generation the one in force that differs in ids alone. What was counted
// of the commit stays counted; a zone that is found later counts when it is about to be
// written.
func (s *state) rename(g *Generation) (look []edge.Scope) {
	reading, counted := s.limits.reading(), s.limits.commit
	s.publish(g)
	if reading || counted == nil {
		return s.judge(g)
	}
	s.limits.commit.CountAll(counted)
	s.limits.weighs = true
	return nil
}

// Adopt has the generation in force hold the values of a state that declares the very same at the same
// places. What the next state has in common with these values is not compared with it, nor encoded
// again. Nothing else changes, nor is put on record. It is false where anything differs. No decision
// waits while it compares: of a large fleet that takes a second.
func (c *Control) Adopt(state desired.State) bool {
	g := c.Current()
	if g == nil || !reflect.DeepEqual(g.State, state) {
		return false
	}
	c.saving.Lock()
	saved := c.saved
	c.saving.Unlock()
	_, err := saved.encode(state)
	return err == nil && c.adopt(g, state, saved)
}

// adopt has g hold the values of a state, as encoded, unless g is not in force any more.
func (c *Control) adopt(g *Generation, state desired.State, saved encoder) bool {
	c.deciding.Lock()
	defer c.deciding.Unlock()
	c.saving.Lock()
	defer c.saving.Unlock()
	if c.Current() != g {
		return false
	}
	next := *g
	next.State = state
	c.mu.Lock()
	defer c.mu.Unlock()
	c.saved = saved
	c.state.current.Store(&next)
	return true
}

// ids are the zones of a state whose id is another one in a later state that declares
// the same.
func ids(before, after desired.State) map[edge.Scope]edge.Scope {
	changed := map[edge.Scope]edge.Scope{}
	for i, account := range before.Accounts {
		for j, z := range account.Zones {
			if id := after.Accounts[i].Zones[j].Scope; id != z.Scope {
				changed[z.Scope] = id
			}
		}
	}
	return changed
}

// renamed is a rollout in which zones have other ids; nil where it has none of them. What
// became of the id before says nothing of the zone that has the name now.
func renamed(o reconcile.Rollout, ids map[edge.Scope]edge.Scope) *reconcile.Rollout {
	waiting := maps.Clone(o.Zones)
	for id := range ids {
		delete(waiting, id)
	}
	if len(waiting) == len(o.Zones) {
		return nil
	}
	for before, id := range ids {
		if z, ok := o.Zones[before]; ok {
			waiting[id] = reconcile.RolloutZone{Wave: z.Wave}
		}
	}
	o.Zones = waiting
	return &o
}
