package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Rename is another key for a zone or an account that was declared before: a key is chosen
// by whoever writes the commit, and what it stands for is the id.
type Rename struct {
	Kind string `json:"kind"` // "zone" or "account"
	Key  string `json:"key"`
	Was  string `json:"was"`
	ID   string `json:"id"`
	// Name is that on the platform; empty where it is not known.
	Name string `json:"name,omitempty"`
}

// String says it in one line.
func (r Rename) String() string {
	id := r.ID
	if r.Name != "" && r.Name != r.Key {
		id = r.Name + " on the platform, " + id
	}
	return r.Kind + " " + r.Key + " (" + id + ") was " + r.Was
}

// Renames are the zones and accounts that after declares under other keys than before, by
// their ids; sorted by kind, key and id.
func Renames(before, after desired.State) (renames []Rename) {
	was := map[string]string{} // by kind and id
	keysOf(before, func(r Rename) { was[r.Kind+" "+r.ID] = r.Key })
	keysOf(after, func(r Rename) {
		var known bool
		if r.Was, known = was[r.Kind+" "+r.ID]; known && r.Was != r.Key {
			renames = append(renames, r)
		}
	})
	slices.SortFunc(renames, func(a, b Rename) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Key, b.Key), strings.Compare(a.ID, b.ID))
	})
	return renames
}

const (
	kindAccount = "account"
	kindZone    = "zone"
)

// keysOf calls do with each account and zone whose id is known.
func keysOf(s desired.State, do func(Rename)) {
	for _, a := range s.Accounts {
		if a.ID != "" && !desired.Sought(a.ID) {
			do(Rename{Kind: kindAccount, Key: a.Key, ID: string(a.ID)})
		}
		for _, z := range a.Zones {
			if z.Scope.Level != edge.LevelAccount && z.Scope.ID != "" && !desired.Sought(z.Scope.ID) {
				do(Rename{Kind: kindZone, Key: z.Key, ID: z.Scope.ID})
			}
		}
	}
}

// Named returns the plan with what tells its zones and accounts from others beside their
// keys: what the commit renames, of before, and which names the platform has. name may be
// nil, and returns nothing where the name is not known. The digest stays as it is.
func (p Plan) Named(before, after desired.State, name func(edge.AccountID, edge.Scope) string) Plan {
	if name == nil {
		name = func(edge.AccountID, edge.Scope) string { return "" }
	}
	accounts := map[edge.Scope]edge.AccountID{}
	for _, a := range after.Accounts {
		for _, z := range a.Zones {
			accounts[z.Scope] = a.ID
		}
	}
	of := func(zone edge.Scope) string { return name(accounts[zone], zone) }
	p.Renames = Renames(before, after)
	for i, r := range p.Renames {
		if r.Kind == kindZone {
			p.Renames[i].Name = of(edge.ZoneScope(edge.ZoneID(r.ID)))
		}
	}
	p.Names = map[edge.Scope]string{}
	for _, c := range p.Changes {
		if known := of(c.Scope); known != "" && !c.Scope.IsZero() {
			p.Names[c.Scope] = known
		}
	}
	return p
}

// Headings returns what names the changes of the plan as it shows them.
func (p Plan) Headings() Headings {
	h := Headings{p.Names, map[edge.Scope]string{}, map[string]string{}}
	for _, r := range p.Renames {
		if r.Kind == kindZone {
			h.zones[edge.ZoneScope(edge.ZoneID(r.ID))] = r.Was
		} else {
			h.accounts[r.Key] = r.Was
		}
	}
	return h
}

// Headings says which change is meant, as the plan that they are of shows it.
type Headings struct {
	names    map[edge.Scope]string
	zones    map[edge.Scope]string // keys before
	accounts map[string]string     // keys before, by the keys now
}

// Of names a change.
func (h Headings) Of(c Change) string {
	if c.Level() == edge.LevelCredential {
		return c.Name()
	}
	return h.With(c, h.Zone(c))
}

// With names the change of a zone, with other words for its zone.
func (h Headings) With(c Change, zone string) string {
	account := c.Account
	if was := h.accounts[c.Account]; was != "" {
		account += " (was " + was + ")"
	}
	return NameOf(account, zone, c.Called(), c.Token)
}

// Zone names the zone of a change. Beside its key stand the key that it had before, its name
// on the platform where that is another one, and its id, unless its key is known to be its
// name there.
func (h Headings) Zone(c Change) string {
	if _, account := c.Scope.Account(); account || c.Scope.IsZero() {
		return c.Zone
	}
	var beside []string
	if was := h.zones[c.Scope]; was != "" {
		beside = append(beside, "was "+was)
	}
	name := h.names[c.Scope]
	isName := name != "" && desired.FoldName(name) == desired.FoldName(c.Zone)
	if name != "" && !isName {
		beside = append(beside, name+" on the platform")
	}
	if c.ByName || !isName || len(beside) > 0 {
		beside = append(beside, c.Scope.String())
	}
	if len(beside) == 0 {
		return c.Zone
	}
	return c.Zone + " (" + strings.Join(beside, ", ") + ")"
}
