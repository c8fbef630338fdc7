package once

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// apply is the run from an accepted plan to the records of what became of it.
func (r *Run) apply(ctx context.Context, p *planned, report *reconcile.Report) error {
	if !p.facts.Shrunk() {
		if err := r.accept(ctx, p); err != nil {
			return err
		}
	}
	if err := r.recordWords(ctx, p); err != nil {
		return fmt.Errorf("recording approvals: %w", err)
	}
	if err := r.depart(ctx, p); err != nil {
		return fmt.Errorf("recording what zones have left: %w", err)
	}
	gate := control.NewRun(control.Terms{
		Records: r.Records, Now: r.Now, Log: r.log(), State: p.state, Plan: p.plan, Record: p.record, Facts: p.facts, Guards: r.Guards, Thawed: p.order.DuringFreeze != "",
		Trigger: reconcile.TriggerManual, Author: p.author, Who: p.order.Who, Approvals: slices.Concat(p.record.Approvals, p.words),
	}, p.open)
	var err error
	report.Results, err = r.applyZones(ctx, p, gate)
	switch {
	case ctx.Err() == nil:
		err = errors.Join(err, r.applyTokens(ctx, p, report))
	case err == nil:
		err = context.Cause(ctx)
	}
	lingering, cancel := reconcile.Lingering(ctx)
	defer cancel()
	return errors.Join(err, r.conclude(lingering, p, gate, report))
}

// accept puts the commit on record as the one in force, with all that goes with it.
func (r *Run) accept(ctx context.Context, p *planned) error {
	state, err := control.EncodeState(p.state)
	if err != nil {
		return err
	}
	standing, err := r.Records.Standing(ctx)
	if err != nil {
		return fmt.Errorf("asking what others have accepted since: %w", err)
	}
	if by := standing.Commit; by != p.record.Accepted.Commit && by != p.state.Commit {
		return fmt.Errorf("another process has accepted commit %s since: %w", by, reconcile.ErrSuperseded)
	}
	a := p.judged.Acceptance
	a.State, a.Approvals, a.Author, a.Message, a.User = state, p.words, p.author, p.message, p.order.Who
	if standing.Departures != p.record.Departures { // a daemon has let zones leave since
		record, err := r.Records.Restore(ctx)
		if err != nil {
			return fmt.Errorf("recalling what zones have left: %w", err)
		}
		_, memory := control.Departures(record, r.Guards, p.state)
		a.Memory = &memory
	}
	a.Rollout = r.rollout(p, standing)
	if err := r.Records.AcceptCommit(ctx, a); err != nil {
		return fmt.Errorf("remembering the accepted commit: %w", err)
	}
	if err := r.lookedAt(ctx, p); err != nil {
		return err
	}
	if r.Good == nil || p.state.Commit == "" {
		return nil
	}
	if err := r.Good.SetGood(ctx, p.state.Commit); err != nil {
		return fmt.Errorf("remembering the good commit: %w", err)
	}
	return nil
}

// rollout is how the commit goes through the waves, to be put on record with it; nil where that is on
// record. Where the waves were halted since the plan was made, the record refuses it.
func (r *Run) rollout(p *planned, standing reconcile.Standing) *reconcile.Rollout {
	if len(r.Guards.Waves) == 0 || standing.RolloutCommit == p.state.Commit {
		return nil
	}
	if standing.RolloutHalted == "" {
		p.rollout.Halted = "" // a person has said so since
	}
	return &p.rollout
}

// lookedAt says that git was looked at, where the records were put back to an earlier time before that.
func (r *Run) lookedAt(ctx context.Context, p *planned) error {
	if p.record.PutBack == 0 {
		return nil
	}
	if err := r.Records.LookedAt(ctx, p.record.PutBack, p.state.Commit); err != nil {
		return fmt.Errorf("remembering that git was looked at: %w", err)
	}
	return nil
}

// recordWords writes down what a person said to this run before it acts on it:
// which freezes were overridden, and each change that was approved, by itself. A
// run may not come to all of them, and the digest of what is left is another.
func (r *Run) recordWords(ctx context.Context, p *planned) error {
	now := r.Now()
	words, spent := control.Agreed(slices.Concat(p.record.Approvals, p.words), p.plan, p.order.Who, now)
	p.spent = spent
	words = append(words, control.Overrides(ctx, r.log(), p.overridden, p.order.Who, p.order.DuringFreeze, now)...)
	if len(words) == 0 {
		return nil
	}
	return r.Records.Approve(ctx, words)
}

