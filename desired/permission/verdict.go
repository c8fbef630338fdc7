// Package permission answers whether a declared token has a permission, and which line of
// the desired state decides. It is pure: a state and a question in, a [Verdict] out.
//
//	target, text, err := permission.Subject{Zone: "shop.example"}.Target(state)
//	query := permission.Query{Question: access.Question{Group: id, Target: target}, OnWhat: text}
//	verdict := permission.Judge(token, query)
//
// The rules are those of edge/access. This package adds what only declarations have: names
// of zones, accounts and groups, and places in files.
package permission

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

// Query is a question with the words for what it is about.
type Query struct {
	access.Question
	OnWhat string // zone "shop.example"
	ByName bool   // the group is asked for by a name that is declared
}

// DeclaresName reports whether some declared token calls a permission group so.
func DeclaresName(state desired.State, group string) bool {
	for _, token := range state.Tokens {
		for _, p := range token.Policies {
			for _, g := range p.PermissionGroups {
				if g.Name == group && g.ID != group {
					return true
				}
			}
		}
	}
	return false
}

// Verdict is the answer for one declared token.
type Verdict struct {
	access.Answer
	Query
	Token   desired.Token
	open    []string    // groups that may be the one asked for, where that decides
	unknown access.Type // an id of this type is not known and decides; empty for none
}

// Judge decides. A permission group that is declared by its name has an id that
// only the platform knows, so where the question names an id, or a group here has
// one alone and the question a name, it may or may not be the one that is asked
// for. Where that makes a difference the verdict is open, and names those groups. So it
// is where an id of the target is not known and makes a difference.
func Judge(token desired.Token, q Query) Verdict {
	all := cases(token, q.Target)
	v := Verdict{Query: q, Token: token}
	allowed := make([]bool, len(all))
	for i, target := range all {
		one := q
		one.Target = target
		judged := judge(token, one)
		if v.open = judged.open; len(v.open) > 0 {
			return v
		}
		if allowed[i] = judged.Allowed; i > 0 {
			continue
		}
		if v.Answer = judged.Answer; target != q.Target {
			v.Answer.Text = strings.Replace(v.Answer.Text, target.String(), q.OnWhat, 1)
		}
	}
	v.unknown = decisive(all, allowed)
	return v
}

// judge decides where all ids of the target are known.
func judge(token desired.Token, q Query) Verdict {
	var open []string
	read := func(openMatch bool) access.Answer {
		spec := token.Spec()
		for i, p := range token.Policies {
			for j, g := range p.PermissionGroups {
				match := same(g, q)
				if match == perhaps {
					open = append(open, g.String())
				}
				id := &spec.Policies[i].PermissionGroups[j].ID
				if match == yes || match == perhaps && openMatch {
					*id = q.Group
				} else if *id == q.Group || *id == "" {
					*id = "another"
				}
			}
		}
		return access.Decide(spec, q.Question)
	}
	without, with := read(false), read(true)
	v := Verdict{Answer: without, Query: q, Token: token}
	if with.Allowed != without.Allowed {
		slices.Sort(open)
		v.open = slices.Compact(open)
	}
	return v
}

// match says whether a declared group is the one that is asked for.
type match int

const (
	no match = iota
	yes
	perhaps
)

func same(g desired.PermissionGroup, q Query) match {
	switch {
	case g.Scope != "" && g.Scope != nameOf(q.Target.Type):
		return no // it counts for no such resource
	case g.ID == q.Group || g.Name == q.Group:
		return yes
	case g.ID == "" && q.ByName, g.Name != "" && q.ByName:
		return no // another name
	case g.ID == "" || q.ByName:
		return perhaps
	}
	return no
}

// nameOf is account, zone or user.
func nameOf(t access.Type) string { return string(t[strings.LastIndexByte(string(t), '.')+1:]) }

// Undecided is the error of a verdict that only the platform could make.
func (v Verdict) Undecided() error {
	if len(v.open) == 0 {
		if what, hint := v.dependsOn(); what != "" {
			return refuse(fmt.Sprintf("token %s: the answer depends on %s, which is not known", v.Token.Key, what), hint)
		}
		return nil
	}
	return refuse(fmt.Sprintf("token %s: only the platform knows whether %s is one of its permission groups (%s)", v.Token.Key, v.Group, strings.Join(v.open, ", ")),
		"ask by the declared name, --group NAME, or declare ids and names")
}

