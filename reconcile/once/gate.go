package once

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// gate is the [zone.Gate] of an apply. It knows what was said since the run began: to
// look at a fleet may take hours, and who holds a zone meanwhile is about to work on it
// by hand; a daemon may have accepted a newer commit.
type gate struct {
	run  *Run
	plan *planned

	declared func(edge.Scope) string // the fingerprint of a zone's declaration
	writes   reconcile.Writes

	mu       sync.Mutex
	standing reconcile.Standing
	heard    time.Time // when it was read; zero for not yet
	proved   []diff.Settled
}

func newGate(r *Run, p *planned) *gate {
	g := &gate{run: r, plan: p, declared: control.Declarations(p.state)}
	g.writes.Resume(p.open)
	return g
}

// heardFor is for how long what was said need not be asked for again.
const heardFor = 10 * time.Second

// Permit implements [zone.Gate].
func (g *gate) Permit(ctx context.Context, t zone.Task, planned, now diff.Change) (*diff.Refusal, error) {
	if refusal := g.plan.facts.Worsened(planned, now); refusal != nil {
		return nil, errors.New(refusal.Reason)
	}
	at := g.run.Now()
	standing, err := g.listen(ctx, at)
	switch {
	case err != nil:
		return nil, fmt.Errorf("asking whether the zone is held: %w", err)
	case standing.Commit != g.plan.state.Commit:
		return nil, fmt.Errorf("commit %s is in force now: %w", standing.Commit, reconcile.ErrSuperseded)
	}
	facts := guard.Facts{
		Now: at, Zones: g.plan.facts.Zones, LabelsBefore: g.plan.facts.LabelsBefore, Holds: diff.Active(standing.Holds, at, g.declared),
	}
	facts.Freezes, _ = g.run.freezes(g.plan.order)
	if refusal := guard.Check(diff.Plan{Changes: []diff.Change{now}}, facts).Changes[0].Refused; refusal != nil {
		g.run.log().WarnContext(ctx, "a change waits, though it was about to be made", "change", now.Name(), "reason", refusal.Reason)
		return refusal, nil
	}
	err = g.record(ctx, t, planned, now)
	if refusal := control.Withheld(err, now, at); refusal != nil {
		return refusal, nil
	}
	return nil, err
}

// record puts a write on record that is about to be sent: in the history, and that its
// deployment owns what it owned before and what it will.
func (g *gate) record(ctx context.Context, t zone.Task, planned, now diff.Change) error {
	asked := reconcile.Asked{Commit: g.plan.state.Commit, Author: g.plan.author, User: g.plan.order.Who}
	if planned.Approved {
		asked.Approver = cmp.Or(control.Approver(planned, slices.Concat(g.plan.record.Approvals, g.plan.words)), g.plan.order.Who)
	}
	if g.plan.record.Proofs[now.Scope].Fingerprint == t.Fingerprint { // drift: the author of the commit has not asked for this
		asked.Author = ""
		if err := g.run.Records.Record(ctx, reconcile.FoundEntry(now)); err != nil {
			return fmt.Errorf("recording what was changed without Seawall: %w", err)
		}
	}
	have := g.plan.record.Applied[now.ID()]
	var widened []diff.Settled
	for _, member := range now.Do().Owned() {
		if !slices.Contains(have, member) {
			widened = []diff.Settled{{ID: now.ID(), Owned: now.Do().Owned()}}
			break
		}
	}
	entry := reconcile.WriteEntry(now, reconcile.TriggerManual, asked, t.Fingerprint, have)
	number, err := g.run.Records.RecordWrite(ctx, entry, widened)
	if err != nil {
		return fmt.Errorf("recording the change before it is sent: %w", err)
	}
	g.writes.Sent(number, entry)
	return nil
}

func (g *gate) listen(ctx context.Context, now time.Time) (reconcile.Standing, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if age := now.Sub(g.heard); !g.heard.IsZero() && age >= 0 && age < heardFor {
		return g.standing, nil
	}
	standing, err := g.run.Records.Standing(ctx)
	if err != nil {
		return standing, err
	}
	g.standing, g.heard = standing, now
	return standing, nil
}

// Proved implements [zone.Gate].
func (g *gate) Proved(ctx context.Context, t zone.Task, settled []diff.Settled) error {
	if err := g.run.Records.Prove(ctx, t.State.Commit, nil, settled, g.writes.Proved(t.Fingerprint, settled)...); err != nil {
		return fmt.Errorf("remembering what is in sync: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.proved = append(g.proved, settled...)
	return nil
}

// Ended implements [zone.Gate].
func (g *gate) Ended(ctx context.Context, t zone.Task, version string) error {
	return g.run.Records.Unclaim(ctx, t.Zone().Scope, version)
}

// NotKept implements [zone.Gate].
func (g *gate) NotKept(ctx context.Context, _ zone.Task, left diff.Change) (news bool, err error) {
	if result, open := g.writes.Ended(left.ID(), reconcile.NonConvergent, control.LeftText(left.Fields)); open {
		err = g.run.Records.Record(ctx, result)
	}
	return true, errors.Join(err, g.run.Records.NonConvergent(ctx, left.ID(), left.Fingerprint()))
}

// converged are the deployments that were written and proved.
func (g *gate) converged() []diff.Settled {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.proved
}
