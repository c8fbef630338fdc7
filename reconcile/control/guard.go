package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Verdict says whether a guarded plan may be acted on.
type Verdict int

// The verdicts.
const (
	Act        Verdict = iota
	Superseded         // a newer commit declares the zone otherwise: look again
	Counting           // how much the commit changes is not known yet: nothing of it is written
)

// Guard passes the plan of one zone through the guards, as they are at this moment.
func (c *Control) Guard(g *Generation, id edge.Scope, plan diff.Plan) (diff.Plan, Verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.Current(); now != g && now.declaration(id) != g.declaration(id) {
		return plan, Superseded
	}
	if c.state.counting() && c.state.zones.unproved(g, id) && c.state.mustCount(c.Current(), plan) {
		return plan, Counting
	}
	plan = guard.Check(plan, c.state.zoneFacts(c.Current(), id))
	c.state.approvals.divide(plan, c.Now())
	return plan, Act
}

// Check passes the plan of one zone through the guards without doing anything about it: what
// a person is to agree to before it is written, with what the zone would leave. It is false while
// it is not known yet how much the commit changes.
func (c *Control) Check(g *Generation, id edge.Scope, plan diff.Plan) (diff.Plan, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.counting() && c.state.zones.unproved(g, id) && c.state.mustCount(g, plan) {
		return plan, false
	}
	plan = guard.Check(plan, c.state.zoneFacts(g, id))
	for _, l := range c.state.zones.memory.leaving {
		if l.Scope == id && !c.state.approvals.digests[l.Digest] {
			plan.Leaving = append(plan.Leaving, l)
		}
	}
	return plan, true
}

// GuardTokens passes a plan of tokens through the guards; unkept are updates that the
// platform took and did not keep.
func (c *Control) GuardTokens(g *Generation, plan diff.Plan, unkept map[diff.ID]string) diff.Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.state.facts(g)
	f.NonConvergent = unkept
	return guard.Check(plan, f)
}

// listen takes in what people and other processes have said: approvals that were divided are
// on record before anything is written on the grounds of them.
func (c *Control) listen(ctx context.Context) error {
	return errors.Join(c.hear(ctx), c.recordDivided(ctx))
}

