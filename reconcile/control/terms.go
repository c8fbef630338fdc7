package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Terms are what one run writes by, an apply or a revert: its plan has passed the guards as a
// whole. To look at a fleet may take hours, and who holds a zone meanwhile is about to work
// on it by hand; a daemon may have accepted a newer commit.
type Terms struct {
	Records Records
	Now     func() time.Time
	Log     *slog.Logger

	State  desired.State    // nothing is sent once another commit is accepted
	Plan   diff.Plan        // which has passed the guards; not of a run that restores
	Record reconcile.Record // when the run began
	Facts  guard.Facts      // which the plan has passed
	Guards reconcile.Guards
	Thawed bool // freezes that allow it are overridden

	// Trigger, Author, Who, Reason and Approvals are for the history: what has the writes
	// sent, who wrote the commit, who gave the order, and what was agreed to.
	Trigger     reconcile.Trigger
	Author, Who string
	Reason      string
	Approvals   []reconcile.Approval

	// Restores is set by a run that does not write what is declared: it puts zones back, so
	// holds of reverts do not keep it from that, and what it leaves proves no declaration.
	// It puts a write on record in its own way.
	Restores func(ctx context.Context, write reconcile.Entry, owned []diff.Settled) (number int64, err error)
}

// Run is the gate of one run.
type Run struct {
	Gate
	Terms

	approved map[string]reconcile.Approval // by digest
	counts   *runCounts                    // nil: no limits

	mu      sync.Mutex
	wrote   map[edge.Scope]bool // zones of which a write is on record
	settled map[diff.ID]bool    // false: removed
}

// NewRun returns the gate of a run. unfinished are writes of which no result is on record.
func NewRun(t Terms, unfinished []reconcile.Entry) *Run {
	r := &Run{Terms: t, wrote: map[edge.Scope]bool{}, settled: map[diff.ID]bool{}, approved: byDigest(t.Approvals)}
	r.counts = newRunCounts(t)
	r.Gate.rules, r.Gate.records, r.Gate.now = r, t.Records, t.Now
	r.writes.Resume(unfinished)
	return r
}

// Permit implements [zone.Gate]. That a change waits is logged: the plan said otherwise.
func (r *Run) Permit(ctx context.Context, t zone.Task, planned, now diff.Change) (*diff.Refusal, error) {
	refusal, err := r.Gate.Permit(ctx, t, planned, now)
	if refusal != nil {
		r.Log.WarnContext(ctx, "a change waits, though it was about to be made", "change", now.Name(), "reason", refusal.Reason)
	}
	return refusal, err
}

// permit implements [rules]. Which commit is in force, and whether the zone is held, is asked
// when the write is put on record.
func (r *Run) permit(_ context.Context, t zone.Task, planned, now diff.Change) (permit, error) {
	if refusal := r.Facts.Worsened(planned, now); refusal != nil {
		return permit{}, errors.New(refusal.Reason)
	}
	at := r.Now()
	facts := guard.Facts{Now: at, Zones: r.Facts.Zones, LabelsBefore: r.Facts.LabelsBefore}
	facts.Freezes, _ = reconcile.FreezesAt(r.Guards.Freezes, at, r.Thawed)
	if refusal := refusalOf(now, facts); refusal != nil {
		return permit{refused: refusal}, nil
	}
	asked := reconcile.Asked{Commit: r.State.Commit, Author: r.Author, User: r.Who}
	if planned.Approved {
		asked.Approver = cmp.Or(r.approved[planned.ApprovalDigest()].Who, r.Who)
	}
	var p permit
	drift := r.Restores == nil && r.Record.Proofs[now.Scope].Fingerprint == t.Fingerprint
	if drift { // the author of the commit has not asked for this
		asked.Author = ""
	}
	if !drift && !planned.Approved {
		if p.refused = r.counts.refuses(now); p.refused != nil {
			return p, nil
		}
		p.count, p.counted = r.counts.of(now, at)
	}
	have := r.Record.Applied[now.ID()]
	p.entry = reconcile.WriteEntry(now, r.Trigger, asked, t.Fingerprint, have)
	p.entry.Reason, p.entry.Drift, p.adds = r.Reason, drift, r.Restores == nil && adds(now, have)
	if owned := now.Do().Owned(); len(owned) > 0 { // they are added to what is on record by now, which may be less than have
		p.widened = []diff.Settled{{ID: now.ID(), Owned: owned}}
	}
	return p, nil
}

func (r *Run) withdrawn(ctx context.Context, t zone.Task, now diff.Change) (string, error) {
	standing, err := r.Records.Standing(ctx)
	if err != nil {
		return "", err
	}
	if standing.Commit != r.State.Commit {
		return anotherCommit, nil
	}
	if standing.PutBack != 0 {
		return diff.ReasonPutBack, nil
	}
	holds := slices.DeleteFunc(diff.Active(standing.Holds, r.Now(), nil), func(h diff.Hold) bool {
		return h.Reverted() && (r.Restores != nil || h.Declaration != t.Fingerprint)
	})
	return withdrawn(diff.Find(holds, r.State), now), nil
}

func (r *Run) record(ctx context.Context, p permit) (number int64, err error) {
	if p.count != nil {
		if err := r.counts.add(ctx, r.Records, *p.count, p.counted); err != nil {
			return 0, err
		}
	}
	record := r.Restores
	if record == nil {
		record = r.Records.RecordWrite
	}
	if number, err = record(ctx, p.entry, p.widened); err != nil {
		return 0, fmt.Errorf("recording the change before it is sent: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrote[p.entry.Subject.Scope] = true
	return number, nil
}

func (r *Run) proved(ctx context.Context, t zone.Task, settled []diff.Settled, agreed func() []reconcile.Entry) error {
	if r.Restores != nil {
		return r.Records.Record(ctx, agreed()...)
	}
	if err := r.Records.Prove(ctx, t.State.Commit, nil, settled, agreed()...); err != nil {
		return fmt.Errorf("remembering what is in sync: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range settled {
		r.settled[s.ID] = !s.Removed
	}
	return nil
}

func (r *Run) unkept(ctx context.Context, _ zone.Task, left diff.Change) (news bool, err error) {
	if r.Restores != nil {
		return true, nil
	}
	now := r.Now()
	return true, errors.Join(
		r.Records.NonConvergent(ctx, left.ID(), left.Fingerprint()),
		r.Records.Tried(ctx, left.ID(), diff.Try{At: now, Next: now.Add(retry.Unkept.First)}),
	)
}

// disown implements [rules].
func (r *Run) disown(ctx context.Context, ids []diff.ID) error {
	if err := r.Records.Forget(ctx, ids); err != nil {
		return fmt.Errorf("forgetting rules that were not added: %w", err)
	}
	return nil
}

// Settled are the deployments that were written and proved; false for those that were removed.
// It is for when all writes have ended, as Wrote is.
func (r *Run) Settled() map[diff.ID]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.settled
}

// Wrote reports whether a write to a zone is on record.
func (r *Run) Wrote(zone edge.Scope) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wrote[zone]
}

// Agreed are the results of open writes that are proved with deployments of a zone, which
// agree with a declaration given by its fingerprint.
func (r *Run) Agreed(declaration string, settled []diff.Settled) []reconcile.Entry {
	return r.writes.Proved(declaration, settled)
}
