package token

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

func (p *planner) createToken(token desired.Token, creation diff.Creation, records []diff.TokenRecord) {
	if len(records) == 0 {
		p.add(p.newToken(token, creation, diff.ActionCreate, diff.TokenRecord{}, nil))
		return
	}
	latest := records[len(records)-1]
	p.add(p.newToken(token, creation, diff.ActionReplace, latest, records))
	p.meanwhile(token, creation, latest)
}

func (p *planner) add(c diff.Change) { p.out.Changes = append(p.out.Changes, c) }

// newToken is a creation. before is the token whose place it takes, zero for
// none; earlier are the declaration's tokens of which nothing else is planned.
func (p *planner) newToken(token desired.Token, creation diff.Creation, action diff.Action, before diff.TokenRecord, earlier []diff.TokenRecord) diff.Change {
	creation.As = action
	if before.Intent != "" {
		creation.Follows = p.followed(before, creation)
	}
	c := diff.Change{Kind: Name, Scope: edge.CredentialScope(token.Owner), Account: token.Account, Token: token.Key, Origin: token.Origin}
	was, shall := p.was(before), creation.Spec
	if before.Named() && strings.HasPrefix(before.Spec.Name, shall.Name) {
		was.Name = shall.Name // told apart by their attempts alone
	}
	c.Fields = tokenFields(was, shall, token.Origin)
	if creation.Lifetime > 0 {
		c.Fields = withEnd(c.Fields, before, creation, token.Origin)
		was.NotBefore, was.ExpiresOn = "", ""
	}
	moved := action != diff.ActionCreate && creation.Sink != nil && !sameSink(before.Sink, creation.Sink)
	if moved {
		place := diff.Field{Path: "sink", New: words.Sink(creation.Sink), Direction: diff.Weakens, Origin: &token.Origin}
		if before.Sink != nil {
			place.Old = words.Sink(before.Sink)
		}
		c.Fields = append(c.Fields, place)
	}
	if before.ID != "" && before.Owner != creation.Owner {
		c.Fields = append(c.Fields, p.movedField(token, before))
	}
	if before.ID != "" && !p.in.Live.Tokens.Has(before) {
		c.Fields = append(c.Fields, diff.Field{
			Path: "id", Old: string(before.ID), Direction: diff.Neutral, Note: "the platform no longer has it", Origin: &token.Origin,
		})
	}
	if p.lapsed(before) {
		was = edge.TokenSpec{}
	}
	c = p.withLifetime(p.withRights(c, was, shall), creation)
	if moved { // whoever reads that place gets the rights of the token, as of one that is new
		c.Direction = diff.Combine(c.Direction, diff.Weakens)
	}
	return p.besides(c, creation, earlier)
}

// lapsed reports whether a token gives no right any more that another could take over: the platform
// does not have it, or it ran out and nothing has declared it since. What comes in its place gives rights.
func (p *planner) lapsed(r diff.TokenRecord) bool {
	live := p.in.Live.Tokens
	return r.ID != "" && (!live.Has(r) || r.Hash == diff.Undeclared(r.Hash) && live.Over(r, p.in.Now))
}

// movedField says that a token is to have another owner than the one before it.
func (p *planner) movedField(token desired.Token, before diff.TokenRecord) diff.Field {
	f := diff.Field{
		Path: "account", Direction: diff.Neutral, Origin: &token.Origin,
		Note: "a token keeps its owner: this creates another one, and token " + string(before.ID) + " stays until it is deleted or revoked",
	}
	if before.Owner != "" {
		f.Old = cmp.Or(p.account(before.Owner), string(before.Owner))
	}
	if token.Account != "" {
		f.New = token.Account
	}
	return f
}

// was is what a token on record may do: as the platform says, where it lists its
// tokens, or else as it was created.
func (p *planner) was(r diff.TokenRecord) edge.TokenSpec {
	if of := p.in.Live.Tokens.Of(r.Owner); of.Listed != nil {
		if live, listed := of.Listed.Tokens[r.ID]; listed {
			return instants(live.TokenSpec)
		}
	}
	return r.Spec
}

