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

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/cuefile"
	"github.com/seawall-dev/seawall/diff"
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
	// NotLookedAt are places in which nobody could look for skip rules.
	NotLookedAt []diff.NotLookedAt `json:"skip_rules_not_looked_at,omitempty"`

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
	Absent      string           `json:"absent,omitempty"` // that it is not on the platform, with what to do
	// Bypasses are the skip rules that keep requests from a deployment, as they are live.
	Bypasses []diff.Bypass `json:"bypasses,omitempty"`

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
	byKey          bool   // it is an element of a struct, and declared has its key
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
	Bypasses []diff.Bypass
	Absent   error // that it is not on the platform; nil where it is
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
	beside := func() Live { // the next
		if live == nil {
			return Live{}
		}
		return live[len(s.Parts)]
	}
	for _, d := range z.Deployments {
		s.Parts = append(s.Parts, Part{
			Deployment: d.Name(), Ruleset: d.Ruleset, Ref: d.Ref, Origin: bare(d.Origin), Members: members(d, beside()), path: []string{"waf", d.Name()},
		})
	}
	for _, o := range z.Others {
		s.Parts = append(s.Parts, Part{Kind: o.Kind, Deployment: o.Key, Origin: bare(o.Origin), Members: members(o, beside()), path: o.Path()})
	}
	for i := range s.Parts {
		switch {
		case live == nil:
		case live[i].Err != nil:
			s.Parts[i].LiveUnknown, s.Partial = cli.Reason(live[i].Err), true
		case live[i].Absent != nil:
			s.Parts[i].Absent = cli.Reason(live[i].Absent)
		}
		if live != nil {
			s.Parts[i].Bypasses = bypasses(live[i].Bypasses)
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

// members are those of a declaration beside what is live. What only is live comes last.
func members(declared desired.Declaring, live Live) (members []Member) {
	if live.Err != nil {
		live.As = nil
	}
	for _, p := range desired.Beside(declared, live.As) {
		m := Member{Path: p.Path, of: p.Member().Of}
		if d := p.Declared; d != nil {
			m.Declared, m.declared = d.Plain(), cuefile.Literal(d.Value)
			_, m.byKey = d.Value.(desired.Accepted)
			if !d.Origin.IsZero() {
				at := bare(d.Origin)
				m.Origin = &at
			}
		}
		if p.Live != nil {
			m.Live, m.live = p.Live.Plain(), cuefile.Literal(p.Live.Value)
		}
		if decides := p.Declared != nil && p.Declared.Decides; live.As != nil && (decides || p.Live != nil) {
			m.Note = note(p.Member(), live.Describe)
		}
		m.State = stateOf(p, live.As != nil || live.Absent != nil)
		members = append(members, m)
	}
	return members
}

func stateOf(p desired.Pair, read bool) State {
	switch {
	case p.Declared == nil:
		return LiveOnly
	case p.Declared.Decides:
		return Decision
	case !read:
		return Unknown
	case p.Same():
		return Same
	}
	return Differs
}

// note says in words which rule a value is about.
func note(m desired.Member, describe func(desired.RuleRef) string) string {
	if rule := m.Rule(); describe != nil && rule != (desired.RuleRef{}) {
		return describe(rule)
	}
	return ""
}
