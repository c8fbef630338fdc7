package control

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
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Gate is the one [zone.Gate]: of the daemon, of an apply and of a revert. Before each write
// it has its rules decide, and puts on record what must survive the write: in one step with
// the question whether people or other processes have said otherwise
// ([reconcile.Records.RecordWrite]). What differs between gates is in the rules: those of the
// daemon are [Control], and those of a single run its [Terms].
//
// What was said is believed for one question: every write asks anew, and asks once more
// before it leaves where it has waited since.
type Gate struct {
	rules   rules
	records Records
	now     func() time.Time
	writes  reconcile.Writes
	added   sync.Map // ids of what was permitted to be added, and was not on record; until its end
}

// rules is what differs between gates.
type rules interface {
	// permit decides about a change that is about to be sent, and what is to be on record of
	// it before.
	permit(ctx context.Context, t zone.Task, planned, now diff.Change) (permit, error)
	// withdrawn says why a permitted change may not be sent any more, by what people and other
	// processes have said; empty where it may.
	withdrawn(ctx context.Context, t zone.Task, now diff.Change) (string, error)
	// record puts a permitted write on record, and returns its number in the history.
	record(ctx context.Context, p permit) (int64, error)
	// proved records deployments that agree with their declaration. agreed returns the results
	// of the writes that are proved with them.
	proved(ctx context.Context, t zone.Task, settled []diff.Settled, agreed func() []reconcile.Entry) error
	// unkept notes a change that the platform did not keep, and reports whether that is news.
	unkept(ctx context.Context, t zone.Task, left diff.Change) (news bool, err error)
	// disown drops from the record what was to be added, and certainly was not.
	disown(ctx context.Context, ids []diff.ID) error
}

// permit is what was decided about a change that is about to be sent.
type permit struct {
	refused *diff.Refusal    // nil: it may be sent; the rest is what to record before that
	zone    edge.Scope       // of the daemon
	count   *reconcile.Count // as it counts for limits; nil: it does not
	counted int64            // the number up to which what counts was known
	entry   reconcile.Entry
	widened []diff.Settled // what its deployment owns from then on
	adds    bool           // it adds a rule, of which nothing was on record
}

// adds reports whether a change adds a rule that is known by its ref, of which this is on record.
func adds(c diff.Change, have []diff.Member) bool {
	return c.Action() == diff.ActionDeploy && c.Kind != "" && len(have) == 0
}

// mostCounts bounds how often a change is judged anew because other processes have counted others.
const mostCounts = 5

// Permit implements [zone.Gate].
func (g *Gate) Permit(ctx context.Context, t zone.Task, planned, now diff.Change) (*diff.Refusal, error) {
	var p permit
	var number int64
	var err error
	for tries := 0; tries == 0 || tries < mostCounts && errors.Is(err, reconcile.ErrCounted); tries++ {
		if p, err = g.rules.permit(ctx, t, planned, now); err != nil || p.refused != nil {
			return p.refused, err
		}
		number, err = g.rules.record(ctx, p)
	}
	if errors.Is(err, reconcile.ErrCounted) { // the zone comes again
		return nil, fmt.Errorf("%w: %w", err, reconcile.ErrSuperseded)
	}
	if held, ok := errors.AsType[*reconcile.HeldError](err); ok { // since it was asked
		return refusalOf(now, guard.Facts{Now: g.now(), Holds: []diff.Hold{held.Hold}}), nil
	}
	if err != nil {
		return nil, err
	}
	g.writes.Sent(number, p.entry)
	if g.added.Delete(now.ID()); p.adds {
		g.added.Store(now.ID(), nil)
	}
	return nil, nil
}

// refusalOf is what guards say of one change.
func refusalOf(c diff.Change, facts guard.Facts) *diff.Refusal {
	return guard.Check(diff.Plan{Changes: []diff.Change{c}}, facts).Changes[0].Refused
}

// Recheck implements [zone.Gate].
func (g *Gate) Recheck(ctx context.Context, t zone.Task, now diff.Change) error {
	why, err := g.rules.withdrawn(ctx, t, now)
	if err != nil {
		return fmt.Errorf("asking whether the zone may still be written: %w", err)
	}
	if why == "" {
		return nil
	}
	if err := errors.Join(g.end(ctx, now, reconcile.Failed, "not sent: "+why), g.notAdded(ctx, now.ID())); err != nil {
		return fmt.Errorf("recording that the change was not sent: %w", err)
	}
	if why == diff.ReasonPutBack {
		return reconcile.ErrPutBack
	}
	return fmt.Errorf("%s: %w", why, reconcile.ErrSuperseded)
}

// Proved implements [zone.Gate].
func (g *Gate) Proved(ctx context.Context, t zone.Task, settled []diff.Settled) error {
	for _, s := range settled {
		g.added.Delete(s.ID)
	}
	return g.rules.proved(ctx, t, settled, func() []reconcile.Entry { return g.writes.Proved(t.Fingerprint, settled) })
}

// NotKept implements [zone.Gate].
func (g *Gate) NotKept(ctx context.Context, t zone.Task, left diff.Change) (news bool, err error) {
	g.added.Delete(left.ID())
	recorded := g.end(ctx, left, reconcile.NonConvergent, leftText(left.Fields))
	news, err = g.rules.unkept(ctx, t, left)
	return news, errors.Join(recorded, err)
}

// Ended implements [zone.Gate].
func (g *Gate) Ended(ctx context.Context, t zone.Task, version string) error {
	return g.records.Unclaim(ctx, t.Zone().Scope, version)
}

// end records the result of an open write, where there is one.
func (g *Gate) end(ctx context.Context, c diff.Change, outcome reconcile.Outcome, reason string) error {
	result, open := g.writes.Ended(c.ID(), outcome, reason)
	if !open {
		return nil
	}
	return g.records.Record(ctx, result)
}

// notAdded drops from the record what was to be added, and certainly was not: somebody may have
// added a rule with its ref, which is not Seawall's.
func (g *Gate) notAdded(ctx context.Context, ids ...diff.ID) error {
	ids = slices.DeleteFunc(ids, func(id diff.ID) bool {
		_, added := g.added.LoadAndDelete(id)
		return !added
	})
	if len(ids) == 0 {
		return nil
	}
	return g.rules.disown(ctx, ids)
}

// RecordFailed records which writes have changed nothing.
func (g *Gate) RecordFailed(ctx context.Context, results []reconcile.Result) error {
	var refused []diff.ID
	for _, r := range results {
		if r.Outcome == reconcile.Failed && r.NoEffect {
			refused = append(refused, r.Change.ID())
		}
	}
	failed := g.writes.Failed(results)
	if len(failed) > 0 {
		if err := g.records.Record(ctx, failed...); err != nil {
			return fmt.Errorf("recording what failed: %w", err)
		}
	}
	return g.notAdded(ctx, refused...)
}

// withdrawn says which hold keeps a permitted change from being sent; empty for none.
func withdrawn(holds []diff.Hold, c diff.Change) string {
	h, held := diff.HoldOn(holds, c.Zone, c.Scope)
	if !held {
		return ""
	}
	return "the zone is " + h.String()
}

// anotherCommit is why a change is withdrawn that a newer commit is about.
const anotherCommit = "another commit is accepted"

// leftText names members that still differ after a write.
func leftText(fields []diff.Field) string {
	paths := make([]string, len(fields))
	for i, f := range fields {
		paths[i] = string(f.Path)
	}
	return "still differs: " + strings.Join(paths, ", ")
}
