package control

import (
	"context"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
)

// words is what people and other processes said.
type words struct {
	holds     []diff.Hold     // those that are over too
	approved  map[string]bool // digests that are not spent
	approvals []reconcile.Approval
	overtaken string // a commit that another process has accepted; empty for none
	fresh     bool   // the approvals are others than when waiting zones were released last
	rolled    bool   // the waves on record are not those that are known
}

func wordsOf(record reconcile.Record) words {
	return words{holds: record.Holds, approvals: record.Approvals, approved: digests(record.Approvals)}
}

func digests(approvals []reconcile.Approval) map[string]bool {
	approved := map[string]bool{}
	for _, a := range approvals {
		approved[a.Digest] = true
	}
	return approved
}

// listen asks what was said since. Who decides by it hears what was so when it was
// called, or later.
func (c *Control) listen(ctx context.Context) error {
	for {
		c.mu.Lock()
		wrote := c.wrote
		c.mu.Unlock()
		standing, err := c.Records.Standing(ctx)
		if err != nil {
			return fmt.Errorf("reading approvals and holds: %w", err)
		}
		c.mu.Lock()
		if c.wrote == wrote {
			c.hear(standing)
			c.mu.Unlock()
			return nil
		}
		c.mu.Unlock() // what was read is older than what this process has written since
	}
}

// hear takes in what was said; the caller holds the lock.
func (c *Control) hear(standing reconcile.Standing) {
	before := c.words
	c.words = words{
		holds: standing.Holds, approvals: standing.Approvals, approved: digests(standing.Approvals),
		overtaken: c.foreign(standing.Commit), fresh: before.fresh,
	}
	if len(c.words.approved) != len(before.approved) {
		c.words.fresh = true
	}
	for digest := range c.words.approved {
		c.words.fresh = c.words.fresh || !before.approved[digest]
	}
	have := c.rollout.have
	c.words.rolled = have.Commit != standing.RolloutCommit || have.Halted != standing.RolloutHalted || have.Wave != standing.RolloutWave
}

// foreign is the accepted commit where it is not the one in force here, else empty: as
// long as what it declares is not known, nothing may be written.
func (c *Control) foreign(accepted string) string {
	if g := c.Current(); g == nil || accepted == g.State.Commit || accepted == c.accepting {
		return ""
	}
	return accepted
}

// agreements are approvals of single changes that approvals of several have come down
// to, and the digests that are spent with that. They are to be put on record.
type agreements struct {
	words []reconcile.Approval
	spent []string
}

// agree has an approval of several changes of a plan count for each of them: planned
// zone by zone, and with some of them done, its digest would be of nothing. The caller
// holds the lock.
func (c *Control) agree(plan diff.Plan) {
	known, who := map[string]bool{}, ""
	for _, a := range slices.Concat(c.words.approvals, c.agreed.words) {
		known[a.Digest] = true
		if slices.Contains(plan.Granted, a.Digest) {
			who = a.Who
		}
	}
	single := map[string]bool{}
	for _, change := range plan.Changes {
		digest := change.ApprovalDigest()
		if single[digest] = true; !change.Approved {
			continue
		}
		c.words.approved[digest] = true
		if !known[digest] {
			known[digest] = true
			c.agreed.words = append(c.agreed.words, reconcile.Approval{
				Digest: digest, Kind: reconcile.Approved, Who: who, Reason: change.Name(), At: c.Now(),
			})
		}
	}
	for _, digest := range plan.Granted {
		if !single[digest] && !slices.Contains(c.agreed.spent, digest) {
			c.agreed.spent = append(c.agreed.spent, digest)
		}
	}
}

// recordAgreements puts on record what people turned out to have agreed to. What cannot
// be recorded is kept for the next time.
func (c *Control) recordAgreements(ctx context.Context) error {
	c.mu.Lock()
	a := c.agreed
	c.agreed = agreements{}
	c.mu.Unlock()
	err := c.recordWords(ctx, a.words)
	if err == nil {
		a.words = nil
		err = c.spend(ctx, a.spent)
	}
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.agreed.words = append(c.agreed.words, a.words...)
		c.agreed.spent = append(c.agreed.spent, a.spent...)
	}
	return err
}

func (c *Control) recordWords(ctx context.Context, words []reconcile.Approval) error {
	if len(words) == 0 {
		return nil
	}
	if err := c.Records.Approve(ctx, words); err != nil {
		return fmt.Errorf("recording approvals: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrote++
	for _, word := range words {
		c.words.approved[word.Digest] = true
	}
	c.words.approvals = append(slices.Clone(c.words.approvals), words...)
	return nil
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
	c.wrote++
	for _, digest := range digests {
		delete(c.words.approved, digest)
	}
	c.words.approvals = slices.DeleteFunc(slices.Clone(c.words.approvals), func(a reconcile.Approval) bool {
		return slices.Contains(digests, a.Digest)
	})
	return nil
}
