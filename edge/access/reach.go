package access

import (
	"maps"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// cover says whether something covers a target. It is maybe where only the
// platform knows.
type cover int

const (
	no cover = iota
	maybe
	yes
)

// reach is what resources cover, indexed so that a question does not walk them.
type reach struct {
	accounts    map[edge.AccountID]bool
	allAccounts bool
	nested      map[edge.AccountID]bool // all zones in these accounts
	zones       map[edge.ZoneID]bool
	allZones    bool
	users       map[string]bool
	everything  bool // a key that is none of the six forms
}

func newReach() reach {
	return reach{
		accounts: map[edge.AccountID]bool{}, nested: map[edge.AccountID]bool{},
		zones: map[edge.ZoneID]bool{}, users: map[string]bool{},
	}
}

func (r reach) covers(t Target) cover {
	switch {
	case r.everything, t.Type == TypeAccount && (r.allAccounts || r.accounts[t.Account]),
		t.Type == TypeUser && (r.users[t.User] || t.User == "" && len(r.users) > 0),
		t.Type == TypeZone && (r.allZones || r.zones[t.Zone] || r.nested[t.Account]):
		return yes
	case t.Type == TypeZone && t.Account == "" && len(r.nested) > 0:
		return maybe
	}
	return no
}

// resources is what a policy's resources cover, and what they may cover beyond
// that: the reach of entries that only the platform can read.
type resources struct{ sure, perhaps reach }

func readResources(entries map[string]edge.Breadth) resources {
	r := resources{newReach(), newReach()}
	for key, breadth := range entries {
		r.add(key, breadth)
	}
	return r
}

func (r resources) covers(t Target) cover {
	c := r.sure.covers(t)
	if c == no && r.perhaps.covers(t) != no {
		return maybe
	}
	return c
}

// add lays one entry into its reach. Of a value that is not documented for its
// key at most what lies below the key can be meant: under an account, the
// account and its zones.
func (r *resources) add(key string, breadth edge.Breadth) {
	form, id := splitKey(key)
	into := &r.sure
	vague := !documented(form, breadth)
	if vague {
		into = &r.perhaps
	}
	switch form {
	case edge.ResourceAllAccounts:
		into.allAccounts = true
		into.allZones = into.allZones || vague
	case edge.ResourceAllZones:
		into.allZones = true
	case edge.ResourceZone:
		into.zones[edge.ZoneID(id)] = true
	case edge.ResourceUser:
		into.users[id] = true
	case edge.ResourceAccount:
		if vague || breadth.AllZones {
			into.nested[edge.AccountID(id)] = true
		}
		if vague || !breadth.AllZones {
			into.accounts[edge.AccountID(id)] = true
		}
	default:
		into.everything = true
	}
}

// documented reports whether an entry has one of the six forms.
func documented(form string, b edge.Breadth) bool {
	return form != "" && b.Other == nil && (!b.AllZones || form == edge.ResourceAccount)
}

// splitKey returns the form of a resource key, as the constant of edge that
// begins it, and the id that follows. The form is empty for any other key.
func splitKey(key string) (form, id string) {
	if key == edge.ResourceAllAccounts || key == edge.ResourceAllZones {
		return key, ""
	}
	for _, form := range []string{edge.ResourceZone, edge.ResourceAccount, edge.ResourceUser} {
		id, ok := strings.CutPrefix(key, form)
		if ok && isID(form, id) {
			return form, id
		}
	}
	return "", ""
}

// isID tells an id from the rest of a longer or wider key.
func isID(form, id string) bool {
	if form == edge.ResourceUser {
		return id != "" && id != "*"
	}
	return id != "" && id != "*" && id != "zone" && !strings.Contains(id, ".")
}

// through returns the resource by which a policy reaches a target: one that surely
// does before one that may, and the first in order of those.
func through(entries map[string]edge.Breadth, t Target) (found Resource) {
	best := no
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		one := readResources(map[string]edge.Breadth{key: entries[key]})
		if c := one.covers(t); c > best {
			form, _ := splitKey(key)
			best, found = c, Resource{Key: key, AllZones: entries[key].AllZones && documented(form, entries[key])}
		}
	}
	return found
}
