package control

import (
	"context"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// namedZones bounds how many zones one line of the log names.
const namedZones = 10

// tellReverted logs which zones a revert has put back since the last time, and which of
// those are not held any more: one line for each, whatever their number. It returns the
// latter, as far as they are declared: git's declaration is to be written there.
func (c *Control) tellReverted(ctx context.Context) (released []edge.ZoneID) {
	c.mu.Lock()
	held := map[edge.ZoneID]diff.Hold{}
	for _, h := range c.holds() {
		if h.Reverted() {
			held[h.ZoneID] = h
		}
	}
	before := c.reverted
	c.reverted = held
	c.mu.Unlock()
	if begun := without(held, before); len(begun) > 0 {
		c.Log.WarnContext(ctx, "a revert has put zones back; they are held until git declares them otherwise",
			"zones", len(begun), "names", names(begun), "until", begun[0].End(), "reason", begun[0].Reason, "release", "seawall hold release zone NAME")
	}
	ended := without(before, held)
	if len(ended) > 0 {
		c.Log.InfoContext(ctx, "zones that a revert had put back are not held any more", "zones", len(ended), "names", names(ended))
	}
	for _, h := range ended {
		if g := c.Current(); g != nil && g.Declares(h.ZoneID) {
			released = append(released, h.ZoneID)
		}
	}
	return released
}

// without are the holds of all that are not among others, in the order of their zones.
func without(all, others map[edge.ZoneID]diff.Hold) (holds []diff.Hold) {
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if _, among := others[id]; !among {
			holds = append(holds, all[id])
		}
	}
	return holds
}

func names(holds []diff.Hold) (zones []string) {
	for _, h := range holds[:min(len(holds), namedZones)] {
		zones = append(zones, h.Zone)
	}
	return zones
}
