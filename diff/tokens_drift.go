package diff

import (
	"cmp"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

// keepToken holds a token that is to stay against its declaration: it agrees, or
// is updated in place.
func (p *planner) keepToken(token desired.Token, want *Creation, r TokenRecord) {
	if p.in.Live.Tokens.Platform == nil {
		p.settleToken(token, want, r.Intent, r.Spec)
		return
	}
	live := p.in.Live.Tokens.Platform.Tokens[r.ID]
	shall := wantedSpec(want, r, live)
	p.disabled(token, live.Status)
	if c := p.amend(token, want, r, live, shall); len(c.Fields) > 0 {
		p.plan.Changes = append(p.plan.Changes, c)
		return
	}
	p.settleToken(token, want, r.Intent, shall)
}

func (p *planner) settleToken(token desired.Token, want *Creation, intent string, spec edge.TokenSpec) {
	p.plan.SettledTokens = append(p.plan.SettledTokens, SettledToken{Intent: intent, Spec: spec, Hash: want.Hash, Prune: token.Prune})
}

// wantedSpec is what a token shall be that exists already: as declared, but under
// the name with the attempt that it was made with, and while it rotates with the
// end that was computed for it. Of one that was adopted and rotates the end is the
// platform's to know.
func wantedSpec(want *Creation, r TokenRecord, live edge.Token) edge.TokenSpec {
	spec := want.Spec
	if r.Named() {
		spec.Name = want.Suffix.behind(spec.Name, r.Intent)
	}
	if want.Lifetime > 0 {
		spec.NotBefore, spec.ExpiresOn = cmp.Or(r.Spec.NotBefore, live.NotBefore), cmp.Or(r.Spec.ExpiresOn, live.ExpiresOn)
	}
	return spec
}

// amend compares a token with what it shall be. The change has no fields where
// they agree.
func (p *planner) amend(token desired.Token, want *Creation, r TokenRecord, live edge.Token, shall edge.TokenSpec) Change {
	have := instants(live.TokenSpec)
	body := live.Update(shall)
	return p.withRights(Change{
		Kind: KindToken, Token: token.Key, Action: ActionUpdate, Origin: token.Origin,
		Fields:    tokenFields(have, instants(shall), token.Origin),
		Request:   &Request{Method: "PUT", Path: edge.TokenPath(r.ID), Whole: &body},
		Amendment: &Amendment{Intent: r.Intent, ID: r.ID, Spec: shall, Hash: want.Hash, Prune: token.Prune, Body: body},
	}, have, shall)
}

// Remaining lists the members in which a token that was written is still not
// what was asked for.
func (a Amendment) Remaining(live edge.Token) []Field {
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
