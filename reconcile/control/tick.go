package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Ticked is what time and other processes have brought.
type Ticked struct {
	// Released are zones that need not wait any longer, and those that commands beside
	// this process have written.
	Released []edge.Scope
	// Tokens says that they may need not wait any longer.
	Tokens bool
	// Overtaken is a commit that another process has accepted, and that is to come into
	// force here: empty for none. Reload brings it where its declarations are on record.
	Overtaken string
	// PutBack says that the records are those of an earlier time than before. All that is known of them
	// is to be read anew: Reload does.
	PutBack bool
}

// Tick takes in what people and other processes have said since, what has become of
// zones in waves, and the time. What it puts on record is judged in the transaction that does, or is
// under a lease: see recordOutcomes, recordDivided, recordUse and depart.
func (c *Control) Tick(ctx context.Context) (t Ticked, err error) {
	c.deciding.Lock()
	defer c.deciding.Unlock()
	t.PutBack = c.recordsPutBack()
	if t.Released, err = c.recordOutcomes(ctx); err != nil {
		return t, err
	}
	written, err := c.catchUp(ctx)
	if err != nil {
		return t, err
	}
	t.Released = append(t.Released, written...)
	c.mu.Lock()
	stale, approved := c.state.rollout.stale, c.state.approvals.changed
	begun, ended := c.state.holds.reverts(c.Current(), c.Now())
	c.mu.Unlock()
	logReverts(ctx, c.Log, begun, ended)
	for _, h := range ended {
		if g := c.Current(); g != nil && g.Declares(h.Scope) {
			t.Released = append(t.Released, h.Scope) // git's declaration is to be written there
		}
	}
	if stale {
		if err := c.readRollout(ctx); err != nil {
			return t, err
		}
	}
	if approved {
		c.mu.Lock()
		c.state.weighAgain()
		c.mu.Unlock()
	}
	err = errors.Join(c.recordDivided(ctx), c.recordUse(ctx))
	first, failed := c.recordWhole(ctx)
	err = errors.Join(err, failed)
	left, failed := c.depart(ctx)
	t.Released, err = append(t.Released, left...), errors.Join(err, failed)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.limits.fresh = c.state.limits.fresh || first
	c.state.tick(&t, approved || len(left) > 0)
	return t, err
}

// catchUp takes in what is on record where the last look at it has shown something else, and returns
// the zones that commands beside this process have written.
func (c *Control) catchUp(ctx context.Context) (written []edge.Scope, err error) {
	news, known := c.News()
	c.mu.Lock()
	known = known && news == c.state.heard && c.state.said > 0 && !c.state.approvals.due(c.Now())
	c.mu.Unlock()
	if known {
		return nil, nil
	}
	for _, read := range []func(context.Context) error{c.readStanding, c.readMemory, c.recount} {
		if err := read(ctx); err != nil {
			return nil, err
		}
	}
	if written, err = writtenByCommands(ctx, c); err == nil {
		c.mu.Lock()
		c.state.heard = news
		c.mu.Unlock()
	}
	return written, err
}

// recordsPutBack reports whether what is known here is of records that were put back since.
func (c *Control) recordsPutBack() bool {
	news, known := c.News()
	c.mu.Lock()
	defer c.mu.Unlock()
	return known && news.PutBack != c.state.putBack
}

// PutBack is how often the records were found to be of an earlier time, as of when all was taken in.
func (c *Control) PutBack() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.putBack
}

// Heed has the next tick take in what is on record, whatever the last look at it has shown.
func (c *Control) Heed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.heard = reconcile.News{}
}

// tick fills in what need not wait any longer. approved says that approvals have changed
// before it.
func (s *state) tick(t *Ticked, approved bool) {
	s.approvals.changed = s.approvals.changed && !approved
	t.Released = append(t.Released, s.release(approved)...)
	if s.limits.fresh && !s.counting() {
		s.limits.fresh = false
		t.Released = append(t.Released, s.zones.commitWork(s.current.Load())...)
	}
	if s.overtaken != s.accepted.Commit {
		t.Overtaken = s.overtaken
	}
	t.Tokens = s.waiting.releaseTokens(approved, s.unlooked != 0 || len(s.freezes(s.now())) > 0)
}

