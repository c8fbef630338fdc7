package access

import (
	"cmp"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// differ compares the rights of two specs, target by target. Of the targets no
// policy names, one stands for all: the elsewhere account and the other zone.
type differ struct {
	before, after       rights
	readings            []reading
	anyBefore, anyAfter bool // there is anything it may do
	groups              []string
	accounts            []edge.AccountID
	zones               []edge.ZoneID
	users               []string
	vagueThen, vagueNow map[vague]bool
}

// No id has these forms.
const (
	elsewhere edge.AccountID = "?"
	otherZone edge.ZoneID    = "?"
)

func newDiffer(before, after edge.TokenSpec) *differ {
	d := &differ{
		before: read(before, after), after: read(after, before), readings: []reading{onSafeSide},
		vagueThen: vagueEntries(before), vagueNow: vagueEntries(after),
	}
	if len(d.vagueThen)+len(d.vagueNow) > 0 {
		d.readings = []reading{onSafeSide, {false, false}, {true, false}, {true, true}}
	}
	groups, accounts, zones, users := map[string]bool{}, map[edge.AccountID]bool{}, map[edge.ZoneID]bool{}, map[string]bool{}
	for _, p := range slices.Concat(d.before.policies, d.after.policies) {
		maps.Copy(groups, p.groups)
		for _, r := range []reach{p.sure, p.perhaps} {
			maps.Copy(accounts, r.accounts)
			maps.Copy(accounts, r.nested)
			maps.Copy(zones, r.zones)
			maps.Copy(users, r.users)
		}
	}
	d.groups, d.accounts = slices.Sorted(maps.Keys(groups)), slices.Sorted(maps.Keys(accounts))
	d.zones, d.users = slices.Sorted(maps.Keys(zones)), slices.Sorted(maps.Keys(users))
	return d
}

func (d *differ) rights() []Change {
	var changes []Change
	for _, group := range d.groups {
		changes = append(changes, d.onAccounts(group)...)
		changes = append(changes, d.onZones(group)...)
		for _, tag := range d.users {
			wide := part{Resource{Key: edge.ResourceUser + tag}, d.direction(group, OfUser(tag))}
			changes = append(changes, row{wide: wide}.changes(group, nil)...)
		}
		changes = append(changes, d.onVague(group)...)
	}
	return changes
}

// direction says which way a group changes on a target; empty: it does not.
func (d *differ) direction(group string, t Target) Direction {
	var out Direction
	for _, as := range d.readings {
		then, now := d.before.allow(group, t, as), d.after.allow(group, t, as)
		d.anyBefore, d.anyAfter = d.anyBefore || then, d.anyAfter || now
		if now && !then {
			out = Weakens
		}
		if then && !now && out == "" {
			out = Strengthens
		}
	}
	return out
}

func (d *differ) onAccounts(group string) []Change {
	accounts := row{wide: part{Resource{Key: edge.ResourceAllAccounts}, d.direction(group, OfAccount(elsewhere))}}
	for _, a := range d.accounts {
		accounts.cells = append(accounts.cells, part{Resource{Key: edge.ResourceAccount + string(a)}, d.direction(group, OfAccount(a))})
	}
	return accounts.changes(group, nil)
}

// onZones compares all zones, wherever they are, and then each zone that fares
// otherwise than its neighbours.
func (d *differ) onZones(group string) []Change {
	all := d.zoneRow(group, otherZone)
	var apart []Resource
	var changes []Change
	for _, z := range d.zones {
		if own := d.zoneRow(group, z); !own.sameDirections(all) {
			apart = append(apart, own.wide.Resource)
			changes = append(changes, own.changes(group, nil)...)
		}
	}
	return append(all.changes(group, apart), changes...)
}

func (d *differ) zoneRow(group string, z edge.ZoneID) row {
	key := edge.ResourceZone + string(z)
	if z == otherZone {
		key = edge.ResourceAllZones
	}
	r := row{wide: part{Resource{Key: key}, d.direction(group, OfZone(elsewhere, z))}}
	for _, a := range d.accounts {
		cell := Resource{Key: key, In: a}
		if z == otherZone {
			cell = Resource{Key: edge.ResourceAccount + string(a), AllZones: true}
		}
		r.cells = append(r.cells, part{cell, d.direction(group, OfZone(a, z))})
	}
	return r
}

// row is a wide resource and the narrower ones within it.
type row struct {
	wide  part
	cells []part
}

type part struct {
	Resource
	direction Direction
}

func (r row) sameDirections(other row) bool {
	return r.wide.direction == other.wide.direction &&
		slices.EqualFunc(r.cells, other.cells, func(a, b part) bool { return a.direction == b.direction })
}

// changes tells a row: the wide one but for the cells that go another way and for
// what stands apart from the row, then those cells.
func (r row) changes(group string, apart []Resource) []Change {
	var out []Change
	var except []Resource
	for _, c := range r.cells {
		if c.direction != r.wide.direction {
			except = append(except, c.Resource)
			out = append(out, c.change(group, apart)...)
		}
	}
	return append(r.wide.change(group, slices.Concat(except, apart)), out...)
}

func (p part) change(group string, except []Resource) []Change {
	if p.direction == "" {
		return nil
	}
	return []Change{{Kind: KindRight, Group: group, Resource: p.Resource, Except: except, Direction: p.direction}}
}

// vague is an entry of a policy that only the platform can read.
type vague struct {
	group  string
	effect edge.Effect
	key    string
	value  string
}

func vagueEntries(spec edge.TokenSpec) map[vague]bool {
	entries := map[vague]bool{}
	for _, p := range Canonical(spec).Policies {
		known := p.Effect == edge.Allow || p.Effect == edge.Deny
		for key, breadth := range p.Resources {
			if form, _ := splitKey(key); known && documented(form, breadth) {
				continue
			}
			for _, g := range p.PermissionGroups {
				entries[vague{g.ID, p.Effect, key, string(mustMarshal(breadth))}] = true
			}
		}
	}
	return entries
}

// onVague tells the entries that one spec has and the other has not.
func (d *differ) onVague(group string) []Change {
	keys := map[string]bool{}
	for _, pair := range [][2]map[vague]bool{{d.vagueThen, d.vagueNow}, {d.vagueNow, d.vagueThen}} {
		for e := range pair[0] {
			if e.group == group && !pair[1][e] {
				keys[e.key] = true
			}
		}
	}
	var changes []Change
	for key := range keys {
		changes = append(changes, Change{Kind: KindRight, Group: group, Resource: Resource{Key: key}, Direction: Weakens, Undecidable: true})
	}
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Resource.Key, b.Resource.Key) })
	return changes
}
