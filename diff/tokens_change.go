package diff

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

// Amendment is a token to be updated in place.
type Amendment struct {
	Intent string
	ID     edge.TokenID
	Spec   edge.TokenSpec // what the token shall be
	Hash   string         // of what is declared
	Prune  bool
	Body   edge.Token // Spec, with what else the platform knows of the token
}

// Deletion is a token to be deleted.
type Deletion struct {
	Intent string
	ID     edge.TokenID
	Sink   *desired.Sink // where its secret is, as long as no other has taken the place
}

func (p *planner) createToken(token desired.Token, creation *Creation, records []TokenRecord) {
	if len(records) == 0 {
		p.newToken(token, creation, ActionCreate, TokenRecord{})
		return
	}
	p.newToken(token, creation, ActionReplace, records[len(records)-1])
}

func (p *planner) rotateToken(token desired.Token, creation *Creation, predecessor TokenRecord) {
	p.newToken(token, creation, ActionRotate, predecessor)
}

// newToken plans a creation. before is the token whose place it takes, zero for
// none.
func (p *planner) newToken(token desired.Token, creation *Creation, action Action, before TokenRecord) {
	c := Change{
		Kind: KindToken, Token: token.Key, Action: action, Origin: token.Origin, Creation: creation,
		Request: &Request{Method: "POST", Path: edge.TokensPath(), Token: &creation.Spec},
	}
	was, shall := p.was(before), creation.Spec
	if before.Named() && strings.HasPrefix(before.Spec.Name, shall.Name) {
		was.Name = shall.Name // told apart by their attempts alone
	}
	c.Fields = tokenFields(was, shall, token.Origin)
	if creation.Lifetime > 0 {
		c.Fields = withEnd(c.Fields, before, creation, token.Origin)
		was.NotBefore, was.ExpiresOn = "", ""
	}
	if action != ActionCreate && creation.Sink != nil && !sameSink(before.Sink, creation.Sink) {
		place := Field{Path: "sink", New: sinkName(creation.Sink), Direction: Neutral, Origin: &token.Origin}
		if before.Sink != nil {
			place.Old = sinkName(before.Sink)
		}
		c.Fields = append(c.Fields, place)
	}
	if before.ID != "" && !p.in.Live.Tokens.Has(before) {
		c.Fields = append(c.Fields, Field{
			Path: "id", Old: string(before.ID), Direction: Neutral, Note: "the platform no longer has it", Origin: &token.Origin,
		})
	}
	p.plan.Changes = append(p.plan.Changes, p.withRights(c, was, shall))
}

// was is what a token on record may do: as the platform says, where it lists its
// tokens, or else as it was created.
func (p *planner) was(r TokenRecord) edge.TokenSpec {
	if platform := p.in.Live.Tokens.Platform; platform != nil {
		if live, listed := platform.Tokens[r.ID]; listed {
			return instants(live.TokenSpec)
		}
	}
	return r.Spec
}

// withEnd says when a token that rotates ends. It is counted from a creation that
// is yet to come, so the plan holds a length of time.
func withEnd(fields []Field, before TokenRecord, creation *Creation, origin desired.Origin) []Field {
	end := Field{Path: "expires_on", New: lifetimeText(creation.Lifetime), Direction: Neutral, Origin: &origin}
	if before.Spec.ExpiresOn != "" {
		end.Old = before.Spec.ExpiresOn
	}
	kept := make([]Field, 0, len(fields)+1)
	for _, f := range fields {
		if f.Path != "expires_on" {
			kept = append(kept, f)
		}
	}
	return append(kept, end)
}

// withRights compares what a token may do before and after a change.
func (p *planner) withRights(c Change, before, after edge.TokenSpec) Change {
	c.Direction = Neutral
	for _, change := range access.Diff(before, after) {
		right := Right{p.named(change), Direction(change.Direction)}
		c.Rights = append(c.Rights, right)
		c.Direction = combine(c.Direction, right.Direction)
		for i := range c.Fields {
			if c.Fields[i].Path == memberOfRight[change.Kind] {
				c.Fields[i].Direction = combine(c.Fields[i].Direction, right.Direction)
			}
		}
	}
	return c
}

