package control

import (
	"context"
	"fmt"

	"github.com/seawall-dev/seawall/reconcile"
)

// Unlooked is [reconcile.Standing.PutBack], as far as this process knows: while it is not 0, nothing is
// written.
func (c *Control) Unlooked() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.unlooked
}

// MaySend is asked before each request about tokens, of which no transaction asks: [reconcile.ErrPutBack]
// while nothing is written. What has begun may be asked about while ctx has ended.
func (c *Control) MaySend(ctx context.Context) error {
	ctx, cancel := reconcile.Lingering(ctx)
	defer cancel()
	if err := c.listen(ctx); err != nil {
		return fmt.Errorf("asking whether tokens may be written: %w", err)
	}
	if c.Unlooked() != 0 {
		return reconcile.ErrPutBack
	}
	return nil
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
