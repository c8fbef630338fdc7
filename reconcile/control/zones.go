package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// zoneRecord is what is on record of one zone.
type zoneRecord struct {
	proof   reconcile.Proof
	applied diff.Applied // what its deployments own; replaced, and never written to
	unkept  map[edge.RulesetID]unkept
	settled map[diff.DeploymentID]bool // proved under settling, while others are not yet
	under   string                     // the fingerprint that settled is about
	sent    bool                       // a write was let pass since the last proof
}

// zoneRecords sorts a record by zone.
func zoneRecords(record reconcile.Record, now time.Time) map[edge.ZoneID]*zoneRecord {
	zones := map[edge.ZoneID]*zoneRecord{}
	of := func(id edge.ZoneID) *zoneRecord {
		z := zones[id]
		if z == nil {
			z = &zoneRecord{}
			zones[id] = z
		}
		return z
	}
	for id, proof := range record.Proofs {
		of(id).proof = proof
	}
	for id, owned := range record.Applied {
		z := of(id.Zone)
		if z.applied == nil {
			z.applied = diff.Applied{}
		}
		z.applied[id] = owned
	}
	for id, fingerprint := range record.NonConvergent {
		of(id.Zone).noteUnkept(id.Ruleset, fingerprint, now)
	}
	return zones
}

// unkept is a change that the platform took and did not keep. It is tried again, ever
// more slowly: the platform may have had a bad hour.
type unkept struct {
	fingerprint string
	next        time.Time // when it is tried again
	tries       int
}

// firstAgain and lastAgain bound how long a change that was not kept waits for the
// next try: twice as long each time.
const (
	firstAgain = 15 * time.Minute
	lastAgain  = 6 * time.Hour
)

// noteUnkept notes that a change was not kept, and reports whether that is news: the
// very same change has not been told of before.
func (z *zoneRecord) noteUnkept(ruleset edge.RulesetID, fingerprint string, now time.Time) (news bool) {
	if z.unkept == nil {
		z.unkept = map[edge.RulesetID]unkept{}
	}
	u := z.unkept[ruleset]
	if news = u.fingerprint != fingerprint; news {
		u = unkept{fingerprint: fingerprint}
	}
	u.next = now.Add(min(firstAgain<<min(u.tries, 10), lastAgain))
	u.tries++
	z.unkept[ruleset] = u
	return news
}

// nonConvergent are the changes of a zone that must not be sent at a time.
func (z *zoneRecord) nonConvergent(id edge.ZoneID, now time.Time) map[diff.DeploymentID]string {
	var not map[diff.DeploymentID]string
	for ruleset, u := range z.unkept {
		if now.Before(u.next) {
			if not == nil {
				not = map[diff.DeploymentID]string{}
			}
			not[diff.DeploymentID{Zone: id, Ruleset: ruleset}] = u.fingerprint
		}
	}
	return not
}

// again is when a change that was not kept is tried next, the zero time where there
// is none. One whose time has come and that was not sent waits for something else.
func (z *zoneRecord) again(now time.Time) (at time.Time) {
	for _, u := range z.unkept {
		if u.next.After(now) && (at.IsZero() || u.next.Before(at)) {
			at = u.next
		}
	}
	return at
}

// Permit implements [zone.Gate]: the change passes the guards as they are at this
// moment, it counts for limits, and who owns what is on record for the case that the
// process ends between the write and its proof.
func (c *Control) Permit(ctx context.Context, t zone.Task, _, now diff.Change) (*diff.Refusal, error) {
	if err := errors.Join(c.listen(ctx), c.recordAgreements(ctx)); err != nil {
		return nil, fmt.Errorf("asking whether the zone may be written: %w", err)
	}
	id := t.Zone().ID
	c.mu.Lock()
	g := c.Current()
	if g.prints[id] != t.Fingerprint {
		c.mu.Unlock()
		return nil, reconcile.ErrSuperseded
	}
	if by := c.words.overtaken; by != "" {
		c.mu.Unlock()
		return &diff.Refusal{Guard: guardOvertaken, Reason: "another process has accepted commit " + by}, nil
	}
	guarded := diff.Guard(diff.Plan{Changes: []diff.Change{now}}, c.factsOf(g, id)).Changes[0]
	if guarded.Refused != nil {
		c.mu.Unlock()
		return guarded.Refused, nil
	}
	z, at := c.zone(id), c.Now()
	drift := reconcile.Drift{Zone: id, At: at, Weakens: now.Direction == diff.Weakens}
	commitWork := c.isCommitWork(g, id)
	if !guarded.Approved {
		c.limits.count(drift, commitWork)
	}
	widened := wider(z.applied[now.ID()], now)
	entry := c.entry(t, guarded, commitWork)
	z.sent = true
	c.mu.Unlock()

	if !commitWork && !guarded.Approved && len(c.Guards.Rules) > 0 {
		if err := c.Records.Drifted(ctx, []reconcile.Drift{drift}, at.Add(-c.DriftFor)); err != nil {
			return nil, fmt.Errorf("remembering that the zone had drifted: %w", err)
		}
	}
	return nil, c.recordWrite(ctx, z, entry, widened)
}

