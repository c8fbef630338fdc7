package compile

import (
	"fmt"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// accountID reads by what an account is found: its id, its name, or else its key.
func (r *reader) accountID(m member) desired.Account {
	id, name := m.field("id"), m.field("name")
	a := desired.Account{Key: m.key, ID: edge.AccountID(id.text()), ByName: !id.exists(), Name: name.text()}
	switch {
	case id.exists():
		a.Origin = id.origin()
	case name.exists():
		a.Origin = name.origin()
	default:
		a.Name = m.key // any folder may say so
	}
	return a
}

// zoneID reads by what a zone is found: its id, its name, or else its key, which must
// then be a name that a zone can have.
func (r *reader) zoneID(path string, m member) desired.Zone {
	id, name := m.field("id"), m.field("name")
	z := desired.Zone{Key: m.key, Scope: edge.ZoneScope(edge.ZoneID(id.text())), ByName: !id.exists(), Name: name.text(), Origin: m.origin()}
	if desired.IsAccountKey(m.key) {
		r.problem(m.origin(), path, fmt.Sprintf("the key %q is that of an account's own entry point", m.key),
			"choose another key; deployments of the account itself are under account: KEY: waf")
	}
	switch {
	case z.Name == "" && desired.ZoneName(m.key):
		z.Name = m.key
	case z.Name != "" && !desired.ZoneName(z.Name):
		r.problem(name.origin(), at(path, "name"), fmt.Sprintf("%q must be a domain name", z.Name), `a zone's name is such as "shop.example"`)
	}
	if z.ByName && z.Name == "" {
		r.problem(m.origin(), path, fmt.Sprintf("%q is no domain name, so Seawall cannot find the zone by it", m.key),
			`declare the zone's name or its id: name: "shop.example"`)
	}
	return z
}

// sameAccount reports whether two folders declare an account alike. One that has
// neither id nor name is declared by its key, which is in no one place.
func sameAccount(a, b desired.Account) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Origin == b.Origin
}

func (m *merger) accountTwice(path string, second, first desired.Account) {
	field := "id"
	if second.ID == first.ID && second.Name != first.Name || second.ID == "" {
		field = "name"
	}
	if second.Origin.IsZero() || first.Origin.IsZero() {
		if second.Origin.IsZero() {
			first, second = second, first
		}
		m.problems = append(m.problems, desired.Problem{
			Origin: placeIn(first), Path: path, Message: fmt.Sprintf("has neither id nor name here, but one of them at %s", second.Origin),
			Hint: "declare it in a folder above both; folders inherit only in a CUE module: add cue.mod/module.cue, which seawall init creates",
		})
		return
	}
	m.twice(at(path, field), second.Origin, first.Origin, second.ID == first.ID && second.Name == first.Name)
}

// placeIn is a place at which something of an account is declared.
func placeIn(a desired.Account) desired.Origin {
	for _, z := range a.Zones {
		return z.Origin
	}
	for _, r := range a.Rulesets {
		return r.Origin
	}
	return desired.Origin{}
}

// zoneName is a name in an account, by the account's key.
type zoneName struct{ account, name string }

// zoneName refuses two zones of an account with one name: both would be found as the
// same.
func (m *merger) zoneName(account, path string, z desired.Zone) {
	if z.Name == "" {
		return
	}
	claim(m, m.named, zoneName{account, desired.FoldName(z.Name)}, holder{path, z.Origin}, path, func(first string) string {
		return fmt.Sprintf("the name %q is already declared, as %s", z.Name, first)
	})
}
