package revert

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// scope is what an order is about: commits, the zones that they were written to, and those
// in which they are still to come.
type scope struct {
	given    map[edge.Scope]reconcile.Given
	accepted map[string]bool // commits that were accepted since the time of the order
	first    time.Time       // when the first of the commits was accepted; zero for not known
	last     int64           // the newest entry of the history when the run began

	pending      map[edge.Scope]bool // declared by the commits, and not proved
	restorations map[edge.Scope][]diff.Restoration
	written      map[edge.Scope]bool  // by the commits, or on the way
	held         map[edge.Scope]bool  // by this run; nil: the commit is not stopped yet
	settled      map[edge.Scope]int64 // the write after whose end the zone was read
}

// scope finds out what an order is about.
func (r *Run) scope(ctx context.Context, p *Planned) (s scope, err error) {
	s = scope{
		accepted: map[string]bool{}, pending: map[edge.Scope]bool{}, restorations: map[edge.Scope][]diff.Restoration{},
		written: map[edge.Scope]bool{}, settled: map[edge.Scope]int64{},
	}
	standing, err := r.Records.Standing(ctx)
	if err != nil {
		return s, fmt.Errorf("asking what was written so far: %w", err)
	}
	s.last = standing.Newest
	if s.given, err = r.Records.Given(ctx); err != nil {
		return s, fmt.Errorf("recalling which commits declare the zones: %w", err)
	}
	filter := reconcile.HistoryFilter{Commit: p.Order.Filter.Commit, Since: p.Order.Filter.Since}
	_, err = r.Records.History(ctx, filter, func(e reconcile.Entry) error {
		if e.Kind == reconcile.EntryCommit {
			s.accepted[e.Asked.Commit] = true
			if s.first.IsZero() {
				s.first = e.At
			}
		}
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("reading the history: %w", err)
	}
	for _, z := range p.state.EachZone() {
		declared := p.declared(z.Scope)
		named := p.Order.Filter.Zone == "" || p.Order.Filter.Zone == z.Key
		if named && p.record.Proofs[z.Scope].Fingerprint != declared && s.gave(p, z.Scope, declared) {
			s.pending[z.Scope] = true
		}
	}
	return s, nil
}

// about reports whether an order is about a commit.
func (s *scope) about(order Order, commit string) bool {
	if order.Filter.Commit != "" {
		return strings.HasPrefix(commit, order.Filter.Commit)
	}
	return s.accepted[commit]
}

// gave reports whether a zone has its declaration from a commit that the order is about. One
// that is older than the record of that counts as the one's in force.
func (s *scope) gave(p *Planned, zone edge.Scope, declaration string) bool {
	if g, known := s.given[zone]; known && g.Declaration == declaration {
		return s.about(p.Order, g.Commit)
	}
	return s.about(p.Order, p.state.Commit)
}

// writes are the writes to zones that an order is about, oldest first, but for those that
// certainly failed.
func (r *Run) writes(ctx context.Context, p *Planned) (writes []reconcile.Entry, err error) {
	filter := p.Order.Filter
	filter.Last = 0
	if err := r.collect(ctx, filter, func(e reconcile.Entry) {
		if e.Trigger != reconcile.TriggerRevert || filter.Commit == "" && e.Result != nil && e.Number <= p.last {
			writes = append(writes, e)
		}
	}); err != nil || filter.Commit == "" {
		return writes, err
	}
	if !p.about(p.Order, p.state.Commit) { // a newer commit has taken over what was still to come
		filter.Commit = ""
		if p.first.After(filter.Since) {
			filter.Since = p.first
		}
		err = r.collect(ctx, filter, func(e reconcile.Entry) {
			g, known := p.given[e.Subject.Scope]
			inherited := known && g.Declaration == e.Declaration && p.about(p.Order, g.Commit)
			if inherited && e.Trigger != reconcile.TriggerRevert && !p.about(p.Order, e.Asked.Commit) {
				writes = append(writes, e)
			}
		})
		slices.SortFunc(writes, func(a, b reconcile.Entry) int { return cmp.Compare(a.Number, b.Number) })
	}
	return ofCommit(writes), err
}

// collect hands over the writes to zones that the history has, and that did not certainly fail.
func (r *Run) collect(ctx context.Context, filter reconcile.HistoryFilter, take func(reconcile.Entry)) error {
	_, err := r.Records.History(ctx, filter, func(e reconcile.Entry) error {
		failed := e.Result != nil && e.Result.Outcome == reconcile.Failed
		if e.Kind == reconcile.EntryWrite && !e.Subject.Scope.IsZero() && !failed {
			take(e)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the history: %w", err)
	}
	return nil
}

// note keeps which zones were written.
func (s *scope) note(writes []reconcile.Entry) {
	for _, e := range writes {
		s.written[e.Subject.Scope] = true
	}
}

// Stopped counts the zones in which the commit is taken out of force before it was written
// there.
func (p *Planned) Stopped() (n int) {
	for id := range p.pending {
		if !p.written[id] {
			n++
		}
	}
	return n
}

// stop takes the commit out of force, in one step: in the zones that it has not reached, and
// in those that are planned to be put back. The order is entered into the history once.
func (r *Run) stop(ctx context.Context, p *Planned) error {
	var order reconcile.Entry
	if p.held == nil {
		order = reconcile.Entry{
			Kind: reconcile.EntryDecision, Action: reconcile.ActionRevert, Trigger: reconcile.TriggerRevert,
			Asked: reconcile.Asked{Commit: p.state.Commit, User: p.Order.Who}, Digest: strings.Join(p.Order.Approve, " "),
			Reason: fmt.Sprintf("%s: zones written: %d, zones not reached yet: %d", p.Order.what(), len(p.written), p.Stopped()),
		}
	}
	holds := p.holds()
	if err := r.Records.Stop(ctx, p.state.Commit, holds, p.ends, order); err != nil {
		return fmt.Errorf("taking the commit out of force: %w", err)
	}
	p.held = map[edge.Scope]bool{}
	for _, h := range holds {
		p.held[h.Scope] = true
	}
	return nil
}

// ends reports whether an approval is withdrawn when the commit is stopped: it was being
// rolled out, or was given since the commit was accepted. What was agreed to for this commit
// counts for no later one that says the same.
func (p *Planned) ends(a reconcile.Approval) bool {
	return a.Used || !p.first.IsZero() && !a.At.Before(p.first)
}

// what says what an order is about.
func (o Order) what() string {
	if c := o.Filter.Commit; c != "" {
		return "writes of commit " + c
	}
	return "writes since " + o.Filter.Since.UTC().Format(time.RFC3339)
}

// because is the reason of a hold, as [diff.Hold] says it.
func (o Order) because() string {
	what := "commit " + o.Filter.Commit[:min(len(o.Filter.Commit), 12)]
	if o.Filter.Commit == "" {
		what = o.what()
	}
	return fmt.Sprintf("revert of %s (%s)", what, o.Who)
}

// holds are those of the zones that the commit has not reached, and of those that are to be,
// or are, as they were before it.
func (p *Planned) holds() (holds []diff.Hold) {
	back := map[edge.Scope]bool{}
	for _, changes := range zone.ByZone(p.Plan) {
		back[changes[0].Scope] = true
	}
	before := p.asBefore()
	for _, z := range p.state.EachZone() {
		if p.pending[z.Scope] || back[z.Scope] || before[z.Scope] {
			holds = append(holds, diff.Hold{
				Zone: z.Key, Scope: z.Scope, Declaration: p.declared(z.Scope), Commit: p.state.Commit, Reason: p.Order.because(),
			})
		}
	}
	return holds
}

// asBefore are the zones that were written and read, and are as they were before the commit,
// while they are still declared as it says.
func (p *Planned) asBefore() map[edge.Scope]bool {
	before := map[edge.Scope]bool{}
	for id := range p.restorations {
		before[id] = p.gave(p, id, p.declared(id))
	}
	for _, problem := range p.Plan.Problems {
		delete(before, problem.Scope)
	}
	for _, c := range p.Plan.Changes {
		delete(before, c.Scope)
	}
	return before
}
