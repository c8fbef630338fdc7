package compile

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/meet"
	"github.com/seawall-dev/seawall/edge"
)

// patched is a state in which zones were replaced, added or taken out.
type patched struct {
	state  desired.State
	own    meet.Own
	copied map[int]bool // the accounts whose zones are a list of its own
	gone   []patch
	put    []patch
}

// patch is one zone of the account that has this index.
type patch struct {
	account int
	zone    desired.Zone
	fresh   bool // it was not there, or had another id or name
}

// mostPatches bounds how many zones are added and taken out: each moves the list behind it.
const mostPatches = 64

// zones notes how a newer reading of a folder has the zones of an account. It is false where another
// folder declares one of those that differ, too, and where one deploys what the account does not
// have.
func (p *patched) zones(account string, before, now []desired.Zone, several map[zoneKey]bool) bool {
	i, found := slices.BinarySearchFunc(p.state.Accounts, account, func(a desired.Account, key string) int { return cmp.Compare(a.Key, key) })
	if !found {
		return false
	}
	was := make(map[string]desired.Zone, len(before))
	for _, z := range before {
		was[z.Key] = z
	}
	for _, z := range now {
		old, there := was[z.Key]
		delete(was, z.Key)
		if there && reflect.DeepEqual(z, old) {
			continue // it stays the very same
		}
		if p.restsOnOthers(several[zoneKey{account, z.Key}], z, old) || !deploysOwn(p.state.Accounts[i], z) {
			return false
		}
		if there && (z.Scope != old.Scope || z.Name != old.Name || z.ByName != old.ByName) {
			p.gone, there = append(p.gone, patch{account: i, zone: old}), false
		}
		p.put = append(p.put, patch{i, z, !there})
	}
	for _, z := range was {
		if p.restsOnOthers(several[zoneKey{account, z.Key}], z) {
			return false
		}
		p.gone = append(p.gone, patch{account: i, zone: z})
	}
	return true
}

// restsOnOthers reports whether what is said of a zone is not its folder's alone: several folders declare
// it, or there is a warning of it that rests on the tokens.
func (p *patched) restsOnOthers(several bool, readings ...desired.Zone) bool {
	return several || slices.ContainsFunc(readings, func(z desired.Zone) bool { return len(p.own.BlockedIn(z)) > 0 })
}

// deploysOwn reports whether an account has all rulesets that a zone deploys.
func deploysOwn(a desired.Account, z desired.Zone) bool {
	for _, d := range z.Deployments {
		if !slices.ContainsFunc(a.Rulesets, func(r desired.RulesetRef) bool { return r.Key == d.Ruleset }) {
			return false
		}
	}
	return true
}

// apply changes the state. It is false where that may be a mistake: of two zones with one key, id or
// name.
func (p *patched) apply() bool {
	if len(p.gone)+len(p.put) == 0 {
		return true
	}
	p.state.Accounts = slices.Clone(p.state.Accounts)
	for _, gone := range p.gone {
		zones, at, found := p.find(gone)
		if !found || len(p.gone) > mostPatches {
			return false
		}
		*zones = slices.Delete(*zones, at, at+1)
	}
	fresh := 0
	for _, put := range p.put {
		zones, at, found := p.find(put)
		if found == put.fresh {
			return false
		}
		if !put.fresh {
			(*zones)[at] = inOrder(put.zone)
			continue
		}
		if fresh++; fresh > mostPatches {
			return false
		}
		*zones = slices.Insert(*zones, at, inOrder(put.zone))
	}
	return fresh == 0 || p.unique()
}

// find returns the zones of a patch's account, which may be changed, and the place of its zone.
func (p *patched) find(of patch) (zones *[]desired.Zone, at int, found bool) {
	a := &p.state.Accounts[of.account]
	if !p.copied[of.account] {
		a.Zones, p.copied[of.account] = slices.Clone(a.Zones), true
	}
	at, found = slices.BinarySearchFunc(a.Zones, of.zone.Key, func(z desired.Zone, key string) int { return cmp.Compare(z.Key, key) })
	return &a.Zones, at, found
}

// unique reports whether no other zone has the id of one that was added, nor its name in its account.
func (p *patched) unique() bool {
	type name struct {
		account int
		folded  string
	}
	ids, names := map[edge.Scope]int{}, map[name]int{}
	for _, put := range p.put {
		if z := put.zone; put.fresh {
			ids[z.Scope], names[name{put.account, desired.FoldName(z.Name)}] = 0, 0
		}
	}
	for i := range p.state.Accounts {
		zones := p.state.Accounts[i].Zones
		for j := range zones {
			z := &zones[j]
			if n, fresh := ids[z.Scope]; fresh && z.Scope.ID != "" {
				if ids[z.Scope]++; n > 0 {
					return false
				}
			}
			if !p.copied[i] || z.Name == "" {
				continue
			}
			of := name{i, desired.FoldName(z.Name)}
			if n, fresh := names[of]; fresh {
				if names[of]++; n > 0 {
					return false
				}
			}
		}
	}
	return true
}
