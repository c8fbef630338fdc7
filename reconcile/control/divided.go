package control

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
)

// divided are approvals of single changes that stand for one of several changes, and the
// digests of those that are spent with that. They are to be put on record.
type divided struct {
	single []reconcile.Approval
	have   map[string]int // where in single each digest is
	spent  digestList
}

// divide has an approval of several changes of a plan count for each of them: planned
// zone by zone, and with some of them done, its digest would be of nothing.
func (a *approvals) divide(plan diff.Plan, now time.Time) {
	if len(plan.Granted) == 0 && !slices.ContainsFunc(plan.Changes, func(c diff.Change) bool { return c.Approved }) {
		return
	}
	who := a.giver(plan.Granted)
	add := func(digest, of string) {
		a.digests[digest] = true
		a.divided.add(reconcile.Approval{Digest: digest, Kind: reconcile.Approved, Who: who, Reason: of, At: now, Used: true})
	}
	single := map[string]bool{}
	for _, change := range plan.Changes {
		digest := change.ApprovalDigest()
		if single[digest] = true; !change.Approved {
			continue
		}
		a.digests[digest] = true
		switch known, ok := a.known[digest]; {
		case ok && !known.Used:
			a.used.add(digest)
		case !ok:
			add(digest, change.Name())
		}
	}
	for _, l := range plan.Leaving {
		_, known := a.known[l.Digest]
		if single[l.Digest] = true; l.Approved && !known {
			add(l.Digest, l.String())
		}
	}
	for _, digest := range plan.Granted {
		if !single[digest] {
			a.divided.spent.add(digest)
		}
	}
}

// add adds approvals that are not there yet.
func (d *divided) add(list ...reconcile.Approval) {
	if d.have == nil {
		d.have = map[string]int{}
	}
	for _, a := range list {
		if _, twice := d.have[a.Digest]; !twice {
			d.have[a.Digest] = len(d.single)
			d.single = append(d.single, a)
		}
	}
}

// giver is who has given one of the approvals that were granted.
func (a *approvals) giver(granted []string) (who string) {
	for _, digest := range granted {
		if approval, ok := a.known[digest]; ok {
			who = approval.Who
		} else if i, ok := a.divided.have[digest]; ok {
			who = a.divided.single[i].Who
		}
	}
	return who
}

// takeDivided returns what is to be put on record. What cannot be is given back with
// keepDivided.
func (a *approvals) takeDivided() divided {
	d := a.divided
	a.divided = divided{}
	return d
}

func (a *approvals) keepDivided(d divided) {
	a.divided.add(d.single...)
	for _, digest := range d.spent.list {
		a.divided.spent.add(digest)
	}
}

// recordDivided puts the approvals of single changes on record that approvals of several
// have been divided into. What cannot be recorded is kept for the next time. Several processes may do
// so at once: they come to the same digests, each of which is put on record once, and what was known
// of an approval that counts no more was forgotten when that was read, just before.
func (c *Control) recordDivided(ctx context.Context) error {
	c.mu.Lock()
	d := c.state.approvals.takeDivided()
	c.mu.Unlock()
	err := approve(ctx, c.Records, d.single)
	if err == nil {
		c.mu.Lock()
		c.state.recordedApprovals(d.single)
		c.mu.Unlock()
		d.single = nil
		err = c.spend(ctx, d.spent.list)
	}
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.state.approvals.keepDivided(d)
	}
	return err
}

// Agreed are the approvals of single changes of a plan that approvals on record, or a person
// who gives the order, stand for, where they are not on record; and the digests of approvals of
// several changes, which are spent with that.
func Agreed(onRecord []reconcile.Approval, plan diff.Plan, who string, now time.Time) (single []reconcile.Approval, spent []string) {
	var a approvals
	a.restore(onRecord)
	a.divide(plan, now)
	d := a.takeDivided()
	for i, approval := range d.single {
		d.single[i].Who = cmp.Or(approval.Who, who)
	}
	return d.single, d.spent.list
}
