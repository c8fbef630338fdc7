package control

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
)

// approvals are the approvals on record that are not spent.
type approvals struct {
	list    []reconcile.Approval
	digests map[string]bool // of the list, and of divided
	changed bool            // others than when waiting zones were released last
	divided divided
	used    []string // digests that a rollout has begun on; to be put on record
	expired []string // digests that are not counted any more; to be put on record
}

// divided are approvals of single changes that stand for one of several changes, and the
// digests of those that are spent with that. They are to be put on record.
type divided struct {
	single []reconcile.Approval
	spent  []string
}

func digests(list []reconcile.Approval) map[string]bool {
	digests := map[string]bool{}
	for _, a := range list {
		digests[a.Digest] = true
	}
	return digests
}

// restore takes the approvals on record at the start, or after another process has
// accepted a commit.
func (a *approvals) restore(list []reconcile.Approval) {
	a.list, a.digests, a.changed = list, digests(list), false
}

// replace takes the approvals on record in the place of those that were known.
func (a *approvals) replace(list []reconcile.Approval) {
	known, before := a.digests, a.list
	a.list, a.digests = list, digests(list)
	a.changed = a.changed || len(a.digests) != len(known)
	if slices.ContainsFunc(before, func(b reconcile.Approval) bool { return !a.digests[b.Digest] }) {
		a.divided = divided{} // it may be of one that was ended elsewhere, and is made anew if not
	}
	for digest := range a.digests {
		a.changed = a.changed || !known[digest]
	}
}

// expire notes which of the approvals on record do not count any more.
func (a *approvals) expire(recorded, current []reconcile.Approval) {
	counts := digests(current)
	for _, approval := range recorded {
		if !counts[approval.Digest] && !slices.Contains(a.expired, approval.Digest) {
			a.expired = append(a.expired, approval.Digest)
		}
	}
}

// accept adds approvals that came with a commit.
func (a *approvals) accept(list []reconcile.Approval) {
	for _, approval := range list {
		a.changed = a.changed || !a.digests[approval.Digest]
	}
	a.add(list)
}

// add adds approvals that are on record.
func (a *approvals) add(list []reconcile.Approval) {
	for _, approval := range list {
		a.digests[approval.Digest] = true
	}
	a.list = slices.Concat(a.list, list)
}

// spend drops approvals.
func (a *approvals) spend(digests []string) {
	for _, digest := range digests {
		delete(a.digests, digest)
	}
	a.list = slices.DeleteFunc(slices.Clone(a.list), func(approval reconcile.Approval) bool {
		return slices.Contains(digests, approval.Digest)
	})
}

// divide has an approval of several changes of a plan count for each of them: planned
// zone by zone, and with some of them done, its digest would be of nothing.
func (a *approvals) divide(plan diff.Plan, now time.Time) {
	if len(plan.Granted) == 0 && !slices.ContainsFunc(plan.Changes, func(c diff.Change) bool { return c.Approved }) {
		return
	}
	known, used, who := a.recorded(plan.Granted)
	add := func(digest, of string) {
		known[digest], a.digests[digest] = true, true
		a.divided.single = append(a.divided.single, reconcile.Approval{
			Digest: digest, Kind: reconcile.Approved, Who: who, Reason: of, At: now, Used: true,
		})
	}
	single := map[string]bool{}
	for _, change := range plan.Changes {
		digest := change.ApprovalDigest()
		if single[digest] = true; !change.Approved {
			continue
		}
		a.digests[digest] = true
		if known[digest] && !used[digest] && !slices.Contains(a.used, digest) {
			a.used = append(a.used, digest)
		}
		if !known[digest] {
			add(digest, change.Name())
		}
	}
	for _, l := range plan.Leaving {
		if single[l.Digest] = true; l.Approved && !known[l.Digest] {
			add(l.Digest, l.String())
		}
	}
	for _, digest := range plan.Granted {
		if !single[digest] && !slices.Contains(a.divided.spent, digest) {
			a.divided.spent = append(a.divided.spent, digest)
		}
	}
}

// recorded are the digests of approvals that there are, those that were used, and who has given
// one of those granted.
func (a *approvals) recorded(granted []string) (known, used map[string]bool, who string) {
	known, used = map[string]bool{}, map[string]bool{}
	for _, approval := range slices.Concat(a.list, a.divided.single) {
		known[approval.Digest], used[approval.Digest] = true, approval.Used
		if slices.Contains(granted, approval.Digest) {
			who = approval.Who
		}
	}
	return known, used, who
}

// takeDivided returns what is to be put on record. What cannot be is given back with
// keepDivided.
func (a *approvals) takeDivided() divided {
	d := a.divided
	a.divided = divided{}
	return d
}

