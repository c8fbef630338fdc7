package control

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Decision is what became of a proposal.
type Decision struct {
	// Held is set where the commit is not acted on; what was in force stays.
	Held *reconcile.Held
	// Accepted is the new generation, nil where nothing has changed.
	Accepted *Generation
	// Due are the zones to be worked on because of it; Look those that must be read
	// before any of these is written.
	Due, Look []edge.Scope
	// Gone are the zones that are no longer declared.
	Gone []edge.Scope
	// Back are those of Due that return to what was last proved in them, while nothing
	// else was sent since: there is nothing to undo.
	Back []edge.Scope
	// Forward is how many of Due do not return to that. None is a revert, of whatever had
	// begun.
	Forward int
	// SameZones says that the zones of before are declared, and no others.
	SameZones bool
	// Tokens says that something about tokens is declared otherwise than before.
	Tokens bool
	// Renamed are zones that have another id than before, by the earlier one.
	Renamed map[edge.Scope]edge.Scope
	// First says that nothing was in force before.
	First bool
}

// Propose decides about a commit. An accepted one is on record when it returns, with
// all that goes with it, and in force.
func (c *Control) Propose(ctx context.Context, p reconcile.Proposal) (Decision, error) {
	d, err := c.propose(ctx, p)
	if errors.Is(err, reconcile.ErrSuperseded) && !errors.Is(err, reconcile.ErrLeaseLost) { // waves were halted meanwhile, and are read again
		return c.propose(ctx, p)
	}
	return d, err
}

func (c *Control) propose(ctx context.Context, p reconcile.Proposal) (Decision, error) {
	if p.Err != nil {
		return Decision{Held: &reconcile.Held{Commit: p.Commit, Reason: p.Err.Error(), Problems: p.Problems}}, nil
	}
	if errs := desired.Errors(p.Problems); len(errs) > 0 {
		return Decision{Held: &reconcile.Held{Commit: p.Commit, Reason: reconcile.ErrInvalid.Error(), Problems: errs}}, nil
	}
	c.deciding.Lock()
	defer c.deciding.Unlock()
	before := c.Current()
	if p.Same || before != nil && p.Commit != "" && before.State.Commit == p.Commit && c.Accepted() == p.Commit {
		return Decision{}, approve(ctx, c.Records, p.Approvals) // the next tick reads them, with whatever else is new
	}
	next := newGeneration(p.State, before)
	c.mu.Lock()
	held := c.state.shrunk(next)
	c.mu.Unlock()
	if held != nil {
		return Decision{Held: held}, nil
	}
	if err := errors.Join(c.updateWaves(ctx), c.updateMemory(ctx)); err != nil {
		return Decision{}, err
	}
	c.mu.Lock()
	next.earlier = c.state.earlier(before, next)
	d := c.state.zones.between(before, next)
	accepted := c.state.acceptance(next, d)
	accepted.Author, accepted.Message, accepted.Approvals = p.Author, p.Message, p.Approvals
	c.state.accepting = accepted.Commit
	c.mu.Unlock()
	err := c.Records.AcceptCommit(ctx, accepted)
	c.mu.Lock()
	c.state.accepting = ""
	if err != nil {
		c.state.said = 0 // it may be on record all the same
		c.mu.Unlock()
		return Decision{}, fmt.Errorf("remembering the accepted commit: %w", err)
	}
	c.state.accept(accepted)
	left := c.state.zones.memory.leaving
	c.state.publish(next)
	news := newlyLeaving(left, c.state.zones.memory.leaving)
	d.Look = c.state.judge(next)
	if len(p.Approvals) > 0 { // what waits for one may go on, though the commit does not touch it
		d.Due = append(d.Due, c.state.release(true)...)
	}
	c.mu.Unlock()
	logLeaving(ctx, c.Log, next.State.Commit, news)
	_, departErr := c.depart(ctx)
	if err := errors.Join(departErr, c.recordDivided(ctx), c.recordUse(ctx)); err != nil {
		c.Log.WarnContext(ctx, "approvals of single changes cannot be put on record yet", "error", err.Error())
	}
	_, _ = c.recordWhole(ctx) // else the next tick does, and tells of what fails
	return d, nil
}

