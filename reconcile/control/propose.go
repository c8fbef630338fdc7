package control

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Decision is what became of a proposal.
type Decision struct {
	// Held is set where the commit is not acted on; what was in force stays.
	Held *reconcile.Held
	// Accepted is the new generation, nil where nothing has changed.
	Accepted *Generation
	// Due are the zones to be worked on because of it; Look those that must be looked at
	// before any of these is written.
	Due, Look []edge.ZoneID
	// Gone are the zones that are no longer declared.
	Gone []edge.ZoneID
	// Back are those of Due that return to what was last proved in them, while nothing
	// else was sent since: there is nothing to undo. Revert says that all others return,
	// too.
	Back   []edge.ZoneID
	Revert bool
	// Tokens says that something about tokens is declared otherwise than before.
	Tokens bool
	// First says that nothing was in force before.
	First bool
}

// Propose decides about a commit. An accepted one is on record when it returns, with
// all that goes with it, and in force.
func (c *Control) Propose(ctx context.Context, p reconcile.Proposal) (Decision, error) {
	if p.Err != nil {
		return Decision{Held: &reconcile.Held{Commit: p.Commit, Reason: p.Err.Error(), Problems: p.Problems}}, nil
	}
	if errs := desired.Errors(p.Problems); len(errs) > 0 {
		return Decision{Held: &reconcile.Held{Commit: p.Commit, Reason: reconcile.ErrInvalid.Error(), Problems: errs}}, nil
	}
	before := c.Current()
	if p.Same || before != nil && p.Commit != "" && before.State.Commit == p.Commit && c.Accepted() == p.Commit {
		return Decision{}, c.agreed(ctx, p.Approvals)
	}
	c.mu.Lock()
	held := c.shrunk(p.State, false)
	c.mu.Unlock()
	if held != nil {
		return Decision{Held: held}, nil
	}
	next := newGeneration(p.State, before)
	d := Decision{Accepted: next, First: before == nil, Tokens: before == nil || !desired.SameTokens(before.State.Tokens, p.State.Tokens)}
	c.mu.Lock()
	accepted := c.acceptance(before, next, p.Approvals, &d)
	c.mu.Unlock()
	if err := c.Records.AcceptCommit(ctx, accepted); err != nil {
		return Decision{}, fmt.Errorf("remembering the accepted commit: %w", err)
	}
	c.mu.Lock()
	c.accepted = reconcile.Accepted{Commit: accepted.Commit, Size: accepted.Size}
	c.words.overtaken = ""
	for _, a := range p.Approvals {
		c.words.approved[a.Digest], c.words.approvals = true, append(c.words.approvals, a)
	}
	if accepted.Rollout != nil {
		c.rollout = rollout{have: *accepted.Rollout, outcomes: map[edge.ZoneID]reconcile.ZoneOutcome{}}
	}
	for _, id := range accepted.Gone {
		delete(c.zones, id)
	}
	c.publish(next)
	d.Look = c.judge(next)
	c.mu.Unlock()
	return d, c.recordWords(ctx)
}

// agreed records approvals that the commit in force carries, and that could not be
// read before.
func (c *Control) agreed(ctx context.Context, approvals []reconcile.Approval) error {
	if len(approvals) == 0 {
		return nil
	}
	if err := c.Records.Approve(ctx, approvals); err != nil {
		return fmt.Errorf("recording approvals: %w", err)
	}
	return nil // the next tick finds them, with whatever else was said since
}

// acceptance is what is to be on record of a new generation. It notes in the decision
// what is due because of it; the caller holds the lock.
func (c *Control) acceptance(before, next *Generation, approvals []reconcile.Approval, d *Decision) reconcile.Acceptance {
	a := reconcile.Acceptance{Commit: next.State.Commit, Size: next.size(), Approvals: approvals}
	var changed map[edge.ZoneID]bool // nil: all that was not proved
	if before != nil {
		changed = diff.ChangedZones(before.State, next.State)
	}
	var rolled []desired.Zone
	d.Revert = true
	for _, account := range next.State.Accounts {
		for _, z := range account.Zones {
			work := c.isCommitWork(next, z.ID)
			touched := changed[z.ID] || changed == nil && work
			if touched {
				d.Due = append(d.Due, z.ID)
				d.Revert = d.Revert && !work
				if !work && !c.zone(z.ID).sent {
					d.Back = append(d.Back, z.ID)
				}
			}
			if work && (touched || waits(c.rollout.have, z.ID)) {
				rolled = append(rolled, z)
			}
		}
	}
	for id := range c.zones {
		if !next.Declares(id) {
			a.Gone = append(a.Gone, id)
		}
	}
	d.Gone = gone(before, next)
	if len(c.Guards.Waves) > 0 && c.rollout.have.Commit != next.State.Commit {
		rollout := newRollout(c.Guards.Waves, c.rollout.have, next.State.Commit, rolled)
		a.Rollout = &rollout
	}
	return a
}

// gone are the zones that a generation declares no longer.
func gone(before, next *Generation) (ids []edge.ZoneID) {
	if before == nil {
		return nil
	}
	for id := range before.Zones() {
		if !next.Declares(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Between is the decision that leads from one generation to another which is in force
// already; none before is all of it.
func Between(before, next *Generation) Decision {
	d := Decision{Accepted: next, First: before == nil, Gone: gone(before, next), Tokens: true}
	var changed map[edge.ZoneID]bool
	if before != nil {
		changed = diff.ChangedZones(before.State, next.State)
		d.Tokens = !desired.SameTokens(before.State.Tokens, next.State.Tokens)
	}
	for id := range next.Zones() {
		if before == nil || changed[id] {
			d.Due = append(d.Due, id)
		}
	}
	return d
}

// SaveState puts the declarations in force on record beside their commit, so that they
// outlive the store of git. It takes a while for a large fleet, which is why nobody
// waits for it: without it they are evaluated again.
func (c *Control) SaveState(ctx context.Context, g *Generation) error {
	data, err := encodeState(g.State)
	if err != nil {
		return err
	}
	c.mu.Lock()
	current := c.Current() == g && c.accepted.Commit == g.State.Commit
	size := c.accepted.Size
	c.mu.Unlock()
	if !current {
		return nil
	}
	return c.Records.AcceptCommit(ctx, reconcile.Acceptance{Commit: g.State.Commit, Size: size, State: data})
}

func encodeState(state desired.State) ([]byte, error) {
	data, err := json.Marshal(state)
	if err != nil {
		return nil, fmt.Errorf("encoding the declarations: %w", err)
	}
	return data, nil
}

func decodeState(data []byte) (state desired.State, err error) {
	if len(data) == 0 {
		return state, nil
	}
	return state, json.Unmarshal(data, &state)
}