func (a *approvals) keepDivided(d divided) {
	a.divided.single = append(a.divided.single, d.single...)
	a.divided.spent = append(a.divided.spent, d.spent...)
}

// approve puts approvals on record, if there are any.
func approve(ctx context.Context, records Records, list []reconcile.Approval) error {
	if len(list) == 0 {
		return nil
	}
	if err := records.Approve(ctx, list); err != nil {
		return fmt.Errorf("recording approvals: %w", err)
	}
	return nil
}

// recordDivided puts the approvals of single changes on record that approvals of several
// have been divided into. What cannot be recorded is kept for the next time.
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
		err = c.spend(ctx, d.spent)
	}
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.state.approvals.keepDivided(d)
	}
	return err
}

// recordUse puts on record which approvals a rollout has begun on, and which have expired.
// What cannot be recorded is kept for the next time.
func (c *Control) recordUse(ctx context.Context) error {
	c.mu.Lock()
	used, expired := c.state.approvals.used, c.state.approvals.expired
	c.mu.Unlock()
	if len(used) > 0 {
		if err := c.Records.Use(ctx, used); err != nil {
			return fmt.Errorf("recording that approvals are used: %w", err)
		}
	}
	if len(expired) > 0 {
		reason := "not used within " + c.Guards.ApprovalsExpire.String()
		if err := c.Records.Withdraw(ctx, expired, reason); err != nil {
			return fmt.Errorf("recording that approvals have expired: %w", err)
		}
		c.Log.WarnContext(ctx, "approvals have expired: no rollout has begun on them in time", "digests", expired, "after", c.Guards.ApprovalsExpire)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.recordedUse(used, expired)
	return nil
}

func (s *state) recordedUse(used, expired []string) {
	if len(used)+len(expired) == 0 {
		return
	}
	s.recorded++
	done := func(digest string) bool { return slices.Contains(used, digest) || slices.Contains(expired, digest) }
	s.approvals.used = slices.DeleteFunc(slices.Clone(s.approvals.used), done)
	s.approvals.expired = slices.DeleteFunc(slices.Clone(s.approvals.expired), done)
	s.approvals.list = slices.Clone(s.approvals.list)
	for i, approval := range s.approvals.list {
		s.approvals.list[i].Used = approval.Used || slices.Contains(used, approval.Digest)
	}
}

func (s *state) recordedApprovals(list []reconcile.Approval) {
	if len(list) > 0 {
		s.recorded++
		s.approvals.add(list)
	}
}

// spend ends approvals: of changes that are made, because asked for again they are
// another decision.
func (c *Control) spend(ctx context.Context, digests []string) error {
	if len(digests) == 0 {
		return nil
	}
	if err := c.Records.Spend(ctx, digests); err != nil {
		return fmt.Errorf("ending approvals: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.recorded++
	c.state.approvals.spend(digests)
	return nil
}

// Agreed are the approvals of single changes of a plan that approvals on record, or a person
// who gives the order, stand for, where they are not on record; and the digests of approvals of
// several changes, which are spent with that.
func Agreed(onRecord []reconcile.Approval, plan diff.Plan, who string, now time.Time) (single []reconcile.Approval, spent []string) {
	a := approvals{list: onRecord, digests: digests(onRecord)}
	a.divide(plan, now)
	d := a.takeDivided()
	for i, approval := range d.single {
		d.single[i].Who = cmp.Or(approval.Who, who)
	}
	return d.single, d.spent
}

// Overrides are the words of a person who overrides freezes. It logs them.
func Overrides(ctx context.Context, log *slog.Logger, freezes []string, who, reason string, at time.Time) (words []reconcile.Approval) {
	for _, f := range freezes {
		log.WarnContext(ctx, "a freeze is overridden", "freeze", f, "who", who, "reason", reason)
		words = append(words, reconcile.Approval{Digest: "freezes." + f, Kind: reconcile.Overridden, Who: who, Reason: reason, At: at})
	}
	return words
}

// SpentBy are the approvals of changes that were made. A result has the change as it was
// sent, worked out from a newer read; what was agreed to is the one of the plan.
func SpentBy(o Outcome) (spent []string) {
	done := map[subject]diff.Change{}
	for _, result := range o.Results {
		if result.Outcome == reconcile.Converged {
			done[subjectOf(result.Change)] = result.Change
		}
	}
	for _, change := range o.Plan.Changes {
		if made, ok := done[subjectOf(change)]; ok && change.Approved {
			spent = append(spent, change.ApprovalDigest(), made.ApprovalDigest())
		}
	}
	slices.Sort(spent)
	return slices.Compact(spent)
}