// wider returns what must be on record as owned before a change is sent: what was owned
// before and what will be; none where that is on record.
func wider(have []diff.Member, now diff.Change) []diff.Settled {
	union := slices.Clone(have)
	for _, member := range now.Target.Owned {
		if !slices.Contains(union, member) {
			union = append(union, member)
		}
	}
	if len(union) == len(have) {
		return nil
	}
	return []diff.Settled{{ID: now.ID(), Owned: union}}
}

func (z *zoneRecord) own(id diff.DeploymentID, owned []diff.Member) {
	applied := maps.Clone(z.applied)
	if applied == nil {
		applied = diff.Applied{}
	}
	applied[id] = owned
	z.applied = applied
}

// Proved implements [zone.Gate]: deployments of a zone agree with their declaration.
// Once all of them do, the declaration is proved there.
func (c *Control) Proved(ctx context.Context, t zone.Task, settled []diff.Settled) error {
	declared := t.Zone()
	c.mu.Lock()
	z, g := c.zone(declared.ID), c.Current()
	if g == nil || g.prints[declared.ID] != t.Fingerprint {
		c.mu.Unlock()
		return nil // proved what nobody wants any more; the next look says what is there
	}
	if z.under != t.Fingerprint {
		z.under, z.settled = t.Fingerprint, map[diff.DeploymentID]bool{}
	}
	var news []diff.Settled
	for _, s := range settled {
		if z.settled != nil {
			z.settled[s.ID] = true
		}
		_, unkept := z.unkept[s.ID.Ruleset]
		owned, known := z.applied[s.ID]
		if !known || unkept || !slices.Equal(owned, s.Owned) {
			news = append(news, s)
		}
	}
	var proofs []reconcile.Proof
	whole := len(z.settled) == len(declared.Deployments)
	if whole && (z.proof.Fingerprint != t.Fingerprint) {
		proofs = []reconcile.Proof{{Zone: declared.ID, Fingerprint: t.Fingerprint, Labels: declared.Labels, Commit: g.State.Commit}}
	}
	gone := leftOver(z, whole)
	z.sent = z.sent && !whole
	c.mu.Unlock()
	results := c.writes.Proved(t.Fingerprint, settled)
	if len(news)+len(proofs)+len(results) == 0 {
		return c.drop(ctx, z, gone)
	}
	// It is what the commit in force declares, whichever commit it was worked out from.
	if err := c.Records.Prove(ctx, g.State.Commit, proofs, news, results...); err != nil {
		return fmt.Errorf("remembering what is in sync: %w", err)
	}
	c.mu.Lock()
	for _, s := range news {
		z.own(s.ID, s.Owned)
		delete(z.unkept, s.ID.Ruleset)
	}
	if len(proofs) > 0 {
		z.proof = proofs[0]
		delete(c.labels, declared.ID)
	}
	c.mu.Unlock()
	return c.drop(ctx, z, gone)
}

// leftOver returns the deployments on record that a zone, proved as a whole, no
// longer declares: one that comes back later begins anew, since what is live by then
// may be somebody's hand work. The caller holds the lock.
func leftOver(z *zoneRecord, whole bool) (gone []diff.DeploymentID) {
	if !whole {
		return nil
	}
	for id := range z.applied {
		if !z.settled[id] {
			gone = append(gone, id)
		}
	}
	return gone
}

func (c *Control) drop(ctx context.Context, z *zoneRecord, gone []diff.DeploymentID) error {
	if len(gone) == 0 {
		return nil
	}
	if err := c.Records.Forget(ctx, gone); err != nil {
		return fmt.Errorf("forgetting deployments that left the repository: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	applied := maps.Clone(z.applied)
	for _, id := range gone {
		delete(applied, id)
		delete(z.unkept, id.Ruleset)
	}
	z.applied = applied
	return nil
}

// NotKept implements [zone.Gate].
func (c *Control) NotKept(ctx context.Context, t zone.Task, left diff.Change) (news bool, err error) {
	c.mu.Lock()
	news = c.zone(t.Zone().ID).noteUnkept(left.Target.Ruleset, left.Fingerprint(), c.Now())
	c.mu.Unlock()
	if result, open := c.writes.Ended(left.ID(), reconcile.NonConvergent, LeftText(left.Fields)); open {
		err = c.Records.Record(ctx, result)
	}
	return news, errors.Join(err, c.Records.NonConvergent(ctx, left.ID(), left.Fingerprint()))
}
