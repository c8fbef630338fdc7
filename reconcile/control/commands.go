package control

import (
	"context"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// commands follows what apply and revert write beside the daemon: what it knows of these
// zones is old then, and they are to be read. Both are numbers of entries of the history.
type commands struct {
	newest int64
	seen   int64 // up to here; 0 before the first tick
}

// writtenByCommands returns the zones in force that a command has written since the last
// call.
func writtenByCommands(ctx context.Context, c *Control) ([]edge.Scope, error) {
	c.mu.Lock()
	seen, newest := c.state.commands.seen, c.state.commands.newest
	c.mu.Unlock()
	var zones []edge.Scope
	if seen > 0 && newest > seen {
		var err error
		if zones, err = c.Records.WrittenByCommands(ctx, seen); err != nil {
			return nil, fmt.Errorf("reading what commands have written: %w", err)
		}
	}
	c.mu.Lock()
	c.state.commands.seen = newest
	c.mu.Unlock()
	g := c.Current()
	return slices.DeleteFunc(zones, func(id edge.Scope) bool { return g == nil || !g.Declares(id) }), nil
}