// named tells a difference in rights with the name of its permission group, where
// the repository or the platform says one.
func (p *planner) named(change access.Change) string {
	text := change.String()
	if name := p.groups[change.Group]; name != "" && change.Group != "" {
		text = strings.Replace(text, "group "+change.Group, fmt.Sprintf("group %q (%s)", name, change.Group), 1)
	}
	return text
}

// groupNames are the names of permission groups by their ids. The platform's
// word counts more than a comment in the repository.
func groupNames(in Input) map[string]string {
	names := map[string]string{}
	for _, token := range in.State.Tokens {
		for _, policy := range token.Policies {
			for _, g := range policy.PermissionGroups {
				if g.ID != "" && g.Name != "" {
					names[g.ID] = g.Name
				}
			}
		}
	}
	if platform := in.Live.Tokens.Platform; platform != nil {
		for _, g := range platform.Groups.Value {
			names[g.ID] = g.Name
		}
	}
	return names
}

// orphan names a token that lives and that nothing declares any more. Nothing
// is sent: the reference shows no call that revokes one, or its declaration did
// not allow it.
func (p *planner) orphan(r TokenRecord, origin desired.Origin, why string) {
	note := why + "; revoke it in the dashboard"
	if p.in.Live.Tokens.Platform == nil {
		note += ", then: seawall token revoked " + string(r.ID)
	}
	p.plan.Changes = append(p.plan.Changes, Change{
		Kind: KindToken, Token: r.Key, Action: ActionOrphan, Direction: Neutral, Origin: origin,
		Fields: []Field{{Path: "id", Old: string(r.ID), Direction: Neutral, Note: note}},
	})
}

func (p *planner) deleteToken(r TokenRecord, origin desired.Origin, why string) {
	p.plan.Changes = append(p.plan.Changes, p.withRights(Change{
		Kind: KindToken, Token: r.Key, Action: ActionDelete, Origin: origin,
		Fields:   []Field{{Path: "id", Old: string(r.ID), Direction: Neutral, Note: why + ", and prune is declared"}},
		Request:  &Request{Method: "DELETE", Path: edge.TokenPath(r.ID)},
		Deletion: &Deletion{Intent: r.Intent, ID: r.ID, Sink: p.place(r)},
	}, p.was(r), edge.TokenSpec{}))
}

// place is where a token's secret still is: nowhere once another was delivered
// there.
func (p *planner) place(r TokenRecord) *desired.Sink {
	for _, later := range slices.Backward(p.in.Live.Tokens.Records) {
		switch {
		case later.Intent == r.Intent:
			return r.Sink
		case later.Delivered && sameSink(later.Sink, r.Sink):
			return nil
		}
	}
	return r.Sink
}

// memberOfRight says which member of a token a difference in rights comes from.
var memberOfRight = map[access.Kind]Member{
	access.KindRight: "policies", access.KindNotBefore: "not_before",
	access.KindExpiresOn: "expires_on", access.KindAddresses: "condition",
}

// tokenFields lists the members in which two specifications differ, in
// canonical form.
func tokenFields(before, after edge.TokenSpec, origin desired.Origin) []Field {
	a, b := tokenMembers(access.Canonical(before)), tokenMembers(access.Canonical(after))
	fields := []Field{}
	for _, path := range []Member{"name", "policies", "not_before", "expires_on", "condition"} {
		if old, now := a[path], b[path]; !sameJSON(old, now) {
			fields = append(fields, Field{Path: path, Old: old, New: now, Direction: Neutral, Origin: &origin})
		}
	}
	return fields
}

func tokenMembers(s edge.TokenSpec) map[Member]any {
	members := map[Member]any{}
	put := func(path Member, said bool, v any) {
		if said {
			members[path] = v
		}
	}
	put("name", s.Name != "", s.Name)
	put("policies", len(s.Policies) > 0, s.Policies)
	put("not_before", s.NotBefore != "", s.NotBefore)
	put("expires_on", s.ExpiresOn != "", s.ExpiresOn)
	put("condition", s.Condition != nil, s.Condition)
	return members
}

func sameJSON(a, b any) bool {
	left, err := json.Marshal(a)
	right, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(left) == string(right)
}
