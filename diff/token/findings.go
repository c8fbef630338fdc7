package token

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// advice says of each kind how it is told, and where in a token it is found.
var advice = []struct {
	kind       diff.FindingKind
	text, hint string
	found      func(desired.Token, allowed) bool // nil: the declaration cannot tell
	at         func(allowed) []desired.Origin    // nil: the token as a whole
}{
	{
		diff.NoExpiry,
		"never expires",
		"set expires_on, or rotate: a leaked secret works until the token is revoked",
		func(t desired.Token, _ allowed) bool { return t.ExpiresOn == "" && t.Rotate == nil },
		nil,
	},
	{
		diff.CreatesBeside,
		"may create tokens, and has other permissions too",
		"it can grant any permission: put the permission to create tokens in a separate token",
		func(_ desired.Token, a allowed) bool { return len(a.creating) > 0 && a.others },
		func(a allowed) []desired.Origin { return a.creating },
	},
	{
		diff.CreatesUnrestricted,
		"may create tokens, from any address and without expiry",
		"its secret can be used to get any permission: set a condition with the addresses that use it, or expires_on, or rotate",
		func(t desired.Token, a allowed) bool {
			return len(a.creating) > 0 && t.ExpiresOn == "" && t.Rotate == nil && !filters(t.Condition)
		},
		func(a allowed) []desired.Origin { return a.creating },
	},
	{
		diff.AllAccounts,
		"covers all accounts, also future ones",
		"name the accounts: " + edge.ResourceAccount + "<id>, with the value {" + `"` + edge.ResourceAllZones + `": "*"} for all zones in one`,
		func(_ desired.Token, a allowed) bool { return len(a.everywhere) > 0 },
		func(a allowed) []desired.Origin { return a.everywhere },
	},
	{
		diff.OnlyDenies,
		"allows nothing: all its policies deny",
		"a token may do only what a policy with effect allow permits: add one, or remove the token",
		func(t desired.Token, a allowed) bool { return len(t.Policies) > 0 && !a.some },
		nil,
	},
	{
		diff.Disabled,
		"is disabled on the platform",
		"it was disabled on the platform, and Seawall leaves it so; requests with it fail: enable it in the dashboard, or remove it from the repository",
		nil, nil,
	},
}

// Findings tells what is unwise about declared tokens, by token and then by
// kind, each kind once a token. It looks at what policies allow, each by itself:
// a policy that denies neither causes a finding nor excuses one. creating is
// as in [diff.Input].
func Findings(tokens []desired.Token, creating []string) []diff.Finding {
	creates := createsTokens(creating)
	var findings []diff.Finding
	for _, t := range tokens {
		a := allowedBy(t, creates)
		for _, one := range advice {
			if one.found == nil || !one.found(t, a) {
				continue
			}
			origin := t.Origin
			if one.at != nil {
				origin = cmp.Or(slices.MinFunc(one.at(a), byPlace), t.Origin)
			}
			findings = append(findings, diff.Finding{Token: t.Key, Kind: one.kind, Text: one.text, Hint: one.hint, Origin: origin})
		}
	}
	return sortFindings(findings)
}

func sortFindings(findings []diff.Finding) []diff.Finding {
	slices.SortStableFunc(findings, func(a, b diff.Finding) int { return cmp.Compare(a.Token, b.Token) })
	return findings
}

// disabled tells of tokens in use that are switched off where the platform says
// so. A status is not declared, so it is nobody's drift.
func (p *planner) disabled(token desired.Token, status string) {
	if status != "disabled" {
		return
	}
	for _, one := range advice {
		if one.kind == diff.Disabled {
			p.out.Findings = append(p.out.Findings, diff.Finding{Token: token.Key, Kind: one.kind, Text: one.text, Hint: one.hint, Origin: token.Origin})
		}
	}
}

// allowed is what the policies of a token allow, as far as findings care.
type allowed struct {
	creating   []desired.Origin // the policies by which it may create tokens
	everywhere []desired.Origin // those that reach all accounts
	others     bool             // it holds a group beside those that create tokens
	some       bool             // a policy allows something
}

func allowedBy(t desired.Token, creates func(desired.PermissionGroup) bool) (a allowed) {
	for _, p := range t.Policies {
		if p.Effect != string(edge.Allow) {
			continue
		}
		a.some = true
		if slices.ContainsFunc(p.PermissionGroups, creates) {
			a.creating = append(a.creating, p.Origin)
		}
		if slices.ContainsFunc(p.Resources, reachesAll) {
			a.everywhere = append(a.everywhere, p.Origin)
		}
		a.others = a.others || slices.ContainsFunc(p.PermissionGroups, func(g desired.PermissionGroup) bool { return !creates(g) })
	}
	return a
}

func reachesAll(r desired.Resource) bool {
	return r.Key == edge.ResourceAllAccounts || r.Key == edge.ResourceAllZones
}

// filters reports whether a condition keeps anybody out. One that lets in all
// addresses of a family is there for form's sake.
func filters(c *desired.Condition) bool {
	if c == nil {
		return false
	}
	everybody := slices.ContainsFunc(c.In, func(cidr string) bool { return strings.HasSuffix(cidr, "/0") })
	return len(c.NotIn) > 0 || len(c.In) > 0 && !everybody
}

func byPlace(a, b desired.Origin) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// creatingNames are the names under which the right to create tokens is known,
// folded by [foldName]. The reference names none; these are the vendor's, in the
// API ("Write") and in the dashboard ("Edit").
var creatingNames = []string{
	"api tokens write", "api tokens edit",
	"user api tokens write", "user api tokens edit",
	"account api tokens write", "account api tokens edit",
}

// createsTokens returns a predicate for the groups that hold the right to create
// tokens: those with one of ids, and those known for it by name, in any case and
// punctuation. A group that is declared by another id alone is not recognised.
func createsTokens(ids []string) func(desired.PermissionGroup) bool {
	return func(g desired.PermissionGroup) bool {
		return slices.Contains(ids, g.ID) || slices.Contains(creatingNames, foldName(g.Name))
	}
}

func foldName(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.ToLower(strings.Join(words, " "))
}
