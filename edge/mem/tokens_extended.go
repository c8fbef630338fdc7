package mem

import (
	"context"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

var _ edge.TokenPlatform = (*Platform)(nil)

// UserTokens lists all tokens, oldest first.
func (p *Platform) UserTokens(ctx context.Context) ([]edge.Token, error) {
	if err := p.enter(ctx, "GET "+edge.TokensPath()); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	tokens := make([]edge.Token, len(p.state.Tokens))
	for i, t := range p.state.Tokens {
		var err error
		if tokens[i], err = p.answerToken(t); err != nil {
			return nil, err
		}
	}
	if p.behaviour.reorder {
		slices.Reverse(tokens)
	}
	return tokens, nil
}

// UserToken returns one token.
func (p *Platform) UserToken(ctx context.Context, id edge.TokenID) (edge.Token, error) {
	t, err := p.enterToken(ctx, "GET "+edge.TokenPath(id), id)
	if err != nil {
		return edge.Token{}, err
	}
	defer p.mu.Unlock()
	return p.answerToken(*t)
}

// VerifyToken is [Platform.VerifyTokenOf] the token that a server greets with for
// calls on tokens: nobody signs in to a platform in memory.
func (p *Platform) VerifyToken(ctx context.Context) (edge.Token, error) {
	return p.VerifyTokenOf(ctx, func(t SeedToken) bool { return t.Name == TokensTokenName })
}

// VerifyTokenOf tells of the first token that is asks: id, status and window.
func (p *Platform) VerifyTokenOf(ctx context.Context, asks func(SeedToken) bool) (edge.Token, error) {
	call := "GET " + edge.VerifyTokenPath()
	if err := p.enter(ctx, call); err != nil {
		return edge.Token{}, err
	}
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.state.Tokens, asks)
	if i < 0 {
		return edge.Token{}, rejected(call)
	}
	t := p.state.Tokens[i]
	return edge.Token{
		ID: edge.TokenID(t.ID), Status: t.statusAt(p.now()),
		TokenSpec: edge.TokenSpec{NotBefore: t.NotBefore, ExpiresOn: t.ExpiresOn},
	}, nil
}

// PermissionGroups lists the seed's permission groups.
func (p *Platform) PermissionGroups(ctx context.Context) ([]edge.PermissionGroup, error) {
	if err := p.enter(ctx, "GET "+edge.PermissionGroupsPath()); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	groups := make([]edge.PermissionGroup, len(p.state.PermissionGroups))
	for i, g := range p.state.PermissionGroups {
		groups[i] = edge.PermissionGroup{ID: g.ID, Name: g.Name, Scopes: slices.Clone(g.Scopes)}
	}
	if p.behaviour.reorder {
		slices.Reverse(groups)
	}
	return groups, nil
}

// enter begins a call that is known beyond the reference, and locks.
func (p *Platform) enter(ctx context.Context, call string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !p.extended {
		return notOffered(call)
	}
	p.mu.Lock()
	return nil
}

// enterToken begins a call on one token, and returns its live record. Where there
// is none, nothing stays locked.
func (p *Platform) enterToken(ctx context.Context, call string, id edge.TokenID) (*SeedToken, error) {
	if err := p.enter(ctx, call); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(p.state.Tokens, func(t SeedToken) bool { return t.ID == string(id) })
	if i < 0 {
		p.mu.Unlock()
		return nil, tokenNotFound(call, id)
	}
	return &p.state.Tokens[i], nil
}

// answerToken is a token as the server tells it, with the quirks.
func (p *Platform) answerToken(t SeedToken) (edge.Token, error) {
	spec, err := t.Spec()
	if err != nil {
		return edge.Token{}, err
	}
	for _, policy := range spec.Policies {
		p.fillGroups(policy.PermissionGroups)
		if p.behaviour.reorder {
			slices.Reverse(policy.PermissionGroups)
		}
	}
	if p.behaviour.reorder {
		slices.Reverse(spec.Policies)
	}
	return edge.Token{
		ID: edge.TokenID(t.ID), TokenSpec: spec, Status: t.statusAt(p.now()),
		IssuedOn: t.IssuedOn, ModifiedOn: t.ModifiedOn, LastUsedOn: t.LastUsedOn, Extra: cloneExtra(t.Extra),
	}, nil
}

const (
	statusActive   = "active"
	statusDisabled = "disabled"
	statusExpired  = "expired" // what the clock makes of an active token
)

// statusAt is the status that the platform tells at a moment.
func (t SeedToken) statusAt(now time.Time) string {
	if t.Status != "" && t.Status != statusActive {
		return t.Status
	}
	if end, err := parseTokenTime(t.ExpiresOn); t.ExpiresOn != "" && (err != nil || !now.Before(end)) {
		return statusExpired
	}
	return statusActive
}
