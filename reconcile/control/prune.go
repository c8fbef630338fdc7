package control

import (
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Keeps are the deployments on record as ones that may be removed, and that a state
// declares as ones that may not, for [reconcile.Acceptance.Keep]: from then on they stay, even
// if the declaration is never proved. A deployment is told by its key here; what was renamed
// as well counts once it is proved.
func Keeps(prunable diff.Pruning, state desired.State) (ids []diff.ID) {
	if len(prunable) == 0 {
		return nil
	}
	type key struct {
		scope edge.Scope
		kind  desired.KindName
		key   string
	}
	stay := map[key]bool{}
	for _, z := range state.EachZone() {
		for _, d := range z.Deployments {
			stay[key{z.Scope, "", d.Name()}] = !d.Prune
		}
		for _, o := range z.Others {
			stay[key{z.Scope, o.Kind, o.Key}] = !o.Prune
		}
	}
	for id, p := range prunable {
		if stay[key{id.Scope, id.Kind, p.Deployment}] {
			ids = append(ids, id)
		}
	}
	return sortIDs(ids)
}

func sortIDs(ids []diff.ID) []diff.ID {
	slices.SortFunc(ids, diff.ID.Compare)
	return ids
}

// Unremoved are the deployments that may be removed and that were found neither as
// declared nor removed. Their records stay, and their zones are not proved.
func Unremoved(prunable diff.Pruning, settled ...diff.Settled) map[diff.ID]bool {
	left := make(map[diff.ID]bool, len(prunable))
	for id := range prunable {
		left[id] = true
	}
	for _, s := range settled {
		delete(left, s.ID)
	}
	return left
}

// PrunableByZone sorts what may be removed by zone.
func PrunableByZone(all diff.Pruning) map[edge.Scope]diff.Pruning {
	zones := map[edge.Scope]diff.Pruning{}
	for id, p := range all {
		if zones[id.Scope] == nil {
			zones[id.Scope] = diff.Pruning{}
		}
		zones[id.Scope][id] = p
	}
	return zones
}

// prunable are all deployments on record that may be removed.
func (zs *zones) prunable() diff.Pruning {
	all := diff.Pruning{}
	for _, z := range zs.records {
		maps.Copy(all, z.prunable)
	}
	return all
}

// keep notes that deployments stay.
func (zs *zones) keep(ids []diff.ID) {
	for _, id := range ids {
		zs.of(id.Scope).mark(id, nil)
	}
}

// mark notes whether a deployment may be removed; nil: not.
func (z *zoneRecord) mark(id diff.ID, p *diff.Prunable) {
	if _, marked := z.prunable[id]; !marked && p == nil {
		return
	}
	prunable := maps.Clone(z.prunable)
	if prunable == nil {
		prunable = diff.Pruning{}
	}
	delete(prunable, id)
	if p != nil {
		prunable[id] = *p
	}
	z.prunable = prunable
}

// marked reports whether a deployment is on record as one that may be removed, just so.
func (z *zoneRecord) marked(s diff.Settled) bool {
	have, marked := z.prunable[s.ID]
	if s.Prune == nil {
		return !marked
	}
	return marked && have == *s.Prune
}

// whole reports whether all that a zone declares was found as declared, and all that may
// be removed and is not declared was found to be removed.
func (z *zoneRecord) whole(declared desired.Zone) bool {
	live := 0
	for _, agrees := range z.settled {
		if agrees {
			live++
		}
	}
	for id := range z.prunable {
		if _, found := z.settled[id]; !found {
			return false
		}
	}
	return live == declared.Count()
}