// updateWaves brings the waves up to date before a commit takes them over: what has become
// of zones may halt them, and a person may have let them go on.
func (c *Control) updateWaves(ctx context.Context) error {
	if len(c.Guards.Waves) == 0 {
		return nil
	}
	if _, err := c.recordOutcomes(ctx); err != nil {
		return err
	}
	if err := c.readRollout(ctx); err != nil {
		return fmt.Errorf("recalling how far the waves have come: %w", err)
	}
	return nil
}

// acceptance is what is to be on record of a new generation, by the decision that leads to it.
func (s *state) acceptance(next *Generation, d Decision) reconcile.Acceptance {
	s.zones.move(s.current.Load(), next)
	m := s.remember(next)
	a := reconcile.Acceptance{
		Commit: next.State.Commit, Size: next.size, Declared: next.declaration, Earlier: next.earlier, Given: d.Due, Memory: &m.record,
		Gone: s.zones.undeclared(next), Keep: s.zones.keeps(next),
	}
	if len(s.guards.Waves) > 0 && s.rollout.have.Commit != next.State.Commit {
		rollout := newRollout(s.guards.Waves, s.rollout.have, next.State.Commit, s.rolled(next, d), s.zones.proved)
		a.Rollout = &rollout
	}
	return a
}

// rolled are the zones that a commit is still to change, and that wait for its waves: of those that
// it touches, and of those that wait for them already.
func (s *state) rolled(next *Generation, d Decision) (zones []desired.Zone) {
	roll := func(id edge.Scope) {
		if next.Declares(id) && s.zones.unproved(next, id) && !s.zones.returns(next, id) {
			_, z := next.At(id)
			zones = append(zones, *z)
		}
	}
	touched := make(scopes, len(d.Due))
	for _, id := range d.Due {
		touched.add(id)
		roll(id)
	}
	for id := range s.rollout.have.Zones {
		if _, twice := touched[id]; !twice && waits(s.rollout.have, id) {
			roll(id)
		}
	}
	return zones
}

// between is the decision that leads from one generation to another, which came out of it.
func (zs *zones) between(before, next *Generation) Decision {
	d := Decision{Accepted: next, First: before == nil, Tokens: true}
	if before != nil {
		step := next.after(before)
		d.Gone, d.SameZones = step.gone, step.Same
		d.Tokens = !desired.SameTokens(before.State.Tokens, next.State.Tokens)
	}
	zs.due(before, next, &d)
	return d
}

// due notes in a decision what is to be worked on because of it.
func (zs *zones) due(before, next *Generation, d *Decision) {
	for _, id := range zs.touched(before, next) {
		d.Due = append(d.Due, id)
		switch {
		case zs.unproved(next, id):
			d.Forward++
		case !zs.of(id).sent:
			d.Back = append(d.Back, id)
		}
	}
}

// touched are the zones that a generation declares otherwise than the one before, in their
// order; of the first one all that was not proved.
func (zs *zones) touched(before, next *Generation) (ids []edge.Scope) {
	if before == nil {
		return zs.commitWork(next)
	}
	changed := next.after(before).changed
	return next.inOrder(maps.Keys(changed))
}

// SaveState puts the declarations in force on record beside their commit, so that they
// outlive the store of git. It takes a while for a large fleet at the first time, which is why
// nothing waits for it: without it they are evaluated again. It does nothing where another
// commit was accepted since.
func (c *Control) SaveState(ctx context.Context, g *Generation) error {
	c.saving.Lock()
	if now := c.Current(); now.Same(g) {
		g = now // which may have been adopted since
	}
	parts, err := c.saved.encode(g.State)
	c.saving.Unlock()
	if err != nil {
		return err
	}
	return c.Records.SaveState(ctx, g.State.Commit, parts)
}
