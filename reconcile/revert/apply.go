package revert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Apply puts back what was planned. The report is complete in every case.
func (r *Run) Apply(ctx context.Context, p *Planned) reconcile.Report {
	report := reconcile.Report{
		Trigger: reconcile.TriggerRevert, Started: p.began, Commit: p.state.Commit, Plan: p.Plan, Overridden: p.overridden,
		Fleet: reconcile.Fleet{Declared: p.state.Zones()},
	}
	report.Err = r.apply(ctx, p, &report)
	report.Finished = r.Now()
	report.Requests = r.requests() - p.requests
	report.Plan.Requests.Used = report.Requests
	return report
}

func (r *Run) apply(ctx context.Context, p *Planned, report *reconcile.Report) error {
	if p.held == nil && p.Zones()+len(p.pending) == 0 {
		return nil
	}
	if err := r.stop(ctx, p); err != nil {
		return err
	}
	g := newGate(r, p)
	err := r.recordOverridden(ctx, p)
	if err == nil {
		err = r.putBack(ctx, p, g, p.ready, report)
	}
	if err == nil {
		err = r.finish(ctx, p, g, report)
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	report.Plan = p.Plan
	lingering, cancel := reconcile.Lingering(ctx)
	defer cancel()
	return errors.Join(err, r.Records.Record(lingering, g.writes.Failed(report.Results)...), g.dropHolds(lingering))
}

// ready reports of a zone whether it was read after the end of a write.
func (p *Planned) ready(zone edge.Scope) bool { return p.settled[zone] > 0 }

// recordOverridden puts on record what of guards was overridden.
func (r *Run) recordOverridden(ctx context.Context, p *Planned) error {
	var words []reconcile.Approval
	for _, f := range p.overridden {
		r.log().WarnContext(ctx, "a freeze is overridden", "freeze", f, "who", p.Order.Who, "reason", p.Order.DuringFreeze)
		words = append(words, reconcile.Approval{
			Digest: "freezes." + f, Kind: reconcile.Overridden, Who: p.Order.Who, Reason: p.Order.DuringFreeze, At: r.Now(),
		})
	}
	if len(words) == 0 {
		return nil
	}
	return r.Records.Approve(ctx, words)
}

// putBack writes what the plan has of zones, and adds to the report what became of it.
func (r *Run) putBack(ctx context.Context, p *Planned, g *gate, of func(edge.Scope) bool, report *reconcile.Report) error {
	zones := slices.DeleteFunc(zone.ByZone(p.Plan), func(plan diff.Plan) bool { return !of(plan.Changes[0].Scope) })
	done := 0
	writer := zone.ManyWriter{
		Lanes: r.Lanes, Gate: g, Now: r.Now,
		Made: func(made []reconcile.Result) {
			done += len(made)
			r.progress("putting zones back", done, len(zones))
		},
	}
	results, err := writer.Apply(ctx, p.seen, zones, r.tasks(p))
	for _, result := range results {
		if result.Outcome != reconcile.NotStarted && !(result.Outcome == reconcile.Failed && result.NoEffect) {
			g.written[result.Change.Scope] = true
		}
	}
	report.Results = append(report.Results, results...)
	return err
}

// tasks are the zones to be put back. What is planned of them, before a write and as its
// proof, is what is left to put back.
func (r *Run) tasks(p *Planned) map[edge.Scope]zone.Task {
	tasks := map[edge.Scope]zone.Task{}
	for i, account := range p.state.Accounts {
		for j, z := range account.Zones {
			restorations := p.restorations[z.Scope]
			if len(restorations) == 0 {
				continue
			}
			tasks[z.Scope] = zone.Task{
				State: zone.Of(p.state, i, j), Fingerprint: p.declared(z.Scope), Applied: p.record.Applied,
				Planned: func(s zone.Sight) diff.Plan {
					return planner.Restore(restorations, s.Live(account.ID, z.Scope))
				},
			}
		}
	}
	return tasks
}

// gate is the [zone.Gate] of a revert: it asks once more what was said since. Each zone is
// held before it is written.
type gate struct {
	run    *Run
	plan   *Planned
	writes reconcile.Writes

	written map[edge.Scope]bool // what was put back, or may have been
	before  map[edge.Scope]bool // held by an earlier revert

	mu       sync.Mutex
	standing reconcile.Standing
	heard    time.Time // when it was read; zero for not yet
}

func newGate(r *Run, p *Planned) *gate {
	g := &gate{
		run: r, plan: p, written: map[edge.Scope]bool{}, before: map[edge.Scope]bool{},
	}
	for _, h := range p.record.Holds {
		g.before[h.Scope] = g.before[h.Scope] || h.Reverted()
	}
	return g
}

// Permit implements [zone.Gate].
func (g *gate) Permit(ctx context.Context, t zone.Task, planned, now diff.Change) (*diff.Refusal, error) {
	if refusal := g.plan.facts.Worsened(planned, now); refusal != nil {
		return nil, errors.New(refusal.Reason)
	}
	at := g.run.Now()
	standing, err := g.listen(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("asking whether the zone is held: %w", err)
	}
	facts := guard.Facts{Now: at, Zones: g.plan.facts.Zones, LabelsBefore: g.plan.facts.LabelsBefore}
	facts.Holds = slices.DeleteFunc(diff.Active(standing.Holds, at, nil), diff.Hold.Reverted)
	facts.Freezes, _ = reconcile.FreezesAt(g.run.Guards.Freezes, at, g.plan.Order.DuringFreeze != "")
	if refusal := guard.Check(diff.Plan{Changes: []diff.Change{now}}, facts).Changes[0].Refused; refusal != nil {
		return refusal, nil
	}
	err = g.record(ctx, t, planned, now)
	if refusal := control.Withheld(err, now, at); refusal != nil {
		return refusal, nil
	}
	return nil, err
}

// heardFor is for how long what people said is not asked for again: it includes a hold for
// each zone of the revert.
const heardFor = time.Second

func (g *gate) listen(ctx context.Context, now time.Time) (reconcile.Standing, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if age := now.Sub(g.heard); !g.heard.IsZero() && age >= 0 && age < heardFor {
		return g.standing, nil
	}
	standing, err := g.run.Records.Standing(ctx)
	if err == nil {
		g.standing, g.heard = standing, now
	}
	return standing, err
}

// record has the zone held, and the write on record, before it is sent.
func (g *gate) record(ctx context.Context, t zone.Task, planned, now diff.Change) error {
	order := g.plan.Order
	asked := reconcile.Asked{Commit: g.plan.state.Commit, User: order.Who}
	if planned.Approved {
		asked.Approver = order.Who
	}
	have := g.plan.record.Applied[now.ID()]
	entry := reconcile.WriteEntry(now, reconcile.TriggerRevert, asked, t.Fingerprint, have)
	entry.Reason = "reverts " + strings.TrimPrefix(order.what(), "writes of ")
	hold := diff.Hold{
		Zone: now.Zone, Scope: now.Scope, Declaration: t.Fingerprint, Commit: g.plan.state.Commit,
		Reason: order.because(),
	}
	var widened []diff.Settled
	if len(now.Do().Owned()) > 0 {
		widened = []diff.Settled{{ID: now.ID(), Owned: now.Do().Owned()}}
	}
	number, err := g.run.Records.RecordRevert(ctx, hold, entry, widened)
	if err != nil {
		return fmt.Errorf("recording the change before it is sent: %w", err)
	}
	g.writes.Sent(number, entry)
	return nil
}

// Proved implements [zone.Gate]. That the zone is not as git declares it is no proof of
// that declaration.
func (g *gate) Proved(ctx context.Context, t zone.Task, settled []diff.Settled) error {
	return g.run.Records.Record(ctx, g.writes.Proved(t.Fingerprint, settled)...)
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
	return true, err
}

// dropHolds ends the holds of zones that are left as they are: certainly nothing was put back
// there, and nothing of the commit is to come.
func (g *gate) dropHolds(ctx context.Context) error {
	before := g.plan.asBefore()
	var drop []edge.Scope
	for id := range g.plan.held {
		if !before[id] && !g.written[id] && !g.before[id] && !g.plan.pending[id] {
			drop = append(drop, id)
		}
	}
	if len(drop) == 0 {
		return nil
	}
	slices.SortFunc(drop, edge.Scope.Compare)
	if err := g.run.Records.DropRevert(ctx, drop); err != nil {
		return fmt.Errorf("ending the holds of zones that were not put back: %w", err)
	}
	return nil
}