// release returns the zones that need not wait any longer, for one thing at least, and
// has them wait no more.
func (s *state) release(approved bool) []edge.Scope {
	g, now := s.current.Load(), s.now()
	if g == nil || len(s.waiting.zones) == 0 {
		return nil
	}
	holds := s.holds.active(g, now)
	wave := s.rollout.open(s.guards.Waves, now)
	return s.waiting.release(func(id edge.Scope, reason waitReason) bool {
		switch reason.guard {
		case diff.GuardHold, diff.GuardReverted:
			_, z := g.At(id)
			_, held := diff.HoldOn(holds, z.Key, id)
			return !held
		case diff.GuardFreeze:
			return !now.Before(reason.until)
		case diff.GuardWave:
			return !s.rollout.delays(id, s.guards.Waves, wave)
		case diff.GuardOvertaken:
			return s.overtaken == "" && s.unlooked == 0
		default:
			return approved
		}
	})
}

// reads tell of what is read by several at once which read has begun later: that one may have
// seen more, whichever ends first. Whoever has them guards them.
type reads struct{ begun, newest int }

// begin returns the number of a read.
func (r *reads) begin() int {
	r.begun++
	return r.begun
}

// news reports whether nothing is known yet of a read that has begun later.
func (r *reads) news(read int) bool {
	if read < r.newest {
		return false
	}
	r.newest = read
	return true
}

// Hear takes in what people have put on record, and not only with the next tick.
func (c *Control) Hear(ctx context.Context) error { return c.hear(ctx) }

// hear takes in what people and other processes have put on record where that is not known yet: as
// readStanding does, but it walks over what there may be one of for each zone only where something
// else was said, or where an approval has expired.
func (c *Control) hear(ctx context.Context) error {
	c.mu.Lock()
	said := c.state.said
	if c.state.approvals.due(c.Now()) {
		said = 0
	}
	c.mu.Unlock()
	switch same, err := c.Records.StillSaid(ctx, said); {
	case err != nil:
		return fmt.Errorf("reading approvals and holds: %w", err)
	case same:
		return nil
	}
	return c.readStanding(ctx)
}

// readStanding reads what people and other processes have put on record. What is known
// after it was so when it was called, or later.
func (c *Control) readStanding(ctx context.Context) error {
	for {
		c.mu.Lock()
		recorded, read := c.state.recorded, c.state.reads.begin()
		c.mu.Unlock()
		standing, err := c.Records.Standing(ctx)
		if err != nil {
			return fmt.Errorf("reading approvals and holds: %w", err)
		}
		c.mu.Lock()
		if c.state.recorded == recorded {
			if c.state.reads.news(read) {
				c.state.update(standing)
			}
			c.mu.Unlock()
			return nil
		}
		c.mu.Unlock() // what was read is older than what this process has written since
	}
}

// Reload takes in what is on record since it was taken in last, after another process has accepted a commit.
// Where what that declares is on record it is in force now; else nothing is accepted,
// and it is to be proposed.
func (c *Control) Reload(ctx context.Context) (Decision, error) {
	c.deciding.Lock()
	defer c.deciding.Unlock()
	before := c.Current()
	proved := taken{all: true} // what failed may have been taken in
	look, err := c.restore(ctx, &proved)
	c.tellTaken(proved)
	if err != nil {
		return Decision{}, err
	}
	g := c.Current()
	if g == before {
		return Decision{}, nil
	}
	first, _ := c.recordWhole(ctx) // else the next tick does, and tells of what fails
	c.mu.Lock()
	defer c.mu.Unlock()
	if first && before != nil && before.State.Commit == g.State.Commit {
		c.state.limits.fresh = true
	}
	d := c.state.zones.between(before, g)
	d.Look = look
	return d, nil
}