// withEnd says when a token that rotates ends. It is counted from a creation that
// is yet to come, so the plan holds a length of time.
func withEnd(fields []diff.Field, before diff.TokenRecord, creation diff.Creation, origin desired.Origin) []diff.Field {
	end := diff.Field{Path: "expires_on", New: lifetimeText(creation.Lifetime), Direction: diff.Neutral, Origin: &origin}
	if before.Spec.ExpiresOn != "" {
		end.Old = before.Spec.ExpiresOn
	}
	kept := make([]diff.Field, 0, len(fields)+1)
	for _, f := range fields {
		if f.Path != "expires_on" {
			kept = append(kept, f)
		}
	}
	return append(kept, end)
}

// withRights compares what a token may do before and after a change.
func (p *planner) withRights(c diff.Change, before, after edge.TokenSpec) diff.Change {
	c.Direction = diff.Neutral
	for _, change := range access.Diff(before, after) {
		right := diff.Right{Text: change.Named(p.groups), Direction: diff.Direction(change.Direction)}
		c.Rights = append(c.Rights, right)
		c.Direction = diff.Combine(c.Direction, right.Direction)
		for i := range c.Fields {
			if c.Fields[i].Path == memberOfRight[change.Kind] {
				c.Fields[i].Direction = diff.Combine(c.Fields[i].Direction, right.Direction)
			}
		}
	}
	return c
}

// groupNames are the names of permission groups by their ids. The platform's
// word counts more than a comment in the repository.
func groupNames(in diff.Input) map[string]string {
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
	for owner := range in.Live.Tokens.Owners {
		if of := in.Live.Tokens.Of(owner); of.Listed != nil {
			for _, g := range of.Listed.Groups.Value {
				names[g.ID] = g.Name
			}
		}
	}
	return names
}

// orphan names a token that lives and that nothing declares any more. Nothing
// is sent: the reference shows no call that revokes one, or its declaration did
// not allow it. It weakens where it may do more than what is declared instead.
func (p *planner) orphan(r diff.TokenRecord, origin desired.Origin, direction diff.Direction, why string) {
	note := why
	for _, left := range p.leaves(r) {
		note += "; its secret is still in " + left.Place()
	}
	note += "; revoke it in the dashboard"
	if p.in.Live.Tokens.Of(r.Owner).Listed == nil {
		note += ", then: seawall token revoked " + string(r.ID)
	}
	p.out.Changes = append(p.out.Changes, diff.Change{
		Kind: Name, Scope: edge.CredentialScope(r.Owner), Account: p.account(r.Owner), Token: r.Key, Operation: diff.Orphan{}, Direction: direction, Origin: origin,
		Fields: []diff.Field{{Path: "id", Old: string(r.ID), Direction: diff.Neutral, Note: note}},
	})
}

func (p *planner) deleteToken(r diff.TokenRecord, origin desired.Origin, why string) {
	p.out.Changes = append(p.out.Changes, p.withRights(diff.Change{
		Kind: Name, Scope: edge.CredentialScope(r.Owner), Account: p.account(r.Owner), Token: r.Key, Operation: diff.Deletion{Owner: r.Owner, Intent: r.Intent, ID: r.ID, Sink: p.in.Live.Tokens.Place(r), Leaves: p.leaves(r)}, Origin: origin,
		Fields: []diff.Field{{Path: "id", Old: string(r.ID), Direction: diff.Neutral, Note: why + ", and prune is declared"}},
	}, p.was(r), edge.TokenSpec{}))
}

// memberOfRight says which member of a token a difference in rights comes from.
var memberOfRight = map[access.Kind]diff.Member{
	access.KindRight: "policies", access.KindNotBefore: "not_before",
	access.KindExpiresOn: "expires_on", access.KindAddresses: "condition",
}

// tokenFields lists the members in which two specifications differ, in
// canonical form.
func tokenFields(before, after edge.TokenSpec, origin desired.Origin) []diff.Field {
	a, b := tokenMembers(access.Canonical(before)), tokenMembers(access.Canonical(after))
	fields := []diff.Field{}
	for _, path := range []diff.Member{"name", "policies", "not_before", "expires_on", "condition"} {
		if old, now := a[path], b[path]; !sameJSON(old, now) {
			fields = append(fields, diff.Field{Path: path, Old: old, New: now, Direction: diff.Neutral, Origin: &origin})
		}
	}
	return fields
}

func tokenMembers(s edge.TokenSpec) map[diff.Member]any {
	members := map[diff.Member]any{}
	put := func(path diff.Member, said bool, v any) {
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