// depart lets zones and accounts leave the settings that people have agreed to.
func (r *Run) depart(ctx context.Context, p *planned) error {
	if p.facts.Shrunk() {
		return nil
	}
	under, digests := p.judged.Departed(p.plan)
	if len(digests) == 0 {
		return nil
	}
	return r.Records.Depart(ctx, under, digests)
}

// applyZones writes the changes that no guard refused, those that strengthen first,
// one at a time within a zone, and proves each by reading it back.
func (r *Run) applyZones(ctx context.Context, p *planned, gate *control.Run) ([]reconcile.Result, error) {
	zones := byZone(p.plan)
	total := 0
	for _, changes := range zones {
		total += len(changes)
	}
	if len(zones) <= reconcile.SmallPush {
		ctx = edge.WithClass(ctx, edge.Urgent)
	}
	done := 0
	writer := zone.ManyWriter{
		Lanes: r.Lanes, Documented: r.Guards.Documented, Names: r.names(), Gate: gate, Now: r.Now, Brief: p.order.Brief,
		Made: func(made []reconcile.Result) {
			done += len(made)
			r.Progress.Show("applying changes", done, total)
		},
	}
	return writer.Apply(ctx, p.seen, zones, r.taskOf(p))
}

// byZone parts a plan's changes to be applied by zone. Zones that were weakened, whose
// changes strengthen, come first, and else all in the order of their ids, as the ledger has
// their rows: zones that are written at the same time then share the pages of the file.
func byZone(p diff.Plan) [][]diff.Change {
	zones := zone.ByZone(p)
	strengthens := func(c diff.Change) bool { return c.Direction == diff.Strengthens }
	slices.SortStableFunc(zones, func(a, b []diff.Change) int {
		first, second := slices.ContainsFunc(a, strengthens), slices.ContainsFunc(b, strengthens)
		switch {
		case first && !second:
			return -1
		case second && !first:
			return 1
		}
		return a[0].Scope.Compare(b[0].Scope)
	})
	return zones
}

// taskOf returns a zone by itself: a fleet must not be planned anew for the sake of one zone.
func (r *Run) taskOf(p *planned) func(edge.Scope) zone.Task {
	prunable := control.PrunableByZone(p.record.Prunable)
	return func(id edge.Scope) zone.Task {
		t, _ := p.judged.Generation.Task(id) // what is planned is declared
		t.Applied, t.Reports, t.Prunable = p.record.Applied, r.Guards.ReportUnmanaged, prunable[id]
		return t
	}
}

func (r *Run) applyTokens(ctx context.Context, p *planned, report *reconcile.Report) error {
	if r.Tokens == nil || len(p.scope.Tokens) == 0 && !p.tokens {
		return nil
	}
	asks := edge.BeforeSend(ctx, func() error { return r.maySend(ctx) })
	outcome := r.Tokens.Apply(asks, p.seen.Live.Tokens, p.plan.OfCredentials())
	report.Results = append(report.Results, outcome.Results...)
	report.Plan.Problems = solved(report.Plan.Problems, outcome.Plan.Problems)
	if errors.Is(outcome.Err, edge.ErrUnauthenticated) && p.scope.Zones() > 0 {
		return nil // the results say so: it stops the tokens alone
	}
	return outcome.Err
}

// maySend is asked before each request about tokens, of which no transaction asks.
func (r *Run) maySend(ctx context.Context) error {
	ctx, cancel := reconcile.Lingering(ctx)
	defer cancel()
	return reconcile.NotPutBack(ctx, r.Records)
}

// solved are the problems of a plan without those about tokens that are no longer
// among left.
func solved(all, left []diff.Problem) []diff.Problem {
	kept := make([]diff.Problem, 0, len(all))
	for _, problem := range all {
		if problem.Level() != edge.LevelCredential || slices.ContainsFunc(left, func(o diff.Problem) bool {
			return o.Token == problem.Token && o.State == problem.State
		}) {
			kept = append(kept, problem)
		}
	}
	return kept
}

// conclude remembers what the run has come to, even one that was told to stop.
func (r *Run) conclude(ctx context.Context, p *planned, gate *control.Run, report *reconcile.Report) error {
	return errors.Join(gate.RecordFailed(ctx, report.Results), r.prove(ctx, p, gate), r.forget(ctx, p, gate), r.follow(ctx, p, report), r.spend(ctx, p, report))
}

