package permission

import (
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

// An id that a question needs may be unknown: a zone that is declared by its name has no
// id here, and of a zone that is not declared the account is not known. Then every case is
// judged in which the answer could differ: the unknown id is one of those that the token's
// policies name, or none of them. Where all cases have one answer, that is the answer.

// unnamed stands for an id that no policy names.
const unnamed = "?"

// mostCases bounds how many cases are judged; with more the answer is open.
const mostCases = 10_000

// cases are the targets that a target with unknown ids may be; the first is that of ids
// which no policy names. It is nil for too many.
func cases(token desired.Token, t access.Target) []access.Target {
	accounts, zones := []edge.AccountID{t.Account}, []edge.ZoneID{t.Zone}
	if t.Type != access.TypeUser && t.Account == "" {
		accounts = named[edge.AccountID](token, edge.ResourceAccount)
	}
	if t.Type == access.TypeZone && t.Zone == "" {
		zones = named[edge.ZoneID](token, edge.ResourceZone)
	}
	if len(accounts)*len(zones) > mostCases {
		return nil
	}
	var all []access.Target
	for _, account := range accounts {
		for _, zone := range zones {
			one := t
			one.Account, one.Zone = account, zone
			all = append(all, one)
		}
	}
	return all
}

// named are the ids that the policies of a token name in one form, after unnamed.
func named[ID ~string](token desired.Token, form string) []ID {
	var ids []ID
	for _, p := range token.Policies {
		for _, r := range p.Resources {
			if id, ok := strings.CutPrefix(r.Key, form); ok && edge.ValidID(id) {
				ids = append(ids, ID(id))
			}
		}
	}
	slices.Sort(ids)
	return append([]ID{unnamed}, slices.Compact(ids)...)
}

// decisive is the type of the unknown id on which the answers of cases depend; empty where
// they agree.
func decisive(all []access.Target, allowed []bool) (which access.Type) {
	if len(all) == 0 {
		return access.TypeAccount // too many cases to judge
	}
	first := map[edge.AccountID]bool{}
	for i, t := range all {
		with, seen := first[t.Account]
		switch {
		case seen && with != allowed[i]:
			return access.TypeZone
		case !seen:
			first[t.Account] = allowed[i]
		}
		if allowed[i] != allowed[0] {
			which = access.TypeAccount
		}
	}
	return which
}

// dependsOn says which unknown id the answer depends on, and what to try; empty for none.
func (v Verdict) dependsOn() (what, hint string) {
	switch {
	case v.unknown == "":
		return "", ""
	case v.unknown == access.TypeZone:
		return "the id of " + v.OnWhat, "give the id with --zone ID, or declare it"
	case v.Target.Type == access.TypeAccount:
		return "the id of " + v.OnWhat, "give the id with --account ID, or declare it"
	}
	return "the account of " + v.OnWhat, "give the id of the account with --account ID, or declare it"
}
