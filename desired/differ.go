package desired

import "slices"

// Index is where a zone is in a state.
type Index struct{ Account, Zone int }

// In is the zone there, with its account. Neither may be changed.
func (at Index) In(s State) (*Account, *Zone) {
	a := &s.Accounts[at.Account]
	return a, &a.Zones[at.Zone]
}

// Difference is what two states do not have in common: zones of the first and zones of the second,
// each in the order of its state. A zone that was replaced is in both. All others are the very same
// in both states ([Zone.Is]), in accounts with the same key, name, id and managed rulesets.
type Difference struct {
	Was, Is []Index
	// Same says that both have the same accounts with the same managed rulesets, and the same zones
	// by the same keys, names and ids at the same places.
	Same bool

	// looked is how many zones of the second state were compared with one of the first: that a list which is
	// the very same in both was not walked over shows in nothing else.
	looked int
}

// Differ compares two states. It costs a look at each zone of an account whose list of zones is not the
// very same, and takes memory for what differs; where both are sorted by key, as [State] is, that is no
// more than it must be.
func Differ(before, after State) Difference {
	d := Difference{Same: len(before.Accounts) == len(after.Accounts)}
	i, j := 0, 0
	for i < len(before.Accounts) || j < len(after.Accounts) {
		was, is := at(before.Accounts, i), at(after.Accounts, j)
		switch {
		case is == nil || was != nil && was.Key < is.Key:
			d.was(i, 0, len(was.Zones))
			i++
		case was == nil || was.Key > is.Key:
			d.is(j, 0, len(is.Zones))
			j++
		default:
			d.account(was, is, i, j)
			i, j = i+1, j+1
		}
	}
	return d
}

// account compares accounts of the same key.
func (d *Difference) account(was, is *Account, i, j int) {
	d.Same = d.Same && i == j
	if !was.sameBut(is) {
		d.was(i, 0, len(was.Zones))
		d.is(j, 0, len(is.Zones))
		return
	}
	if sameList(was.Zones, is.Zones) {
		return
	}
	n, m := 0, 0
	for n < len(was.Zones) || m < len(is.Zones) {
		a, b := at(was.Zones, n), at(is.Zones, m)
		switch {
		case b == nil || a != nil && a.Key < b.Key:
			d.was(i, n, n+1)
			n++
		case a == nil || a.Key > b.Key:
			d.is(j, m, m+1)
			m++
		default:
			d.looked++
			if d.Same = d.Same && sameNames(a, b); !a.is(b) {
				d.Was, d.Is = append(d.Was, Index{i, n}), append(d.Is, Index{j, m})
			}
			n, m = n+1, m+1
		}
	}
}

// sameBut reports whether two accounts are the same but for their zones.
func (a *Account) sameBut(o *Account) bool {
	return a.Name == o.Name && a.ID == o.ID && a.ByName == o.ByName && SameRulesets(a.Rulesets, o.Rulesets)
}

func sameNames(a, b *Zone) bool {
	return a.Name == b.Name && a.Scope == b.Scope && a.ByName == b.ByName
}

// was notes that zones of the first state are not in the second; is the other way round.
func (d *Difference) was(account, from, to int) { d.Was = d.differs(d.Was, account, from, to) }
func (d *Difference) is(account, from, to int)  { d.Is = d.differs(d.Is, account, from, to) }

func (d *Difference) differs(list []Index, account, from, to int) []Index {
	d.Same = false
	for zone := from; zone < to; zone++ {
		list = append(list, Index{account, zone})
	}
	return list
}

// at is an element of a list; nil behind its end.
func at[T any](list []T, i int) *T {
	if i < len(list) {
		return &list[i]
	}
	return nil
}

// SameRulesets reports whether two lists name the same managed rulesets by the same keys.
// Where that was declared does not count.
func SameRulesets(a, b []RulesetRef) bool {
	return slices.EqualFunc(a, b, func(a, b RulesetRef) bool {
		a.Origin, b.Origin = Origin{}, Origin{}
		return a == b
	})
}
