package control

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// entry is the entry in the history of a change that is about to be sent; the caller holds
// the lock.
func (c *Control) entry(t zone.Task, guarded diff.Change, commitWork bool) reconcile.Entry {
	trigger := reconcile.TriggerSweep
	if commitWork {
		trigger = reconcile.TriggerSync
	}
	asked := reconcile.Asked{Commit: c.Current().State.Commit, Author: c.accepted.Author}
	if asked.Commit != c.accepted.Commit {
		asked.Author = ""
	}
	if guarded.Approved {
		asked.Approver = Approver(guarded, c.words.approvals)
	}
	return reconcile.WriteEntry(guarded, trigger, asked, t.Fingerprint, c.zone(t.Zone().ID).applied[guarded.ID()])
}

// Approver says who agreed to a change; empty where that is not on record.
func Approver(change diff.Change, approvals []reconcile.Approval) string {
	digest := change.ApprovalDigest()
	i := slices.IndexFunc(approvals, func(a reconcile.Approval) bool { return a.Digest == digest })
	if i < 0 {
		return ""
	}
	return approvals[i].Who
}

// recordWrite puts a write on record that is about to be sent, and what its deployment owns
// from then on.
func (c *Control) recordWrite(ctx context.Context, z *zoneRecord, entry reconcile.Entry, widened []diff.Settled) error {
	number, err := c.Records.RecordWrite(ctx, entry, widened)
	if err != nil {
		return fmt.Errorf("recording the change before it is sent: %w", err)
	}
	c.writes.Sent(number, entry)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range widened {
		z.own(w.ID, w.Owned)
	}
	return nil
}

// recordFailed puts on record which writes have changed nothing.
func (c *Control) recordFailed(ctx context.Context, results []reconcile.Result) error {
	failed := c.writes.Failed(results)
	if len(failed) == 0 {
		return nil
	}
	if err := c.Records.Record(ctx, failed...); err != nil {
		return fmt.Errorf("recording what failed: %w", err)
	}
	return nil
}

// LeftText names members that still differ after a write.
func LeftText(fields []diff.Field) string {
	paths := make([]string, len(fields))
	for i, f := range fields {
		paths[i] = string(f.Path)
	}
	return "still differs: " + strings.Join(paths, ", ")
}
