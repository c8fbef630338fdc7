package token

import (
	"cmp"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

// keepToken holds a token that is to stay against its declaration: it agrees, or
// is updated in place.
func (p *planner) keepToken(token desired.Token, want diff.Creation, r diff.TokenRecord) {
	listed := p.in.Live.Tokens.Of(r.Owner).Listed
	if listed == nil {
		p.settle(r, diff.SettledToken{Intent: r.Intent, Spec: r.Spec, Hash: want.Hash, Prune: token.Prune})
		return
	}
	live := listed.Tokens[r.ID]
	shall := wantedSpec(want, r, live)
	p.disabled(token, live.Status)
	if c := p.amend(token, want, r, live, shall); len(c.Fields) > 0 {
		p.add(c)
		p.meanwhile(token, want, r)
		return
	}
	p.settle(r, diff.SettledToken{Intent: r.Intent, Spec: shall, Hash: want.Hash, Prune: token.Prune})
}

// settle notes what is to be on record of a token.
func (p *planner) settle(r diff.TokenRecord, is diff.SettledToken) {
	p.out.Settled = append(p.out.Settled, diff.Settled{ID: diff.ID{Scope: edge.CredentialScope(r.Owner), Token: r.ID}, Token: &is})
}

// undeclare notes a token on record that ends, as those of a rotation do, and that nothing declares; but
// not one that is to be deleted.
func (p *planner) undeclare(r diff.TokenRecord) {
	live, is := p.in.Live.Tokens, diff.Undeclared(r.Hash)
	_, ends := expiry(r)
	deleted := !live.Has(r) || r.Prune && live.Of(r.Owner).Listed != nil
	if ends && !deleted && live.Unknown == "" && r.State == diff.TokenConfirmed && r.Hash != is {
		p.settle(r, diff.SettledToken{Intent: r.Intent, Spec: r.Spec, Hash: is, Prune: r.Prune})
	}
}

// wantedSpec is what a token shall be that exists already: as declared, but under
// the name with the attempt that it was made with, and while it rotates with the
// end that was computed for it. Of one that was adopted and rotates the end is the
// platform's to know.
func wantedSpec(want diff.Creation, r diff.TokenRecord, live edge.Token) edge.TokenSpec {
	spec := want.Spec
	if r.Named() {
		spec.Name = want.Suffix.Behind(spec.Name, r.Intent)
	}
	if want.Lifetime > 0 {
		spec.NotBefore, spec.ExpiresOn = cmp.Or(r.Spec.NotBefore, live.NotBefore), cmp.Or(r.Spec.ExpiresOn, live.ExpiresOn)
	}
	return spec
}

// amend compares a token with what it shall be. The change has no fields where
// they agree.
func (p *planner) amend(token desired.Token, want diff.Creation, r diff.TokenRecord, live edge.Token, shall edge.TokenSpec) diff.Change {
	have := instants(live.TokenSpec)
	return p.withRights(diff.Change{
		Kind: Name, Scope: edge.CredentialScope(r.Owner), Account: token.Account, Token: token.Key, Origin: token.Origin, Fields: tokenFields(have, instants(shall), token.Origin),
		Operation: diff.Amendment{Owner: r.Owner, Intent: r.Intent, ID: r.ID, Spec: shall, Hash: want.Hash, Prune: token.Prune, Body: live.Update(shall)},
	}, have, shall)
}

// Remaining implements [diff.Secrets].
func (Kind) Remaining(a diff.Amendment, live edge.Token) []diff.Field {
	return tokenFields(instants(live.TokenSpec), instants(a.Spec), desired.Origin{})
}

// instants writes the ends of a window in the documented form. A platform that
// answers with fractions of a second means the same instant.
func instants(spec edge.TokenSpec) edge.TokenSpec {
	for _, at := range []*string{&spec.NotBefore, &spec.ExpiresOn} {
		if t, err := time.Parse(time.RFC3339Nano, *at); err == nil {
			*at = t.UTC().Truncate(time.Second).Format(time.RFC3339)
		}
	}
	return access.Canonical(spec)
}
