package control

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// holds are the holds on record.
type holds struct {
	all      []diff.Hold              // those that are over too
	reverted map[edge.Scope]diff.Hold // holds of reverts that were logged
	last     activeHolds              // those in force, as they were asked for last
}

// activeHolds are those in force while a generation is, from one time until another.
type activeHolds struct {
	list        []diff.Hold
	g           *Generation
	from, until time.Time
}

// put takes the holds on record.
func (h *holds) put(all []diff.Hold) { h.all, h.last = all, activeHolds{} }

// active are those in force at a time, while a generation is, or none. They must not be changed.
func (h *holds) active(g *Generation, now time.Time) []diff.Hold {
	if l := &h.last; l.g == g && !l.from.IsZero() && !now.Before(l.from) && now.Before(l.until) {
		return l.list
	}
	var declared func(edge.Scope) string
	if g != nil {
		declared = g.declaration
	}
	h.last = activeHolds{diff.Active(h.all, now, declared), g, now, now.Add(time.Hour)}
	if g != nil {
		h.last.list = diff.Find(h.last.list, g.State)
	}
	for _, hold := range h.last.list {
		if !hold.Reverted() && hold.Until.Before(h.last.until) {
			h.last.until = hold.Until
		}
	}
	return h.last.list
}

// reverts are the holds of reverts that have begun, and that have ended, since the last
// time.
func (h *holds) reverts(g *Generation, now time.Time) (begun, ended []diff.Hold) {
	held := map[edge.Scope]diff.Hold{}
	for _, hold := range h.active(g, now) {
		if hold.Reverted() {
			held[hold.Scope] = hold
		}
	}
	before := h.reverted
	h.reverted = held
	return without(held, before), without(before, held)
}

// without are the holds of all that are not among others, in the order of their zones.
func without(all, others map[edge.Scope]diff.Hold) (holds []diff.Hold) {
	for _, id := range slices.SortedFunc(maps.Keys(all), edge.Scope.Compare) {
		if _, among := others[id]; !among {
			holds = append(holds, all[id])
		}
	}
	return holds
}

// namedZones bounds how many zones one line of the log names.
const namedZones = 10

// logReverts logs which zones a revert has put back, and which of those are not held any
// more: one line for each, whatever their number.
func logReverts(ctx context.Context, log *slog.Logger, begun, ended []diff.Hold) {
	if len(begun) > 0 {
		log.WarnContext(ctx, "a revert has put zones back; they are held until git declares them otherwise",
			"zones", len(begun), "names", names(begun), "until", begun[0].End(), "reason", begun[0].Reason, "release", "seawall hold release zone NAME")
	}
	if len(ended) > 0 {
		log.InfoContext(ctx, "zones that a revert had put back are not held any more", "zones", len(ended), "names", names(ended))
	}
}

func names(holds []diff.Hold) (zones []string) {
	for _, h := range holds[:min(len(holds), namedZones)] {
		zones = append(zones, h.Zone)
	}
	return zones
}

// Holds are those in force.
func (c *Control) Holds() []diff.Hold {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.activeHolds()
}
