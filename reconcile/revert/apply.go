package revert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Apply puts back what was planned. The report is complete in every case.
func (r *Run) Apply(ctx context.Context, p *Planned) reconcile.Report {
	report := reconcile.Report{
		Trigger: reconcile.TriggerRevert, Started: p.began, Commit: p.state.Commit, Plan: p.Plan,
		Fleet: reconcile.Fleet{Declared: p.state.Zones()},
	}
	report.Err = r.apply(ctx, p, &report)
	report.Finished = r.Now()
	report.Requests = r.Requests.Sent() - p.requests
	report.Plan.Requests.Used = report.Requests
	return report
}

func (r *Run) apply(ctx context.Context, p *Planned, report *reconcile.Report) error {
	if p.held == nil && p.Zones()+len(p.pending) == 0 {
		return nil
	}
	// Before anything is put on record, since no zone would be written then.
	if err := reconcile.NotPutBack(ctx, r.Records); err != nil {
		return fmt.Errorf("nothing was reverted: %w", err)
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
	return errors.Join(err, g.RecordFailed(lingering, report.Results), g.dropHolds(lingering))
}

// ready reports of a zone whether it was read after the end of a write.
func (p *Planned) ready(zone edge.Scope) bool { return p.settled[zone] > 0 }

// recordOverridden puts on record what of guards was overridden.
func (r *Run) recordOverridden(ctx context.Context, p *Planned) error {
	words := control.Overrides(ctx, r.log(), p.overridden, p.Order.Who, p.Order.DuringFreeze, r.Now())
	if len(words) == 0 {
		return nil
	}
	return r.Records.Approve(ctx, words)
}

// putBack writes what the plan has of zones, and adds to the report what became of it.
func (r *Run) putBack(ctx context.Context, p *Planned, g *gate, of func(edge.Scope) bool, report *reconcile.Report) error {
	zones := slices.DeleteFunc(zone.ByZone(p.Plan), func(changes []diff.Change) bool { return !of(changes[0].Scope) })
	done := 0
	writer := zone.ManyWriter{
		Lanes: r.Lanes, Gate: g, Now: r.Now,
		Made: func(made []reconcile.Result) {
			done += len(made)
			r.Progress.Show("putting zones back", done, len(zones))
		},
	}
	tasks := r.tasks(p)
	results, err := writer.Apply(ctx, p.seen, zones, func(id edge.Scope) zone.Task { return tasks[id] })
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

// gate is the gate of a revert, with what it has put back. Each zone is held before it is
// written.
type gate struct {
	*control.Run
	plan    *Planned
	records Records

	written map[edge.Scope]bool // what was put back, or may have been
	before  map[edge.Scope]bool // held by an earlier revert
}

func newGate(r *Run, p *Planned) *gate {
	g := &gate{plan: p, records: r.Records, written: map[edge.Scope]bool{}, before: map[edge.Scope]bool{}}
	for _, h := range p.record.Holds {
		g.before[h.Scope] = g.before[h.Scope] || h.Reverted()
	}
	g.Run = control.NewRun(control.Terms{
		Records: r.Records, Now: r.Now, Log: r.log(), State: p.state, Record: p.record, Facts: p.facts, Guards: r.Guards, Thawed: p.Order.DuringFreeze != "",
		Trigger: reconcile.TriggerRevert, Who: p.Order.Who, Reason: "reverts " + strings.TrimPrefix(p.Order.what(), "writes of "),
		Restores: g.record,
	}, nil)
	return g
}

// record has the zone held, and the write on record, before it is sent.
func (g *gate) record(ctx context.Context, write reconcile.Entry, owned []diff.Settled) (int64, error) {
	return g.records.RecordRevert(ctx, diff.Hold{
		Zone: write.Subject.Zone, Scope: write.Subject.Scope, Declaration: write.Declaration, Commit: write.Asked.Commit, Reason: g.plan.Order.because(),
	}, write, owned)
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
	if err := g.records.DropRevert(ctx, drop); err != nil {
		return fmt.Errorf("ending the holds of zones that were not put back: %w", err)
	}
	return nil
}
