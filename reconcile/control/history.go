package control

import (
	"context"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// entry is the entry in the history of a change that is about to be sent.
func (s *state) entry(t zone.Task, guarded diff.Change, commitWork bool) reconcile.Entry {
	trigger := reconcile.TriggerSweep
	if commitWork {
		trigger = reconcile.TriggerSync
	}
	asked := reconcile.Asked{Commit: s.current.Load().State.Commit, Author: s.accepted.Author}
	if asked.Commit != s.accepted.Commit {
		asked.Author = ""
	}
	if guarded.Approved {
		asked.Approver = s.approvals.known[guarded.ApprovalDigest()].Who // empty where it is not on record
	}
	owned, _ := s.zones.of(t.Zone().Scope).applied.of(guarded.ID())
	return reconcile.WriteEntry(guarded, trigger, asked, t.Fingerprint, owned)
}

// begins is the entry of a zone that agrees with its declaration for the first time; none
// where it was proved before. The history takes it only where nothing was written.
func (z *zoneRecord) begins(t zone.Task, p proof) []reconcile.Entry {
	if z.proof.Fingerprint != "" || len(p.proofs) == 0 {
		return nil
	}
	return []reconcile.Entry{reconcile.BeginEntry(p.proofs[0], t.Account().Key, t.Zone().Key, reconcile.Asked{Commit: p.proofs[0].Commit})}
}

// drift are the changes of a zone that would correct drift, that guards refuse, and that the
// history does not have yet.
func (s *state) drift(o Outcome) (changes []diff.Change) {
	g := s.current.Load()
	if g == nil || g.declaration(o.Scope) != o.Fingerprint || s.zones.unproved(g, o.Scope) {
		return nil
	}
	z := s.zones.of(o.Scope)
	for _, change := range o.Plan.Changes {
		if change.Refused != nil && !change.Refused.PutBack() && z.found[change.ID()] != change.Fingerprint() {
			changes = append(changes, change)
		}
	}
	return changes
}

// recordFound puts drift on record that is not corrected.
func (c *Control) recordFound(ctx context.Context, drift []diff.Change) error {
	if len(drift) == 0 {
		return nil
	}
	entries := make([]reconcile.Entry, len(drift))
	for i, change := range drift {
		entries[i] = reconcile.FoundEntry(change)
	}
	if err := c.Records.Record(ctx, entries...); err != nil {
		return fmt.Errorf("recording what was changed without Seawall: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, change := range drift {
		z := c.state.zones.of(change.Scope)
		if z.found == nil {
			z.found = map[diff.ID]string{}
		}
		z.found[change.ID()] = change.Fingerprint()
	}
	return nil
}