// Describe returns the question in a line.
func (q Query) Describe() string {
	text := fmt.Sprintf("group %s on %s", q.Group, q.OnWhat)
	if q.IP.IsValid() {
		text += ", from " + q.IP.String()
	}
	if !q.At.IsZero() {
		text += ", at " + q.At.UTC().Format(time.RFC3339)
	}
	return text
}

// Why tells what decided and where it is declared.
func (v Verdict) Why() string {
	if v.Policy < 0 {
		return v.Answer.Text
	}
	verb := "denies it"
	if v.Allowed {
		verb = "allows it"
	}
	return fmt.Sprintf("policies[%d] %s, by %s, %s", v.Policy, verb, v.Resource, v.Token.Policies[v.Policy].Origin)
}

// origin is the line that decided: the policy's, or else the token's.
func (v Verdict) origin() desired.Origin {
	if v.Policy < 0 {
		return v.Token.Origin
	}
	return v.Token.Policies[v.Policy].Origin
}

// Conditions lists what an answer of yes still depends on.
func (v Verdict) Conditions() (limits []string) {
	if !v.Allowed {
		return nil
	}
	if c := v.Token.Condition; c != nil && !v.IP.IsValid() {
		if len(c.In) > 0 {
			limits = append(limits, "from "+strings.Join(c.In, ", "))
		}
		if len(c.NotIn) > 0 {
			limits = append(limits, "not from "+strings.Join(c.NotIn, ", "))
		}
	}
	if v.At.IsZero() && v.Token.NotBefore != "" {
		limits = append(limits, "from "+v.Token.NotBefore+" on")
	}
	if v.At.IsZero() && v.Token.ExpiresOn != "" {
		limits = append(limits, "before "+v.Token.ExpiresOn)
	}
	return limits
}

// NearMisses lists, where no policy decided, those that allow the group on
// something else: on zones where an account was asked, and the like.
func (v Verdict) NearMisses() (near []string) {
	if v.Because != access.ImplicitDeny {
		return nil
	}
	for n, p := range v.Token.Policies {
		if p.Effect == string(edge.Allow) && names(p, v.Group) {
			near = append(near, fmt.Sprintf("policies[%d] allows the group on something else, %s", n, p.Origin))
		}
	}
	return near
}

func names(p desired.Policy, group string) bool {
	return slices.ContainsFunc(p.PermissionGroups, func(g desired.PermissionGroup) bool { return g.ID == group || g.Name == group })
}

// JSONVersion is the version of the JSON form of these answers.
const JSONVersion = 1

// QueryJSON is the form of a [Query] that scripts read.
type QueryJSON struct {
	Group   string `json:"group"`
	Type    string `json:"type"` // account, zone or user
	Account string `json:"account,omitempty"`
	Zone    string `json:"zone,omitempty"`
	IP      string `json:"ip,omitempty"`
	At      string `json:"at,omitempty"`
}

// VerdictJSON is the form of a [Verdict] that scripts read.
type VerdictJSON struct {
	Token    string         `json:"token"`
	Allowed  bool           `json:"allowed"`
	Because  access.Reason  `json:"because"`
	Text     string         `json:"text"`
	Policy   *int           `json:"policy"` // null: none of them decided
	Resource string         `json:"resource,omitempty"`
	AllZones bool           `json:"all_zones,omitempty"` // all zones in the account that resource names
	Origin   desired.Origin `json:"origin"`
	Only     []string       `json:"only,omitempty"`
}

// JSON returns the form for scripts.
func (q Query) JSON() QueryJSON {
	out := QueryJSON{
		Group: q.Group, Type: nameOf(q.Target.Type), Account: string(q.Target.Account), Zone: string(q.Target.Zone),
	}
	if q.IP.IsValid() {
		out.IP = q.IP.String()
	}
	if !q.At.IsZero() {
		out.At = q.At.UTC().Format(time.RFC3339)
	}
	return out
}

// JSON returns the form for scripts.
func (v Verdict) JSON() VerdictJSON {
	out := VerdictJSON{
		Token: v.Token.Key, Allowed: v.Allowed, Because: v.Because, Text: v.Answer.Text,
		Resource: v.Resource.Key, AllZones: v.Resource.AllZones, Origin: v.origin(), Only: v.Conditions(),
	}
	if v.Policy >= 0 {
		out.Policy = &v.Policy
	}
	return out
}