// prove records what agrees with its declaration: deployments, and the declarations of
// zones of which all deployments do. Of a commit that is not in force nothing is proved.
func (r *Run) prove(ctx context.Context, p *planned, gate *control.Run) error {
	if p.facts.Shrunk() {
		return nil
	}
	agree := p.agree(gate)
	inSync, settled := settledOf(agree, gate)
	unremoved := map[edge.Scope]bool{}
	for id := range p.unremoved(gate) {
		unremoved[id.Scope] = true
	}
	prunable := control.PrunableByZone(p.record.Prunable)
	var proofs []reconcile.Proof
	var results []reconcile.Entry
	declared := p.judged.Acceptance.Declared
	for account, z := range p.scope.EachZone() {
		if known := inSync[z.Scope]; known != nil {
			results = append(results, gate.Agreed(declared(z.Scope), known)...)
		}
		if settled[z.Scope] == z.Count() && !unremoved[z.Scope] && p.seen.Read(z, prunable[z.Scope]) {
			proof := reconcile.Proof{Scope: z.Scope, Fingerprint: declared(z.Scope), Labels: z.Labels, Commit: p.state.Commit}
			proofs = append(proofs, proof)
			if _, known := p.record.Proofs[z.Scope]; !known && !gate.Wrote(z.Scope) { // the history takes it only where nothing was written
				results = append(results, reconcile.BeginEntry(proof, account.Key, z.Key, reconcile.Asked{Commit: p.state.Commit}))
			}
		}
	}
	if len(proofs)+len(agree) == 0 {
		return nil
	}
	if err := r.Records.Prove(ctx, p.state.Commit, proofs, agree, results...); err != nil {
		return fmt.Errorf("remembering what is in sync: %w", err)
	}
	return nil
}

// settledOf are what agrees in each scope, and how many declarations of it do with what the run
// has written.
func settledOf(agree []diff.Settled, gate *control.Run) (inSync map[edge.Scope][]diff.Settled, settled map[edge.Scope]int) {
	inSync, settled = map[edge.Scope][]diff.Settled{}, map[edge.Scope]int{}
	for _, s := range agree {
		inSync[s.ID.Scope] = append(inSync[s.ID.Scope], s)
		if !s.Removed {
			settled[s.ID.Scope]++
		}
	}
	for id, live := range gate.Settled() {
		if live {
			settled[id.Scope]++
		}
	}
	return inSync, settled
}

// agree are the deployments that agreed with their declaration before anything was written, but
// those that a write has proved once more: what is on record of them since is newer.
func (p *planned) agree(gate *control.Run) []diff.Settled {
	written := gate.Settled()
	return slices.DeleteFunc(slices.Clone(p.plan.Settled), func(s diff.Settled) bool {
		_, once := written[s.ID]
		return once || s.Level() == edge.LevelCredential
	})
}

// unremoved are the deployments that are still to be removed.
func (p *planned) unremoved(gate *control.Run) map[diff.ID]bool {
	left := control.Unremoved(p.record.Prunable, p.plan.Settled...)
	for id := range gate.Settled() {
		delete(left, id)
	}
	return left
}

// forget drops what is remembered of deployments that the accepted state no longer
// declares. One that comes back later begins anew: what is live by then may be
// someone's hand work and must not pass for "once ours".
func (r *Run) forget(ctx context.Context, p *planned, gate *control.Run) error {
	if p.facts.Shrunk() {
		return nil
	}
	gone := control.Obsolete(p.record, p.state, p.seen.Live)
	unremoved := p.unremoved(gate)
	gone = slices.DeleteFunc(gone, func(id diff.ID) bool { return unremoved[id] })
	if len(gone) == 0 {
		return nil
	}
	if err := r.Records.Forget(ctx, gone); err != nil {
		return fmt.Errorf("forgetting deployments that left the repository: %w", err)
	}
	return nil
}

// follow records what became of the zones of the waves that are open.
func (r *Run) follow(ctx context.Context, p *planned, report *reconcile.Report) error {
	if report.Rollout == nil {
		return nil
	}
	outcomes := control.ZoneOutcomes(zonesOf(p.scope), report.Plan, report.Results)
	err := r.Records.Roll(ctx, func(have reconcile.Rollout) reconcile.Rollout {
		if have.Commit != p.state.Commit {
			return have
		}
		return control.Noted(have, r.Guards.Waves, report.Rollout.Open, outcomes, r.Now())
	})
	if err != nil {
		return fmt.Errorf("recording how far the waves have come: %w", err)
	}
	return nil
}

func zonesOf(state desired.State) (ids []edge.Scope) {
	for _, z := range state.EachZone() {
		ids = append(ids, z.Scope)
	}
	return ids
}

// spend ends approvals: of changes that are made, because asked for again they are
// another decision; and of several changes, because each of them is on record by
// itself.
func (r *Run) spend(ctx context.Context, p *planned, report *reconcile.Report) error {
	spent := append(control.SpentBy(control.Outcome{Plan: p.plan, Results: report.Results}), p.spent...)
	if len(spent) == 0 {
		return nil
	}
	return r.Records.Spend(ctx, spent)
}
