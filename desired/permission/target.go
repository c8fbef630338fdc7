package permission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
	"github.com/seawall-dev/seawall/edge/nearest"
)

// Subject is what a question is about, as a person names it.
type Subject struct {
	Zone    string // its declared name, or its id
	Account string // its declared key, or its id; beside a zone, its account
	User    bool   // the calling user
}

// Target finds what a question is about, among what is declared. An id that
// no one declares is taken as it is. An id that is not known is empty: that of a zone or
// an account that is declared by its name, and of the account of a zone that is not declared.
func (w Subject) Target(state desired.State) (access.Target, string, error) {
	if w.User {
		return access.OfUser(""), "the calling user", nil
	}
	account, err := w.findAccount(state)
	if err != nil {
		return access.Target{}, "", err
	}
	if w.Zone == "" {
		return access.OfAccount(account), fmt.Sprintf("account %q", w.Account), nil
	}
	target, err := w.findZone(state, account)
	return target, fmt.Sprintf("zone %q", w.Zone), err
}

// findAccount returns the id of the account that is said; empty if none is.
func (w Subject) findAccount(state desired.State) (edge.AccountID, error) {
	var keys []string
	for _, a := range state.Accounts {
		if a.Key == w.Account {
			return a.ID, nil
		}
		keys = append(keys, a.Key)
	}
	if w.Account == "" || edge.ValidID(w.Account) {
		return edge.AccountID(w.Account), nil
	}
	return "", unknownName("account", w.Account, keys)
}

// in reports whether an account is, or may be, the one that is said. The id of one that is
// declared by its name is not known.
func (w Subject) in(a desired.Account) bool {
	switch {
	case w.Account == "", a.Key == w.Account:
		return true
	case a.ID == "":
		return edge.ValidID(w.Account)
	}
	return string(a.ID) == w.Account
}

func (w Subject) findZone(state desired.State, within edge.AccountID) (access.Target, error) {
	found, others, keys := []access.Target{}, []string{}, []string{}
	accounts := []string{}
	for _, a := range state.Accounts {
		for _, z := range a.Zones {
			if z.Scope.Level == edge.LevelAccount {
				continue
			}
			switch said := z.Key == w.Zone || z.Scope.ID == w.Zone; {
			case said && w.in(a):
				found = append(found, access.OfZone(cmp.Or(a.ID, within), edge.ZoneID(z.Scope.ID)))
				accounts = append(accounts, a.Key)
			case said:
				others = append(others, a.Key)
			}
			keys = append(keys, z.Key)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return access.Target{}, refuse(fmt.Sprintf("zone %q is declared in the accounts %s", w.Zone, strings.Join(accounts, ", ")), "choose one with --account")
	case len(others) > 0:
		return access.Target{}, refuse(fmt.Sprintf("zone %q is not in account %q", w.Zone, w.Account), fmt.Sprintf("it is declared in %s", strings.Join(others, ", ")))
	case !edge.ValidID(w.Zone):
		return access.Target{}, unknownName("zone", w.Zone, keys)
	}
	return access.OfZone(within, edge.ZoneID(w.Zone)), nil
}

// FindToken returns the token that is declared with a key. The error names similar keys.
func FindToken(state desired.State, key string) (desired.Token, error) {
	var keys []string
	for _, token := range state.Tokens {
		if token.Key == key {
			return token, nil
		}
		keys = append(keys, token.Key)
	}
	return desired.Token{}, unknownName("token", key, keys)
}

// unknownName is the failure of a name that nothing declares. It names the
// nearest one, or all of a few.
func unknownName(kind, name string, known []string) error {
	err := fmt.Sprintf("there is no %s %q", kind, name)
	slices.Sort(known)
	known = slices.Compact(known)
	hint := nearest.Hint(name, known, "")
	switch {
	case hint != "":
		return refuse(err, hint)
	case len(known) == 0:
		return refuse(err, fmt.Sprintf("the desired state declares no %s", kind))
	case len(known) <= 8:
		return refuse(err, "declared: "+strings.Join(known, ", "))
	}
	return refuse(err, "")
}

// UnknownGroup is a hint where no declared token names a group: an answer of no is
// then more likely to come from a slip of the hand. It is empty where one does.
func UnknownGroup(group string, state desired.State) string {
	var known []string
	for _, token := range state.Tokens {
		for _, p := range token.Policies {
			if names(p, group) {
				return ""
			}
			for _, g := range p.PermissionGroups {
				known = append(known, g.ID, g.Name)
			}
		}
	}
	hint := fmt.Sprintf("no declared token names the group %q", group)
	if near := nearest.Hint(group, known, ""); near != "" {
		hint += "; " + near
	}
	return hint
}

// Error is why a question has no answer.
type Error struct {
	Problem string
	Hint    string // what to try; may be empty
}

// Error returns the problem.
func (e *Error) Error() string { return e.Problem }

// Advice returns what to try; empty for nothing.
func (e *Error) Advice() string { return e.Hint }

func refuse(problem, hint string) error { return &Error{problem, hint} }
