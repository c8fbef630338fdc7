package control

import (
	"context"
	"fmt"
)

// Unlooked is [reconcile.Standing.PutBack], as far as this process knows: while it is not 0, nothing is
// written.
func (c *Control) Unlooked() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.unlooked
}

// LookedAt takes note that this commit is the tip of the followed branch: it was looked at after
// [Control.Unlooked] was this. Where it is the accepted one on record, too, that is over for all processes.
func (c *Control) LookedAt(ctx context.Context, unlooked int64, commit string) error {
	if unlooked == 0 {
		return nil
	}
	if err := c.Records.LookedAt(ctx, unlooked, commit); err != nil {
		return fmt.Errorf("remembering that git was looked at: %w", err)
	}
	c.Heed()
	return nil
}
