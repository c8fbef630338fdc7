package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
	"github.com/seawall-dev/seawall/edge/nearest"
)

// target finds what a question is about, among what is declared. An id that
// nobody declares is taken as it is; of a zone, its account must then be said.
func (i inquiry) target(state desired.State) (access.Target, string, error) {
	if i.user {
		return access.OfUser(""), "the calling user", nil
	}
	account, err := i.findAccount(state)
	if err != nil {
		return access.Target{}, "", err
	}
	if i.zone == "" {
		return access.OfAccount(account), fmt.Sprintf("account %q", i.account), nil
	}
	target, err := i.findZone(state, account)
	return target, fmt.Sprintf("zone %q", i.zone), err
}

// findAccount returns the id of the account that is said; empty if none is.
func (i inquiry) findAccount(state desired.State) (edge.AccountID, error) {
	var keys []string
	for _, a := range state.Accounts {
		if a.Key == i.account {
			return a.ID, nil
		}
		keys = append(keys, a.Key)
	}
	if i.account == "" || edge.ValidID(i.account) {
		return edge.AccountID(i.account), nil
	}
	return "", unknownName("account", i.account, keys)
}

func (i inquiry) findZone(state desired.State, within edge.AccountID) (access.Target, error) {
	found, others, keys := []access.Target{}, []string{}, []string{}
	accounts := []string{}
	for _, a := range state.Accounts {
		for _, z := range a.Zones {
			switch said := z.Key == i.zone || string(z.ID) == i.zone; {
			case said && (within == "" || within == a.ID):
				found = append(found, access.OfZone(a.ID, z.ID))
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
		return access.Target{}, fail(fmt.Errorf("zone %q is declared in the accounts %s", i.zone, strings.Join(accounts, ", ")), "choose one with --account")
	case len(others) > 0:
		return access.Target{}, fail(fmt.Errorf("zone %q is not in account %q", i.zone, i.account), fmt.Sprintf("it is declared in %s", strings.Join(others, ", ")))
	case !edge.ValidID(i.zone):
		return access.Target{}, unknownName("zone", i.zone, keys)
	case within == "":
		return access.Target{}, fail(fmt.Errorf("zone %s is not declared, so its account is not known", i.zone), "give the account with --account")
	}
	return access.OfZone(within, edge.ZoneID(i.zone)), nil
}

func findToken(state desired.State, key string) (desired.Token, error) {
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
	err := fmt.Errorf("there is no %s %q", kind, name)
	slices.Sort(known)
	known = slices.Compact(known)
	near := nearest.Word(name, known)
	switch {
	case near != "":
		return fail(err, fmt.Sprintf("did you mean %q?", near))
	case len(known) == 0:
		return fail(err, fmt.Sprintf("the desired state declares no %s", kind))
	case len(known) <= 8:
		return fail(err, "declared: "+strings.Join(known, ", "))
	}
	return fail(err)
}

// unheardOf is a hint where no declared token names a group: an answer of no is
// then more likely to come from a slip of the hand. It is empty where one does.
func unheardOf(group string, state desired.State) string {
	var known []string
	for _, token := range state.Tokens {
		for _, p := range token.Policies {
			if names(p, group) {
				return ""
			}
			for _, g := range p.PermissionGroups {
				known = append(known, g.ID)
			}
		}
	}
	hint := fmt.Sprintf("no declared token names the group %q", group)
	if near := nearest.Word(group, known); near != "" {
		hint += fmt.Sprintf("; did you mean %q?", near)
	}
	return hint
}
