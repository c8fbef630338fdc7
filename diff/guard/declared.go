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

func declarationsOf(state desired.State) declarations {
	d := declarations{make(map[edge.Scope]declaredZone, state.Zones()), map[string][]declaredZone{}}
	for _, account := range state.Accounts {
		for _, z := range account.Zones {
			at := declaredZone{account, z}
			d.byID[z.Scope] = at
			if name := at.name(); name != "" && (z.ByName || desired.Sought(z.Scope.ID)) {
				d.byName[name] = append(d.byName[name], at)
			}
		}
	}
	return d
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

// EarlierOf compares a state with the one before it.
func EarlierOf(before, after desired.State) Earlier {
	had, earlier := declarationsOf(before), Earlier{}
	for _, account := range after.Accounts {
		for _, z := range account.Zones {
			was, ok := had.find(declaredZone{account, z})
			switch {
			case !ok:
				earlier[z.Scope] = nil
			case !maps.Equal(was.zone.Labels, z.Labels):
				earlier[z.Scope] = labelsOf(was.zone)
			}
		}
	}
	return earlier
}

// EarlierIn is [EarlierOf] where it is known which zones were replaced; see [desired.Replaced].
func EarlierIn(before, after desired.State, replaced []desired.Index) Earlier {
	earlier := Earlier{}
	for _, at := range replaced {
		was, z := before.Accounts[at.Account].Zones[at.Zone], after.Accounts[at.Account].Zones[at.Zone]
		if !maps.Equal(was.Labels, z.Labels) {
			earlier[z.Scope] = labelsOf(was)
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
