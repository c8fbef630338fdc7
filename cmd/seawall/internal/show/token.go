package show

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/cuefile"
	"github.com/seawall-dev/seawall/diff"
)

// Record is the newest token on record of a declaration.
type Record struct {
	ID        string          `json:"id,omitempty"` // empty: it was not confirmed
	State     diff.TokenState `json:"state"`
	At        time.Time       `json:"at"` // when it was asked for
	ExpiresOn string          `json:"expires_on,omitempty"`
	Delivered bool            `json:"delivered"` // the secret reached its sink
}

func (r Record) String() string {
	secret := "its secret waits for the sink"
	if r.Delivered {
		secret = "its secret is delivered"
	}
	return fmt.Sprintf("%s since %s, expires %s, %s", r.State, r.At.UTC().Format(time.RFC3339), cmp.Or(r.ExpiresOn, "never"), secret)
}

// Token shows a token, with the newest of the records of a ledger; unknown says why they are
// not known. Whether the platform has the token as declared, seawall plan says.
func Token(t desired.Token, commit string, records []diff.TokenRecord, unknown string) Shown {
	part := Part{Origin: bare(t.Origin), Members: []Member{}}
	add := func(at desired.Origin, path string, value any, text string) {
		m := Member{Path: path, State: Unknown, Declared: value, declared: text}
		if at = bare(at); !at.IsZero() {
			m.Origin = &at
		}
		part.Members = append(part.Members, m)
	}
	at := func(path string) desired.Origin { return t.Places[path] }
	word := func(path, value string) {
		if value != "" {
			add(at(path), path, value, cuefile.String(value))
		}
	}
	word("name", t.Name)
	for i, p := range t.Policies {
		policy(add, fmt.Sprintf("policies[%d]", i), p)
	}
	word("not_before", t.NotBefore)
	word("expires_on", t.ExpiresOn)
	if c := t.Condition; c != nil {
		list(add, at("condition.request.ip.in"), "condition.request.ip.in", c.In)
		list(add, at("condition.request.ip.not_in"), "condition.request.ip.not_in", c.NotIn)
	}
	if t.Sink != nil {
		word("sink.name", t.Sink.Name)
		word("sink.key", t.Sink.Key)
	}
	if r := t.Rotate; r != nil {
		word("rotate.every", r.Every.String())
		word("rotate.overlap", r.Overlap.String())
	}
	if t.Prune {
		add(at("prune"), "prune", true, "true")
	}
	s := Shown{
		Version: Version, Token: t.Key, Account: t.Account, Commit: commit, Origin: bare(t.Origin), Parts: []Part{part}, token: t, LiveUnknown: unknown,
	}
	for _, r := range records {
		if r.Key == t.Key && (s.Record == nil || r.At.After(s.Record.At)) {
			s.ID, s.Record = string(r.ID), &Record{string(r.ID), r.State, r.At, r.Spec.ExpiresOn, r.Delivered}
		}
	}
	return s
}

type adder = func(at desired.Origin, path string, value any, text string)

func policy(add adder, path string, p desired.Policy) {
	add(p.Origin, path+".effect", p.Effect, cuefile.String(p.Effect))
	var keys []string
	for _, r := range p.Resources {
		key := r.Key
		if r.AllZones {
			key += " (all zones)"
		}
		keys = append(keys, key)
	}
	list(add, p.Origin, path+".resources", keys)
	for _, g := range p.PermissionGroups {
		value := map[string]any{}
		for key, word := range map[string]string{"id": g.ID, "name": g.Name, "scope": g.Scope} {
			if word != "" {
				value[key] = word
			}
		}
		add(g.Origin, path+".permission_groups", value, g.String())
	}
}

func list(add adder, at desired.Origin, path string, all []string) {
	if len(all) > 0 {
		words := slices.Clone(all)
		for i, word := range words {
			words[i] = cuefile.String(word)
		}
		add(at, path, all, strings.Join(words, ", "))
	}
}
