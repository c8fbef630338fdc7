package control

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// departures are what is on record of zones and accounts once they have left what people
// have agreed to, and the digests of that.
func (m *memory) departures(leaving []diff.Leaving) (under reconcile.Memory, digests []string) {
	under = reconcile.Memory{Kept: map[edge.Scope][]guard.Selection{}, Bound: map[edge.AccountID]guard.Binding{}}
	for _, l := range leaving {
		switch {
		case !l.Approved:
			continue
		case l.Scope.IsZero():
			under.Bound[m.accounts.IDs[l.Account]] = m.accounts.Binding(l.Account)
		default:
			under.Kept[l.Scope] = m.declared[l.Scope]
		}
		digests = append(digests, l.Digest)
	}
	return under, digests
}

// departing are the departures that people have agreed to, one by one.
func (s *state) departing() (under reconcile.Memory, digests []string, zones []edge.Scope) {
	leaving := make([]diff.Leaving, 0, len(s.zones.memory.leaving))
	for _, l := range s.zones.memory.leaving {
		if l.Approved = s.approvals.digests[l.Digest]; l.Approved {
			leaving = append(leaving, l)
			zones = append(zones, s.current.Load().zonesOf(l)...)
		}
	}
	under, digests = s.zones.memory.departures(leaving)
	return under, digests, zones
}

// zonesOf are the declared zones that a departure is about.
func (g *Generation) zonesOf(l diff.Leaving) (ids []edge.Scope) {
	if !l.Scope.IsZero() {
		return []edge.Scope{l.Scope}
	}
	for account, z := range g.State.EachZone() {
		if account.Key == l.Account {
			ids = append(ids, z.Scope)
		}
	}
	return ids
}

// depart lets what people have agreed to leave the settings that it was under, and returns
// the zones about which guards may say something else now. Of several processes only the one does so
// that decides about commits: what zones are under then is what the newest commit declares, and one
// that is behind would put older settings in their place. The others read that it was done.
func (c *Control) depart(ctx context.Context) ([]edge.Scope, error) {
	ctx, leads := c.leading(ctx)
	if !leads {
		return nil, nil
	}
	c.mu.Lock()
	under, digests, zones := c.state.departing()
	c.mu.Unlock()
	if len(digests) == 0 {
		return nil, nil
	}
	if err := c.Records.Depart(ctx, under, digests); err != nil {
		return nil, fmt.Errorf("recording what zones have left: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	have := reconcile.Memory{Kept: maps.Clone(c.state.zones.onRecord.Kept), Bound: maps.Clone(c.state.zones.onRecord.Bound)}
	if have.Kept == nil {
		have.Kept = map[edge.Scope][]guard.Selection{}
	}
	if have.Bound == nil {
		have.Bound = map[edge.AccountID]guard.Binding{}
	}
	maps.Copy(have.Kept, under.Kept)
	maps.Copy(have.Bound, under.Bound)
	c.state.recorded++
	c.state.approvals.spend(digests)
	c.state.recallAnew(have)
	return zones, nil
}

// newlyLeaving are the departures that were not known before.
func newlyLeaving(before, now []diff.Leaving) []diff.Leaving {
	known := map[string]bool{}
	for _, l := range before {
		known[l.Digest] = true
	}
	return slices.DeleteFunc(slices.Clone(now), func(l diff.Leaving) bool { return known[l.Digest] })
}

// logLeaving logs what a commit would take out of settings: one line, whatever the number.
func logLeaving(ctx context.Context, log *slog.Logger, commit string, leaving []diff.Leaving) {
	if len(leaving) == 0 {
		return
	}
	var which []string
	for _, l := range leaving[:min(len(leaving), namedZones)] {
		which = append(which, l.String())
	}
	log.WarnContext(ctx, "zones or accounts stay under settings that a commit takes them out of, until that is approved",
		"commit", commit, "number", len(leaving), "which", which, "release", "seawall plan, which shows the digests for --approve")
}
