package mem

import (
	"context"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

var (
	_ edge.TokenPlatform = (*Platform)(nil)
	_ edge.TokenPlatform = TokenCalls{}
)

// UserTokens lists all tokens, oldest first.
func (t TokenCalls) UserTokens(ctx context.Context) ([]edge.Token, error) {
	if err := t.open(ctx, "GET "+t.path(), true); err != nil {
		return nil, err
	}
	defer t.p.mu.Unlock()
	tokens := []edge.Token{}
	for _, token := range t.p.state.Tokens {
		if !t.owns(token) {
			continue
		}
		answer, err := t.p.answerToken(token)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, answer)
	}
	if t.p.behaviour.reorder {
		slices.Reverse(tokens)
	}
	return tokens, nil
}

// UserToken returns one token.
func (t TokenCalls) UserToken(ctx context.Context, id edge.TokenID) (edge.Token, error) {
	token, err := t.openToken(ctx, "GET "+t.path()+"/"+string(id), id)
	if err != nil {
		return edge.Token{}, err
	}
	defer t.p.mu.Unlock()
	return t.p.answerToken(*token)
}

// VerifyToken is [TokenCalls.VerifyTokenOf] the token that a server greets with
// for calls on tokens: nobody signs in to a platform in memory.
func (t TokenCalls) VerifyToken(ctx context.Context) (edge.Token, error) {
	return t.VerifyTokenOf(ctx, func(token SeedToken) bool { return token.Name == TokensTokenName })
}

// VerifyTokenOf describes the first token that is asks: id, status and window.
func (t TokenCalls) VerifyTokenOf(ctx context.Context, asks func(SeedToken) bool) (edge.Token, error) {
	call := "GET " + t.path() + "/verify"
	if err := t.open(ctx, call, true); err != nil {
		return edge.Token{}, err
	}
	defer t.p.mu.Unlock()
	i := slices.IndexFunc(t.p.state.Tokens, func(token SeedToken) bool { return t.owns(token) && asks(token) })
	if i < 0 {
		return edge.Token{}, rejected(call)
	}
	token := t.p.state.Tokens[i]
	return edge.Token{
		ID: edge.TokenID(token.ID), Status: token.statusAt(t.p.now()),
		TokenSpec: edge.TokenSpec{NotBefore: token.NotBefore, ExpiresOn: token.ExpiresOn},
	}, nil
}

// PermissionGroups lists the seed's permission groups; an account has none that
// are for users.
func (t TokenCalls) PermissionGroups(ctx context.Context) ([]edge.PermissionGroup, error) {
	if err := t.open(ctx, "GET "+t.path()+"/permission_groups", true); err != nil {
		return nil, err
	}
	defer t.p.mu.Unlock()
	groups := []edge.PermissionGroup{}
	for _, g := range t.p.state.PermissionGroups {
		if t.account == "" || !slices.Contains(g.Scopes, string(access.TypeUser)) {
			groups = append(groups, edge.PermissionGroup{ID: g.ID, Name: g.Name, Scopes: slices.Clone(g.Scopes)})
		}
	}
	if t.p.behaviour.reorder {
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

// open begins a call, which is one that is known beyond the reference or not, and
// locks. Where it fails, nothing stays locked.
func (t TokenCalls) open(ctx context.Context, call string, beyond bool) error {
	if beyond {
		if err := t.p.enter(ctx, call); err != nil {
			return err
		}
	} else {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.p.mu.Lock()
	}
	if t.account != "" && t.p.account(t.account) == nil {
		t.p.mu.Unlock()
		return notFound(call, "account", string(t.account))
	}
	return nil
}

// openToken begins a call on one token, and returns its live record. Where there
// is none, nothing stays locked.
func (t TokenCalls) openToken(ctx context.Context, call string, id edge.TokenID) (*SeedToken, error) {
	if err := t.open(ctx, call, true); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(t.p.state.Tokens, func(token SeedToken) bool { return t.owns(token) && token.ID == string(id) })
	if i < 0 {
		t.p.mu.Unlock()
		return nil, tokenNotFound(call, id)
	}
	return &t.p.state.Tokens[i], nil
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
	if spec.Policies == nil {
		spec.Policies = []edge.Policy{} // of a token that was made outside of the API: never null
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
