package guard

import (
	"maps"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// declaredZone is a zone with the account that it is declared in.
type declaredZone struct {
	account desired.Account
	zone    desired.Zone
}

// declarations are the zones of a state, to be found by what they are on the platform: by
// their ids, and by name only where the name stands for an id that it was found to have,
// or that is not known.
type declarations struct {
	byID   map[edge.Scope]declaredZone
	byName map[string][]declaredZone
}

// declarationsOf has the zones at some places of a state.
func declarationsOf(state desired.State, places []desired.Index) declarations {
	d := declarations{make(map[edge.Scope]declaredZone, len(places)), map[string][]declaredZone{}}
	for _, place := range places {
		at := declaredAt(state, place)
		d.byID[at.zone.Scope] = at
		if name := at.name(); name != "" && (at.zone.ByName || desired.Sought(at.zone.Scope.ID)) {
			d.byName[name] = append(d.byName[name], at)
		}
	}
	return d
}

func declaredAt(state desired.State, at desired.Index) declaredZone {
	account, zone := at.In(state)
	return declaredZone{*account, *zone}
}

// find returns the same zone of the platform: it has the same id; or it is found by the same
// name in the same account, while the id of one is not known, or the name has another one now.
// Else a zone whose name is being looked up would look as if it were gone.
func (d declarations) find(z declaredZone) (declaredZone, bool) {
	if same, ok := d.byID[z.zone.Scope]; ok {
		return same, true
	}
	if !z.zone.ByName && !desired.Sought(z.zone.Scope.ID) {
		return d.sought(z)
	}
	for _, other := range d.byName[z.name()] {
		if sameAccount(z.account, other.account) {
			return other, true
		}
	}
	return declaredZone{}, false
}

// sought returns the zone that takes the place of one whose id was declared, where it goes
// by the same name and its id is not known yet.
func (d declarations) sought(z declaredZone) (declaredZone, bool) {
	for _, other := range d.byName[z.name()] {
		if desired.Sought(other.zone.Scope.ID) && sameAccount(z.account, other.account) {
			return other, true
		}
	}
	return declaredZone{}, false
}

// name is the name by which a zone is looked up, empty for none.
func (z declaredZone) name() string {
	switch {
	case z.zone.Scope.Level == edge.LevelAccount && z.account.Name != "":
		return desired.AccountKey(desired.FoldName(z.account.Name))
	case z.zone.Scope.Level == edge.LevelAccount:
		return ""
	}
	return desired.FoldName(z.zone.Name)
}

// sameAccount reports whether two accounts are the same one of the platform.
func sameAccount(a, b desired.Account) bool {
	return a.ID == b.ID || a.Name != "" && desired.FoldName(a.Name) == desired.FoldName(b.Name) &&
		(desired.Sought(a.ID) || desired.Sought(b.ID) || a.ByName && b.ByName)
}

// Earlier says of zones that a state declares what they were in an earlier state, where they
// were otherwise then: nil for one that it did not declare, else the labels that it had.
type Earlier map[edge.Scope]Labels

// EarlierOf compares a state with the one before it, of which the difference is known.
func EarlierOf(before, after desired.State, differ desired.Difference) Earlier {
	had, earlier := declarationsOf(before, differ.Was), Earlier{}
	for _, place := range differ.Is {
		z := declaredAt(after, place)
		was, ok := had.find(z)
		switch {
		case !ok:
			earlier[z.zone.Scope] = nil
		case !maps.Equal(was.zone.Labels, z.zone.Labels):
			earlier[z.zone.Scope] = labelsOf(was.zone)
		}
	}
	return earlier
}

// Labels are those that a zone had before, by those that it has; false where it was not
// there.
func (e Earlier) Labels(zone edge.Scope, now Labels) (Labels, bool) {
	was, otherwise := e[zone]
	if !otherwise {
		return now, true
	}
	return was, was != nil
}

// labelsOf are the labels of a zone, and never nil.
func labelsOf(z desired.Zone) Labels {
	if z.Labels == nil {
		return Labels{}
	}
	return z.Labels
}
