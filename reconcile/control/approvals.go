package control

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
)

// approvals are the approvals on record that are not spent. A commit of a whole fleet may have
// one for each zone, so that what is asked for one zone walks over none of them.
type approvals struct {
	known   map[string]reconcile.Approval // by digest
	digests map[string]bool               // of known, and of divided
	expires time.Time                     // when the first of those that were read does not count any more; zero for never
	changed bool                          // others than when waiting zones were released last
	divided divided
	used    digestList // of those that a rollout has begun on; to be put on record
	expired digestList // of those that are not counted any more; to be put on record
}

// digestList has each digest once, in the order in which they came.
type digestList struct {
	list []string
	has  map[string]bool
}

func (l *digestList) add(digest string) {
	if l.has[digest] {
		return
	}
	if l.has == nil {
		l.has = map[string]bool{}
	}
	l.has[digest] = true
	l.list = append(l.list, digest)
}

// drop takes digests out.
func (l *digestList) drop(digests ...string) {
	before := l.list
	for _, digest := range digests {
		delete(l.has, digest)
	}
	l.list = nil
	for _, digest := range before {
		if l.has[digest] {
			l.list = append(l.list, digest)
		}
	}
}

func byDigest(list []reconcile.Approval) map[string]reconcile.Approval {
	known := make(map[string]reconcile.Approval, len(list))
	for _, a := range list {
		known[a.Digest] = a
	}
	return known
}

func counting(known map[string]reconcile.Approval) map[string]bool {
	digests := make(map[string]bool, len(known))
	for digest := range known {
		digests[digest] = true
	}
	return digests
}

// restore takes the approvals on record at the start, or after another process has
// accepted a commit.
func (a *approvals) restore(list []reconcile.Approval) {
	a.known, a.changed = byDigest(list), false
	a.digests = counting(a.known)
}

// due reports whether one of those that were read does not count any more.
func (a *approvals) due(now time.Time) bool { return !a.expires.IsZero() && !now.Before(a.expires) }

// replace takes the approvals on record in the place of those that were known. They expire after
// a time.
func (a *approvals) replace(list []reconcile.Approval, after time.Duration) {
	known, before := a.digests, a.known
	a.known, a.expires = byDigest(list), time.Time{}
	for _, approval := range list {
		if e := approval.Expires(after); a.expires.IsZero() || !e.IsZero() && e.Before(a.expires) {
			a.expires = e
		}
	}
	a.digests = counting(a.known)
	a.changed = a.changed || len(a.digests) != len(known)
	for digest := range before {
		if !a.digests[digest] {
			a.divided = divided{} // it may be of one that was ended elsewhere, and is made anew if not
			break
		}
	}
	for digest := range a.digests {
		a.changed = a.changed || !known[digest]
	}
}

// expire notes which of the approvals on record do not count any more.
func (a *approvals) expire(recorded []reconcile.Approval) {
	if len(recorded) == len(a.known) {
		return
	}
	for _, approval := range recorded {
		if _, counts := a.known[approval.Digest]; !counts {
			a.expired.add(approval.Digest)
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
		if _, known := a.known[approval.Digest]; !known {
			a.known[approval.Digest] = approval
		}
		a.digests[approval.Digest] = true
	}
}

// spend drops approvals.
func (a *approvals) spend(digests []string) {
	for _, digest := range digests {
		delete(a.digests, digest)
		delete(a.known, digest)
	}
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

// recordUse puts on record which approvals a rollout has begun on, and which have expired.
// What cannot be recorded is kept for the next time. Several processes may do so at once: that one is
// used, or has ended, is put on record only where it still counts, and once. Where one process ends
// an approval in the same moment in which a rollout of another begins on it, the rest of the zones
// waits for a new one.
func (c *Control) recordUse(ctx context.Context) error {
	c.mu.Lock()
	used, expired := c.state.approvals.used.list, c.state.approvals.expired.list
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
	for _, digest := range used {
		if approval, ok := s.approvals.known[digest]; ok {
			approval.Used = true
			s.approvals.known[digest] = approval
		}
	}
	s.approvals.used.drop(used...)
	s.approvals.expired.drop(expired...)
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
		c.mu.Lock()
		defer c.mu.Unlock()
		c.state.said = 0 // they may be spent all the same
		return fmt.Errorf("ending approvals: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.recorded++
	c.state.approvals.spend(digests)
	return nil
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
	if !slices.ContainsFunc(o.Plan.Changes, func(c diff.Change) bool { return c.Approved }) {
		return nil
	}
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
