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
	"github.com/seawall-dev/seawall/diff/deployment"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// grace is how long records may be written after everything was told to stop.
const grace = 20 * time.Second

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
	zones := zone.ByZone(p.Plan)
	if len(zones) == 0 {
		return nil
	}
	if err := r.recordOrder(ctx, p, len(zones)); err != nil {
		return err
	}
	g := &gate{
		run: r, plan: p, prints: control.Declarations(p.state), held: map[edge.ZoneID]bool{}, before: map[edge.ZoneID]bool{},
	}
	for _, h := range p.record.Holds {
		g.before[h.ZoneID] = g.before[h.ZoneID] || h.Reverted()
	}
	var err error
	report.Results, err = r.applyZones(ctx, p, g, zones)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	lingering, cancel := reconcile.Lingering(ctx, grace)
	defer cancel()
	return errors.Join(err, r.Records.Record(lingering, g.writes.Failed(report.Results)...), g.dropHolds(lingering, report.Results))
}

// recordOrder puts on record that someone reverts, and what of guards was overridden.
func (r *Run) recordOrder(ctx context.Context, p *Planned, zones int) error {
	what := "writes since " + p.Order.Filter.Since.UTC().Format(time.RFC3339)
	if c := p.Order.Filter.Commit; c != "" {
		what = "writes of commit " + c
	}
	entry := reconcile.Entry{
		Kind: reconcile.EntryDecision, Action: reconcile.ActionRevert, Trigger: reconcile.TriggerRevert,
		Asked: reconcile.Asked{Commit: p.state.Commit, User: p.Order.Who}, Digest: strings.Join(p.Plan.Granted, " "),
		Reason: fmt.Sprintf("%s: zones to put back: %d, zones left as they are: %d", what, zones, len(p.restorations)-zones),
	}
	if err := r.Records.Record(ctx, entry); err != nil {
		return fmt.Errorf("recording the revert: %w", err)
	}
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

func (r *Run) applyZones(ctx context.Context, p *Planned, g *gate, zones []diff.Plan) ([]reconcile.Result, error) {
	done := 0
	writer := zone.ManyWriter{
		Lanes: r.Lanes, Gate: g, Now: r.Now,
		Made: func(made []reconcile.Result) {
			done += len(made)
			r.progress("putting zones back", done, len(p.Plan.Changes))
		},
	}
	return writer.Apply(ctx, p.seen, zones, r.tasks(p, g))
}

// tasks are the zones to be put back. What is planned of them, before a write and as its
// proof, is what is left to put back.
func (r *Run) tasks(p *Planned, g *gate) map[edge.ZoneID]zone.Task {
	tasks := map[edge.ZoneID]zone.Task{}
	for i, account := range p.state.Accounts {
		for j, z := range account.Zones {
			restorations := p.restorations[z.ID]
			if len(restorations) == 0 {
				continue
			}
			tasks[z.ID] = zone.Task{
				State: zone.Of(p.state, i, j), Fingerprint: g.prints(z.ID), Applied: p.record.Applied,
				Planned: func(s zone.Sight) diff.Plan {
					return deployment.Restore(restorations, diff.Live{
						Accounts:    map[edge.AccountID]diff.AccountLive{account.ID: s.Account},
						EntryPoints: map[edge.ZoneID]diff.Observed[edge.Ruleset]{z.ID: s.EntryPoint},
					})
				},
			}
		}
	}
	return tasks
}

// gate is the [zone.Gate] of a revert: it asks once more what was said since, and has each
// zone held before it is written.
type gate struct {
	run    *Run
	plan   *Planned
	prints func(edge.ZoneID) string
	writes reconcile.Writes

	mu     sync.Mutex
	held   map[edge.ZoneID]bool // by this revert
	before map[edge.ZoneID]bool // by an earlier one
}

// Permit implements [zone.Gate].
func (g *gate) Permit(ctx context.Context, t zone.Task, planned, now diff.Change) (*diff.Refusal, error) {
	if refusal := g.plan.facts.Worsened(planned, now); refusal != nil {
		return nil, errors.New(refusal.Reason)
	}
	at := g.run.Now()
	standing, err := g.run.Records.Standing(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking whether the zone is held: %w", err)
	}
	facts := guard.Facts{Now: at, Zones: g.plan.facts.Zones, LabelsBefore: g.plan.facts.LabelsBefore}
	facts.Holds = slices.DeleteFunc(diff.Active(standing.Holds, at, nil), diff.Hold.Reverted)
	facts.Freezes, _ = reconcile.FreezesAt(g.run.Guards.Freezes, at, g.plan.Order.DuringFreeze != "")
	if refusal := guard.Check(diff.Plan{Changes: []diff.Change{now}}, facts).Changes[0].Refused; refusal != nil {
		return refusal, nil
	}
	return nil, g.record(ctx, t, planned, now)
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
	entry.Reason = "reverts writes since " + order.Filter.Since.UTC().Format(time.RFC3339)
	if order.Filter.Commit != "" {
		entry.Reason = "reverts commit " + order.Filter.Commit
	}
	hold := diff.Hold{
		Zone: now.Zone, ZoneID: now.ZoneID, Declaration: t.Fingerprint, Commit: g.plan.state.Commit,
		Reason: fmt.Sprintf("%s %s", order.Who, entry.Reason),
	}
	var widened []diff.Settled
	if len(now.Target().Owned) > 0 {
		widened = []diff.Settled{{ID: now.ID(), Owned: now.Target().Owned}}
	}
	number, err := g.run.Records.RecordRevert(ctx, hold, entry, widened)
	if err != nil {
		return fmt.Errorf("recording the change before it is sent: %w", err)
	}
	g.writes.Sent(number, entry)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held[now.ZoneID] = true
	return nil
}

// Proved implements [zone.Gate]. That the zone is not as git declares it is no proof of
// that declaration.
func (g *gate) Proved(ctx context.Context, t zone.Task, settled []diff.Settled) error {
	return g.run.Records.Record(ctx, g.writes.Proved(t.Fingerprint, settled)...)
}

// NotKept implements [zone.Gate].
func (g *gate) NotKept(ctx context.Context, _ zone.Task, left diff.Change) (news bool, err error) {
	if result, open := g.writes.Ended(left.ID(), reconcile.NonConvergent, control.LeftText(left.Fields)); open {
		err = g.run.Records.Record(ctx, result)
	}
	return true, err
}

// dropHolds ends the holds of zones in which certainly nothing was put back.
func (g *gate) dropHolds(ctx context.Context, results []reconcile.Result) error {
	written := map[edge.ZoneID]bool{}
	for _, r := range results {
		unwritten := r.Outcome == reconcile.NotStarted || r.Outcome == reconcile.Failed && r.NoEffect
		written[r.Change.ZoneID] = written[r.Change.ZoneID] || !unwritten
	}
	var drop []edge.ZoneID
	for id := range g.held {
		if !written[id] && !g.before[id] {
			drop = append(drop, id)
		}
	}
	if len(drop) == 0 {
		return nil
	}
	slices.Sort(drop)
	if err := g.run.Records.DropRevert(ctx, drop); err != nil {
		return fmt.Errorf("ending the holds of zones that were not put back: %w", err)
	}
	return nil
}
