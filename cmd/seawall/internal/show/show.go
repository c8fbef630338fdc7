// Package show is `seawall show`: what a zone or a token is declared to be, with the place
// of each value, what is live beside it, and the commit that last changed its line.
//
//	Zone, Token   the values, side by side       show.go, token.go
//	Trace         adds tiers and commits         trace.go
//	Text, CUE     write them; JSON is the type   text.go, cue.go
//
// It reads nothing itself: the command hands in what is declared, live and in git.
package show

import (
	"maps"
	"reflect"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/cuefile"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// Version is the version of the JSON form.
const Version = 1

// Shown is a zone or a token. Its JSON form is a promise.
type Shown struct {
	Version int               `json:"version"`
	Zone    string            `json:"zone,omitempty"`
	Token   string            `json:"token,omitempty"`
	ID      string            `json:"id,omitempty"` // on the platform; empty: not known
	Account string            `json:"account,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Commit  string            `json:"commit,omitempty"` // that declares it so; empty for a folder
	Origin  desired.Origin    `json:"origin"`
	// Changed is the newest change of the declaration, and of what it shares with others.
	Changed *inspect.Changed `json:"changed,omitempty"`
	Parts   []Part           `json:"parts"`
	Record  *Record          `json:"record,omitempty"` // of a token; absent: none was created, or that is not known
	// LiveUnknown and HistoryUnknown say why there is nothing of these; empty where there is.
	LiveUnknown    string `json:"live_unknown,omitempty"`
	HistoryUnknown string `json:"history_unknown,omitempty"`

	Partial bool `json:"-"` // something could not be read that was asked for

	token desired.Token
	level edge.Level // of a zone
}

// Part is a deployment of a zone, something of another kind by its key, or all of a token.
type Part struct {
	Kind        desired.KindName `json:"kind,omitempty"` // of what is no deployment
	Deployment  string           `json:"deployment,omitempty"`
	Ruleset     string           `json:"ruleset,omitempty"` // the key of its managed ruleset
	Ref         string           `json:"ref,omitempty"`     // that of its execute rule, of one at account level
	Origin      desired.Origin   `json:"origin"`
	Members     []Member         `json:"members"`
	LiveUnknown string           `json:"live_unknown,omitempty"`

	path []string // below its zone or account
}

// Member is a value. Of a list each element is one.
type Member struct {
	Path     string           `json:"path"`
	State    State            `json:"state"`
	Declared any              `json:"declared,omitempty"` // absent: it is not declared
	Live     any              `json:"live,omitempty"`     // absent: it is not live, or not known
	Note     string           `json:"note,omitempty"`     // which rule it is about
	Origin   *desired.Origin  `json:"origin,omitempty"`   // nil: a default of the schema, or not declared
	Tier     string           `json:"tier,omitempty"`     // what zones share, in which it stands; empty: its own declaration
	Changed  *inspect.Changed `json:"changed,omitempty"`  // the last change of the line

	of             string // what an element of a list is about
	declared, live string // as CUE; empty where there is none
}

// State compares a value with what is live.
type State string

// The states.
const (
	Same     State = "as_declared"
	Differs  State = "differs"
	LiveOnly State = "not_declared" // live, and nothing declares it
	Unknown  State = "unknown"      // what is live is not known
	Decision State = "decision"     // it says what becomes of others, and is never live itself
)

// Live is what a part is on the platform.
type Live struct {
	As       desired.Declaring // in the words of the declaration
	Describe func(desired.RuleRef) string
	Err      error // why it is not known; nil where it is
}

// Zone shows a zone. live has a [Live] for each deployment, and then for each of what is of
// other kinds; nil where nothing is known, and unknown says why.
func Zone(account desired.Account, z desired.Zone, commit string, live []Live, unknown string) Shown {
	s := Shown{
		Version: Version, Zone: z.Key, ID: desired.KnownScope(z.Scope).String(), Account: account.Key, Labels: maps.Clone(z.Labels), Commit: commit,
		Origin: bare(z.Origin), Parts: []Part{}, LiveUnknown: unknown, level: z.Scope.Level,
	}
	if z.Scope.Level == edge.LevelAccount {
		s.ID = string(account.ID)
	}
	for _, d := range z.Deployments {
		s.Parts = append(s.Parts, Part{
			Deployment: d.Name(), Ruleset: d.Ruleset, Ref: d.Ref, Origin: bare(d.Origin), Members: declared(d), path: []string{"waf", d.Name()},
		})
	}
	for _, o := range z.Others {
		s.Parts = append(s.Parts, Part{Kind: o.Kind, Deployment: o.Key, Origin: bare(o.Origin), Members: declared(o), path: o.Path()})
	}
	for i := range s.Parts {
		part := &s.Parts[i]
		if live != nil && live[i].Err == nil {
			part.Members = beside(part.Members, live[i])
		} else if live != nil {
			part.LiveUnknown, s.Partial = cli.Reason(live[i].Err), true
		}
	}
	return s
}

// WithID returns a shown zone with an id that was found on the platform.
func (s Shown) WithID(id edge.Scope) Shown {
	if known := desired.KnownScope(id); !known.IsZero() && s.Token == "" {
		s.ID = known.String()
	}
	return s
}

// bare is a place without its commit, which is that of all.
func bare(o desired.Origin) desired.Origin {
	o.Commit = ""
	return o
}

// declared are the members of a declaration, with nothing live.
func declared(d desired.Declaring) (members []Member) {
	for m := range d.Members() {
		one := Member{Path: m.Path, State: Unknown, Declared: plain(m.Value), of: m.Of, declared: cuefile.Literal(m.Value)}
		if m.Decides {
			one.State = Decision
		}
		if !m.Origin.IsZero() {
			at := bare(m.Origin)
			one.Origin = &at
		}
		members = append(members, one)
	}
	return members
}

// beside puts what is live beside what is declared. What only is live comes last.
func beside(members []Member, live Live) []Member {
	type key struct{ path, of string }
	at := map[key]int{}
	for i, m := range members {
		if m.State == Unknown {
			members[i].State = Differs
		}
		at[key{m.Path, m.of}] = i
	}
	for m := range live.As.Members() {
		i, known := at[key{m.Path, m.Of}]
		if known && m.Decides {
			members[i].Note = note(m, live.Describe)
			continue
		}
		if !known {
			switch {
			case m.Path == string(desired.Keep):
				m.Path = "override" // one that no declaration can say, so that it was named
			case m.Decides:
				continue
			}
			i = len(members)
			members = append(members, Member{Path: m.Path, State: LiveOnly, of: m.Of})
		}
		members[i].Live, members[i].live = plain(m.Value), cuefile.Literal(m.Value)
		if known && reflect.DeepEqual(members[i].Declared, members[i].Live) {
			members[i].State = Same
		}
		members[i].Note = note(m, live.Describe)
	}
	return members
}

// note says in words which rule a value is about.
func note(m desired.Member, describe func(desired.RuleRef) string) string {
	if rule := m.Rule(); describe != nil && rule != (desired.RuleRef{}) {
		return describe(rule)
	}
	return ""
}

// plain is a value for JSON.
func plain(value any) any {
	switch v := value.(type) {
	case desired.RuleRef:
		return ruleOf(v)
	case desired.TagOverride:
		return overrideOf(map[string]any{"tag": v.Tag}, v.Override)
	case desired.RuleOverride:
		return overrideOf(ruleOf(v.Rule), v.Override)
	case desired.Decision:
		switch {
		case v.All:
			return map[string]any{"all": true}
		case v.Version:
			return map[string]any{"version": true}
		case v.Tag != "":
			return map[string]any{"tag": v.Tag}
		}
		return ruleOf(v.Rule)
	}
	return value
}

func ruleOf(r desired.RuleRef) map[string]any {
	switch {
	case r.Ref != "":
		return map[string]any{"ref": r.Ref}
	case r.Description != "":
		return map[string]any{"description": r.Description}
	}
	return map[string]any{"id": string(r.ID)}
}

func overrideOf(out map[string]any, o desired.Override) map[string]any {
	for m := range o.Members() {
		out[m.Path] = m.Value
	}
	return out
}
