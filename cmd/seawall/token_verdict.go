package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

// verdict is the answer for one declared token.
type verdict struct {
	access.Answer
	question
	token desired.Token
	open  []string // groups that may be the one asked for, where that decides
}

// judge decides. A permission group that is declared by its name has an id that
// only the platform knows, so where the question names an id, or a group here has
// one alone and the question a name, it may or may not be the one that is asked
// for. Where that makes a difference the verdict is open, and names those groups.
func judge(token desired.Token, q question) verdict {
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
	v := verdict{Answer: without, question: q, token: token}
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

func same(g desired.PermissionGroup, q question) match {
	switch {
	case g.Scope != "" && typeNamed[g.Scope] != q.Target.Type:
		return no // it counts for no such resource
	case g.ID == q.Group || g.Name == q.Group:
		return yes
	case g.ID == "" && q.byName, g.Name != "" && q.byName:
		return no // another name
	case g.ID == "" || q.byName:
		return perhaps
	}
	return no
}

var typeNamed = map[string]access.Type{"account": access.TypeAccount, "zone": access.TypeZone, "user": access.TypeUser}

// undecided is the error of a verdict that only the platform could make.
func (v verdict) undecided() error {
	if len(v.open) == 0 {
		return nil
	}
	return fail(fmt.Errorf("token %s: only the platform knows whether %s is one of its permission groups (%s)", v.token.Key, v.Group, strings.Join(v.open, ", ")),
		"ask by the declared name, --group NAME, or declare ids and names")
}

// asked tells the question in a line.
func (q question) asked() string {
	text := fmt.Sprintf("group %s on %s", q.Group, q.onWhat)
	if q.IP.IsValid() {
		text += ", from " + q.IP.String()
	}
	if !q.At.IsZero() {
		text += ", at " + q.At.UTC().Format(time.RFC3339)
	}
	return text
}

// why tells what decided and where it is declared.
func (v verdict) why() string {
	if v.Policy < 0 {
		return v.Text
	}
	verb := "denies it"
	if v.Allowed {
		verb = "allows it"
	}
	return fmt.Sprintf("policies[%d] %s, by %s, %s", v.Policy, verb, v.Resource, v.token.Policies[v.Policy].Origin)
}

// origin is the line that decided: the policy's, or else the token's.
func (v verdict) origin() desired.Origin {
	if v.Policy < 0 {
		return v.token.Origin
	}
	return v.token.Policies[v.Policy].Origin
}

// notAsked lists what an answer of yes still depends on.
func (v verdict) notAsked() (limits []string) {
	if !v.Allowed {
		return nil
	}
	if c := v.token.Condition; c != nil && !v.IP.IsValid() {
		if len(c.In) > 0 {
			limits = append(limits, "from "+strings.Join(c.In, ", "))
		}
		if len(c.NotIn) > 0 {
			limits = append(limits, "not from "+strings.Join(c.NotIn, ", "))
		}
	}
	if v.At.IsZero() && v.token.NotBefore != "" {
		limits = append(limits, "from "+v.token.NotBefore+" on")
	}
	if v.At.IsZero() && v.token.ExpiresOn != "" {
		limits = append(limits, "before "+v.token.ExpiresOn)
	}
	return limits
}

// nearMisses lists, where no policy decided, those that allow the group on
// something else: on zones where an account was asked, and the like.
func (v verdict) nearMisses() (near []string) {
	if v.Because != access.ImplicitDeny {
		return nil
	}
	for n, p := range v.token.Policies {
		if p.Effect == string(edge.Allow) && names(p, v.Group) {
			near = append(near, fmt.Sprintf("policies[%d] allows the group on something else, %s", n, p.Origin))
		}
	}
	return near
}

func names(p desired.Policy, group string) bool {
	return slices.ContainsFunc(p.PermissionGroups, func(g desired.PermissionGroup) bool { return g.ID == group || g.Name == group })
}

// tokenAnswerVersion is the version of the JSON form of these answers.
const tokenAnswerVersion = 1

type questionJSON struct {
	Group   string `json:"group"`
	Type    string `json:"type"` // account, zone or user
	Account string `json:"account,omitempty"`
	Zone    string `json:"zone,omitempty"`
	IP      string `json:"ip,omitempty"`
	At      string `json:"at,omitempty"`
}

type verdictJSON struct {
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

func (q question) json() questionJSON {
	out := questionJSON{
		Group: q.Group, Account: string(q.Target.Account), Zone: string(q.Target.Zone),
		Type: map[access.Type]string{access.TypeAccount: "account", access.TypeZone: "zone", access.TypeUser: "user"}[q.Target.Type],
	}
	if q.IP.IsValid() {
		out.IP = q.IP.String()
	}
	if !q.At.IsZero() {
		out.At = q.At.UTC().Format(time.RFC3339)
	}
	return out
}

func (v verdict) json() verdictJSON {
	out := verdictJSON{
		Token: v.token.Key, Allowed: v.Allowed, Because: v.Because, Text: v.Text,
		Resource: v.Resource.Key, AllZones: v.Resource.AllZones, Origin: v.origin(), Only: v.notAsked(),
	}
	if v.Policy >= 0 {
		out.Policy = &v.Policy
	}
	return out
}

// json writes a result as JSON.
func (t *terminal) json(value any) error {
	encoder := json.NewEncoder(t.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
