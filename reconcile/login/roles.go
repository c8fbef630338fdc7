package login

import (
	"slices"
	"strings"
)

// Way is how a person was recognized.
type Way string

// The ways to log in.
const (
	ByOIDC        Way = "oidc"
	ByProxy       Way = "proxy"
	ByCertificate Way = "certificate"
)

// Identity is what a way to log in says of a person.
type Identity struct {
	Way    Way
	User   string
	Groups []string
}

// Name is how a person is named where several ways exist: "oidc:ada@example.com".
func (i Identity) Name() string { return i.Way.of(i.User) }

func (w Way) of(name string) string {
	if w == "" {
		return name
	}
	return string(w) + ":" + name
}

// Everyone is the user of a rule that applies to all who have logged in.
const Everyone = "*"

// Rule gives a role to people.
type Rule struct {
	Grant
	Users  []string // names, with the prefix of a way ("oidc:ada@example.com") for that way only; or [Everyone]
	Groups []string // the same
}

// grants are what rules give to a person.
func grants(rules []Rule, who Identity) (list []Grant) {
	for _, rule := range rules {
		if slices.Contains(rule.Users, Everyone) || who.isOneOf(rule.Users, who.User) ||
			slices.ContainsFunc(who.Groups, func(group string) bool { return who.isOneOf(rule.Groups, group) }) {
			list = append(list, rule.Grant)
		}
	}
	return list
}

// isOneOf reports whether a name that the person's way gives is in a list. An entry that has
// the prefix of a way is compared with the prefix only: what a provider says can then not
// pass for a name of another.
func (i Identity) isOneOf(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		if way, _, prefixed := strings.Cut(entry, ":"); prefixed && slices.Contains([]Way{ByOIDC, ByProxy, ByCertificate}, Way(way)) {
			return entry == i.Way.of(name)
		}
		return entry == name
	})
}