// permit implements [rules]: the change passes the guards as they are at this moment, and
// counts for limits.
func (c *Control) permit(ctx context.Context, t zone.Task, _, now diff.Change) (permit, error) {
	if err := c.listen(ctx); err != nil {
		return permit{}, fmt.Errorf("asking whether the zone may be written: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.permit(t, now)
}

// withdrawn implements [rules].
func (c *Control) withdrawn(ctx context.Context, t zone.Task, now diff.Change) (string, error) {
	if err := c.listen(ctx); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.state
	g := s.current.Load()
	if g.declaration(now.Scope) != t.Fingerprint || s.overtaken != "" {
		return anotherCommit, nil
	}
	if s.unlooked != 0 {
		return diff.ReasonPutBack, nil
	}
	return withdrawn(s.holds.active(g, s.now()), now), nil
}

// record implements [rules]: who owns what is on record for the case that the process ends
// between the write and its proof.
func (c *Control) record(ctx context.Context, p permit) (number int64, err error) {
	if err := c.count(ctx, p); err != nil {
		return 0, err
	}
	if number, err = c.Records.RecordWrite(ctx, p.entry, p.widened); err != nil {
		return 0, fmt.Errorf("recording the change before it is sent: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range p.widened {
		c.state.zones.of(p.zone).own(w.ID, w.Owned)
		c.state.zones.touch(w.ID.Scope)
	}
	return number, nil
}

// permit decides about a change, and counts it for limits. The error is
// [reconcile.ErrSuperseded] where the zone is declared otherwise now.
func (s *state) permit(t zone.Task, now diff.Change) (permit, error) {
	id, g := t.Zone().Scope, s.current.Load()
	if g.declaration(id) != t.Fingerprint {
		return permit{}, reconcile.ErrSuperseded
	}
	if s.overtaken != "" {
		return permit{refused: &diff.Refusal{Guard: diff.GuardOvertaken, Reason: "another process has accepted commit " + s.overtaken}}, nil
	}
	if s.counting() && s.zones.unproved(g, id) && s.mustCount(g, diff.Plan{Changes: []diff.Change{now}}) {
		return permit{}, reconcile.ErrSuperseded // it is another change than the one that was planned
	}
	guarded := guard.Check(diff.Plan{Changes: []diff.Change{now}}, s.zoneFacts(g, id)).Changes[0]
	if guarded.Refused != nil {
		return permit{refused: guarded.Refused}, nil
	}
	z, commitWork := s.zones.of(id), s.zones.unproved(g, id)
	have, _ := z.applied.of(now.ID())
	p := permit{zone: id, widened: wider(have, now), adds: adds(now, have), entry: s.entry(t, guarded, commitWork)}
	if !guarded.Approved {
		drift := reconcile.Drift{Scope: id, At: s.now(), Weakens: now.Direction == diff.Weakens}
		s.limits.count(drift, commitWork)
		if s.limits.on {
			p.count, p.counted = &reconcile.Count{Scope: id, At: drift.At, Weakens: drift.Weakens}, s.limits.counted
			if commitWork {
				p.count.Commit = g.State.Commit
			}
		}
		if !commitWork && len(s.guards.Rules) > 0 {
			p.entry.Heals = &reconcile.Healing{Drift: drift, Before: drift.At.Add(-s.driftFor)}
		}
	}
	z.sent = true
	return p, nil
}

// proved implements [rules]. Once all deployments of a zone agree with their declaration, it
// is proved there.
func (c *Control) proved(ctx context.Context, t zone.Task, settled []diff.Settled, agreed func() []reconcile.Entry) error {
	id := t.Zone().Scope
	c.mu.Lock()
	z, g := c.state.zones.of(id), c.Current()
	if g == nil || g.declaration(id) != t.Fingerprint {
		c.mu.Unlock()
		return nil // the proof is of a declaration that is not in force; the next look says what is there
	}
	p := z.settle(t, g.State.Commit, g.labels[id], settled)
	begins := z.begins(t, p)
	c.mu.Unlock()
	results := agreed()
	if len(results) == 0 {
		results = begins
	}
	if len(p.settled)+len(p.proofs)+len(results) == 0 {
		return forget(ctx, c, p.gone)
	}
	// It is what the commit in force declares, whichever commit it was worked out from.
	if err := c.Records.Prove(ctx, g.State.Commit, p.proofs, p.settled, results...); err != nil {
		return fmt.Errorf("remembering what is in sync: %w", err)
	}
	c.mu.Lock()
	c.state.zones.take(id, p, c.Current())
	c.mu.Unlock()
	if len(p.proofs) > 0 {
		c.tell(id)
	}
	return forget(ctx, c, p.gone)
}

// forget drops deployments of a zone that are not declared any more.
func forget(ctx context.Context, c *Control, gone []diff.ID) error {
	if len(gone) == 0 {
		return nil
	}
	if err := c.Records.Forget(ctx, gone); err != nil {
		return fmt.Errorf("forgetting deployments that left the repository: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	id := gone[0].Scope
	c.state.zones.touch(id)
	c.state.zones.of(id).disown(gone)
	return nil
}

// disown implements [rules].
func (c *Control) disown(ctx context.Context, ids []diff.ID) error {
	if err := c.Records.Forget(ctx, ids); err != nil {
		return fmt.Errorf("forgetting rules that were not added: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		c.state.zones.of(id.Scope).disown([]diff.ID{id})
		c.state.zones.touch(id.Scope)
	}
	return nil
}

// TryUnkept has changes that the platform did not keep sent once more with the next look at
// their zones, however long they were to wait: a person asks for a look. It counts as a try.
func (c *Control) TryUnkept(ids []edge.Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.zones.tryUnkept(ids, c.Now())
}

// unkept implements [rules].
func (c *Control) unkept(ctx context.Context, t zone.Task, left diff.Change) (news bool, err error) {
	c.mu.Lock()
	z := c.state.zones.of(t.Zone().Scope)
	c.state.zones.touch(t.Zone().Scope)
	news = z.noteUnkept(left.ID(), left.Fingerprint(), c.Now())
	try := z.tries()[left.ID()]
	c.mu.Unlock()
	return news, errors.Join(c.Records.NonConvergent(ctx, left.ID(), left.Fingerprint()), c.Records.Tried(ctx, left.ID(), try))
}

// Tries says when the changes of a zone were sent that the platform did not keep, and when
// they are sent again.
func (c *Control) Tries(id edge.Scope) map[diff.ID]diff.Try {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.zones.of(id).tries()
}
