package compile

import (
	"cmp"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compact"
)

// Encoded is a unit in two parts: whoever asks about one zone decodes the second one of the
// folders that declare it, and of no others.
type Encoded struct {
	Outline []byte // see [Unit.outline]
	Details []byte
}

// zoneDetails is what an outline leaves out of a zone.
type zoneDetails struct {
	Labels      map[string]string
	Deployments []desired.Deployment
	Others      []desired.Other
	Unmanaged   []desired.OfOthers
}

// Encode returns the encoded unit.
func (u Unit) Encode() Encoded {
	var details []zoneDetails
	for _, a := range u.Accounts {
		for _, z := range a.Zones {
			details = append(details, zoneDetails{z.Labels, z.Deployments, z.Others, z.Unmanaged})
		}
	}
	return Encoded{compact.Encode(u.outline()), compact.Encode(details)}
}

// Size is how many bytes it takes.
func (e Encoded) Size() int64 { return int64(len(e.Outline) + len(e.Details)) }

// Outlined is the unit, but that its zones say no more than which they are, where they are
// declared, and which rulesets they deploy. That is all [Merge] looks at, but where two folders
// declare one zone; see [Whole].
func (e Encoded) Outlined() (u Unit, err error) {
	err = compact.Decode(e.Outline, &u)
	return u, err
}

// Unit is the whole unit.
func (e Encoded) Unit() (Unit, error) {
	u, err := e.Outlined()
	var details []zoneDetails
	if err = cmp.Or(err, compact.Decode(e.Details, &details)); err != nil {
		return Unit{}, err
	}
	for i := range u.Accounts {
		for n := range u.Accounts[i].Zones {
			if len(details) == 0 {
				return Unit{}, compact.ErrDamaged
			}
			z := &u.Accounts[i].Zones[n]
			z.Labels, z.Deployments, z.Others, z.Unmanaged = details[0].Labels, details[0].Deployments, details[0].Others, details[0].Unmanaged
			details = details[1:]
		}
	}
	return u, nil
}

func (u Unit) outline() Unit {
	return u.eachZone(func(_ desired.Account, z desired.Zone) desired.Zone {
		deployments := make([]desired.Deployment, len(z.Deployments))
		for i, d := range z.Deployments {
			deployments[i] = desired.Deployment{Ruleset: d.Ruleset, Key: d.Key, Origin: d.Origin}
		}
		z.Labels, z.Deployments, z.Others, z.Unmanaged = nil, deployments, nil, nil
		return z
	})
}

func (u Unit) eachZone(do func(desired.Account, desired.Zone) desired.Zone) Unit {
	u.Accounts = eachZone(u.Accounts, do)
	return u
}

// eachZone makes another zone of each zone.
func eachZone(accounts []desired.Account, do func(desired.Account, desired.Zone) desired.Zone) []desired.Account {
	if accounts == nil {
		return nil
	}
	all := make([]desired.Account, len(accounts))
	for i, a := range accounts {
		all[i] = a
		if a.Zones == nil {
			continue
		}
		all[i].Zones = make([]desired.Zone, len(a.Zones))
		for n, z := range a.Zones {
			all[i].Zones[n] = do(a, z)
		}
	}
	return all
}

// Wanted says which zones one asks about. It may look at what an outline has of a zone.
type Wanted func(desired.Account, desired.Zone) bool

// Whole returns the folders whose units [MergeOnly] needs whole, of those that are outlined at
// least: they declare a zone that is wanted, or one that another folder declares, too.
func Whole(outlined []Unit, wanted Wanted) map[string]bool {
	whole := map[string]bool{}
	first := map[zoneKey]string{}
	for _, u := range outlined {
		for _, a := range u.Accounts {
			for _, z := range a.Zones {
				key := zoneKey{a.Key, z.Key}
				other, twice := first[key]
				if first[key] = u.Dir; twice {
					whole[other] = true
				}
				if twice || wanted(a, z) {
					whole[u.Dir] = true
				}
			}
		}
	}
	return whole
}

// MergeOnly is [Merge] of units of which those of [Whole] are whole. The zones of the state that
// are not wanted say which they are, and where they are declared, and declare nothing: the state
// is for questions about one zone, and to plan nothing else.
func MergeOnly(units []Unit, commit string, wanted Wanted) (desired.State, []desired.Problem) {
	_, state, problems := merge(units, commit)
	state.Accounts = eachZone(state.Accounts, func(a desired.Account, z desired.Zone) desired.Zone {
		if wanted(a, z) {
			return z
		}
		return desired.Zone{Key: z.Key, Name: z.Name, Scope: z.Scope, ByName: z.ByName, Origin: z.Origin}
	})
	return state, problems
}
