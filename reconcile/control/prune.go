package control

import (
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// keeps are the deployments on record as ones that may be removed, and that a generation
// declares as ones that may not, for [reconcile.Acceptance.Keep]: from then on they stay, even
// if the declaration is never proved. A deployment is told by its key here; what was renamed
// as well counts once it is proved.
func (zs *zones) keeps(g *Generation) (ids []diff.ID) {
	for zone := range zs.changed(g) {
		record, there := zs.records[zone]
		if !there || len(record.prunable) == 0 || !g.Declares(zone) {
			continue
		}
		_, z := g.At(zone)
		for id, p := range record.prunable {
			if stays(z, id.Kind, p.Deployment) {
				ids = append(ids, id)
			}
		}
	}
	return sortIDs(ids)
}

// stays reports whether a zone declares something by its key that is not to be removed once nothing
// declares it.
func stays(z *desired.Zone, kind desired.KindName, key string) bool {
	stay := false
	for _, d := range z.Deployments {
		if kind == "" && d.Name() == key {
			stay = !d.Prune
		}
	}
	for _, o := range z.Others {
		if o.Kind == kind && o.Key == key {
			stay = !o.Prune
		}
	}
	return stay
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
	for _, a := range z.settled {
		if a.value {
			live++
		}
	}
	for id := range z.prunable {
		if _, found := z.settled.of(id); !found {
			return false
		}
	}
	return live == declared.Count()
}
