package control

import (
	"context"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
)

// heardFor is for how long what people and other processes have said need not be
// asked for again.
const heardFor = 2 * time.Second

// words is what people and other processes said.
type words struct {
	holds     []diff.Hold     // those that are over too
	approved  map[string]bool // digests that are not spent
	approvals []reconcile.Approval
	overtaken string // a commit that another process has accepted; empty for none
	at        time.Time
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

// hear asks what was said since, unless it was asked for just before.
func (c *Control) hear(ctx context.Context) error {
	now := c.Now()
	c.mu.Lock()
	age := now.Sub(c.words.at)
	c.mu.Unlock()
	if age >= 0 && age < heardFor {
		return nil
	}
	_, err := c.listen(ctx)
	return err
}

// listen asks what was said since, and reports what of it is news.
func (c *Control) listen(ctx context.Context) (news news, err error) {
	known := c.Accepted()
	standing, err := c.Records.Standing(ctx)
	if err != nil {
		return news, fmt.Errorf("reading what people and other processes have said: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.words
	c.words = words{
		holds: standing.Holds, approvals: standing.Approvals, approved: digests(standing.Approvals), at: c.Now(),
	}
	if known == c.accepted.Commit && standing.Commit != known { // not while a commit was accepted here
		c.words.overtaken = standing.Commit
	}
	news.approved = len(c.words.approved) != len(before.approved)
	for digest := range c.words.approved {
		news.approved = news.approved || !before.approved[digest]
	}
	news.overtaken = c.words.overtaken != ""
	have := c.rollout.have
	news.rollout = have.Commit != standing.RolloutCommit || have.Halted != standing.RolloutHalted || have.Wave != standing.RolloutWave
	return news, nil
}

// news says what was not so when it was asked before.
type news struct{ approved, overtaken, rollout bool }
