package control

import (
	"context"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Recheck implements [zone.Rechecker]: nobody has held the zone, and no other commit was
// accepted, since the change was permitted.
func (c *Control) Recheck(ctx context.Context, t zone.Task, now diff.Change) error {
	if err := c.readStanding(ctx); err != nil {
		return fmt.Errorf("asking whether the zone may still be written: %w", err)
	}
	c.mu.Lock()
	why := c.state.withdrawn(t, now)
	c.mu.Unlock()
	if why == "" {
		return nil
	}
	if result, open := c.history.writes.Ended(now.ID(), reconcile.Failed, "not sent: "+why); open {
		if err := c.Records.Record(ctx, result); err != nil {
			return fmt.Errorf("recording that the change was not sent: %w", err)
		}
	}
	return fmt.Errorf("%s: %w", why, reconcile.ErrSuperseded)
}

// withdrawn says why a change that was permitted may not be sent any more; empty where it may.
func (s *state) withdrawn(t zone.Task, now diff.Change) string {
	g := s.current.Load()
	if g.prints[now.Scope] != t.Fingerprint || s.overtaken != "" {
		return "another commit is accepted"
	}
	return Withdrawn(s.holds.active(g, s.now()), now.Zone, now.Scope)
}

// Withdrawn says which hold keeps a permitted change from being sent; empty for none.
func Withdrawn(holds []diff.Hold, key string, id edge.Scope) string {
	h, held := diff.HoldOn(holds, key, id)
	if !held {
		return ""
	}
	return "the zone is " + h.String()
}
