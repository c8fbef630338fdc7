package compile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/meet"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/nearest"
)

// ownedName is the name of a token among those of its owner.
type ownedName struct{ account, name string }

// checkOwners holds every token that an account owns to a declared account, which may
// stand in another folder, and its policies to that account.
func (m *merger) checkOwners() {
	keys := slices.Sorted(maps.Keys(m.accounts))
	for _, key := range slices.Sorted(maps.Keys(m.tokens)) {
		t := m.tokens[key]
		if t.Account == "" {
			continue
		}
		if owner := m.accounts[t.Account]; owner != nil {
			m.checkReach(t, owner.ID)
			continue
		}
		m.problems = append(m.problems, desired.Problem{
			Origin: t.Origin, Path: at("token", key, "account"), Message: fmt.Sprintf("%q is not a declared account", t.Account),
			Hint: nearest.Hint(t.Account, keys, fmt.Sprintf("declare it: account: %s: id: …; or remove the field, for a token of the user", t.Account)),
		})
	}
}

// checkOwn warns of rules that stop requests from where tokens are used.
func (m *merger) checkOwn() {
	own := meet.OwnAddresses(slices.Collect(maps.Values(m.tokens)))
	if len(own) == 0 {
		return
	}
	for _, a := range m.accounts {
		for _, z := range a.zones {
			for _, f := range own.BlockedIn(z) {
				m.problems = append(m.problems, desired.Problem{
					Origin: memberOrigin(f.Other, "expression"), Path: at(zonePath(at("account", a.Key), z), append(f.Path(), "expression")...),
					Message: f.Message, Hint: f.Hint, Warning: true,
				})
			}
		}
	}
}

// checkReach refuses policies of an account's token that name another account, or a user.
// Of an account that is declared by its name the id is not known here.
func (m *merger) checkReach(t desired.Token, owner edge.AccountID) {
	for i, policy := range t.Policies {
		for _, r := range policy.Resources {
			if owner == "" || !beyond(r, owner) {
				continue
			}
			m.problems = append(m.problems, desired.Problem{
				Origin: t.Origin, Path: at("token", t.Key) + fmt.Sprintf(".policies[%d].resources", i),
				Message: fmt.Sprintf("%q is not in account %s, which owns the token", r.Key, t.Account),
				Hint:    fmt.Sprintf("a token of an account can name this account alone, and what is in it: %s%s", edge.ResourceAccount, owner),
			})
		}
	}
}

// beyond reports whether a resource is a user, or an account other than this one.
func beyond(r desired.Resource, owner edge.AccountID) bool {
	id, named := strings.CutPrefix(r.Key, edge.ResourceAccount)
	account := named && !strings.HasPrefix(r.Key, edge.ResourceZone) && r.Key != edge.ResourceAllAccounts
	return r.Type() == "user" || account && id != string(owner)
}
