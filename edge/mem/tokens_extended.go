package mem

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

var (
	_ edge.Tokens = (*Platform)(nil)
	_ edge.Tokens = TokenCalls{}
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
		answer, err := t.answerToken(token)
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
	return t.answerToken(*token)
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

// enter begins a call, which is one that is known beyond the reference or not, and locks.
func (p *Platform) enter(ctx context.Context, call string, beyond bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if beyond && !p.extended {
		return notOffered(call)
	}
	p.mu.Lock()
	return nil
}

// open is enter for the tokens of an owner. Where it fails, nothing stays locked.
func (t TokenCalls) open(ctx context.Context, call string, beyond bool) error {
	if err := t.p.enter(ctx, call, beyond); err != nil {
		return err
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
func (t TokenCalls) answerToken(token SeedToken) (edge.Token, error) {
	spec, err := token.Spec()
	if err != nil {
		return edge.Token{}, err
	}
	for _, policy := range spec.Policies {
		t.fillGroups(policy.PermissionGroups)
		for i := range policy.PermissionGroups {
			if t.p.checks.vendor() { // which has them in its list of groups alone
				policy.PermissionGroups[i].Scopes = nil
			}
		}
		if t.p.behaviour.reorder {
			slices.Reverse(policy.PermissionGroups)
		}
	}
	if t.p.behaviour.reorder {
		slices.Reverse(spec.Policies)
	}
	if spec.Policies == nil {
		spec.Policies = []edge.Policy{} // of a token that was made outside of the API: never null
	}
	return edge.Token{
		ID: edge.TokenID(token.ID), TokenSpec: spec, Status: token.statusAt(t.p.now()),
		IssuedOn: token.IssuedOn, ModifiedOn: token.ModifiedOn, LastUsedOn: token.LastUsedOn, Extra: clone(token.Extra),
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

// UpdateToken is [TokenCalls.UpdateTokenJSON] with the encoding of body.
func (t TokenCalls) UpdateToken(ctx context.Context, id edge.TokenID, body edge.Token) (edge.Token, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return edge.Token{}, fmt.Errorf("encoding the token: %w", err)
	}
	return t.UpdateTokenJSON(ctx, id, data)
}

// UpdateTokenJSON replaces a token by a request body as it came over the wire,
// resource keys with the segment "vendor". It is checked like a creation; what it
// leaves out is dropped, but for the status, which is kept. Policies get new ids.
// Of members nobody here knows, those stay that the token had and the body says.
func (t TokenCalls) UpdateTokenJSON(ctx context.Context, id edge.TokenID, body []byte) (edge.Token, error) {
	call := "PUT " + t.path() + "/" + string(id)
	token, err := t.openToken(ctx, call, id)
	if err != nil {
		return edge.Token{}, err
	}
	defer t.p.mu.Unlock()
	request, details := t.read(body)
	if details = append(details, checkStatus(body, *token)...); len(details) > 0 {
		return edge.Token{}, invalid(call, details)
	}
	next, err := t.replaceToken(*token, request, body)
	if err != nil {
		return edge.Token{}, err
	}
	*token = next
	return t.answerToken(next)
}

func (t TokenCalls) replaceToken(token SeedToken, r tokenRequest, body []byte) (SeedToken, error) {
	var sent map[string]json.RawMessage
	if err := json.Unmarshal(body, &sent); err != nil {
		return token, err
	}
	kept := clone(token.Extra)
	for name := range token.Extra {
		if value, ok := sent[name]; ok {
			kept[name] = bytes.Clone(value)
		} else {
			delete(kept, name)
		}
	}
	var status string
	if err := json.Unmarshal(sent["status"], &status); err == nil && status != "" && status != statusExpired {
		token.Status = status
	}
	// The ids that there were are in the seed of those that come, so none returns.
	policies, err := t.keepPolicies(r.Policies, token.ID, string(token.Policies))
	if err != nil {
		return token, err
	}
	token.Policies, token.Name, token.NotBefore, token.ExpiresOn, token.Condition = policies, r.Name, r.NotBefore, r.ExpiresOn, r.Condition
	token.Extra = kept
	token.ModifiedOn = t.p.now().UTC().Format(tokenTime)
	return token, nil
}

// DeleteToken ends a token; its secret is dead at once.
func (t TokenCalls) DeleteToken(ctx context.Context, id edge.TokenID) error {
	if _, err := t.openToken(ctx, "DELETE "+t.path()+"/"+string(id), id); err != nil {
		return err
	}
	defer t.p.mu.Unlock()
	t.p.state.TokensMade = t.tokensMade()
	t.p.state.Tokens = slices.DeleteFunc(t.p.state.Tokens, func(token SeedToken) bool { return token.ID == string(id) })
	return nil
}

// RollToken gives a token another secret; the old one is dead at once.
func (t TokenCalls) RollToken(ctx context.Context, id edge.TokenID) (edge.Secret, error) {
	token, err := t.openToken(ctx, "PUT "+t.path()+"/"+string(id)+"/value", id)
	if err != nil {
		return edge.Secret{}, err
	}
	defer t.p.mu.Unlock()
	// The secret that there was is in the seed of the next, so none returns.
	token.Value = tokenValue(token.ID + " after " + token.Value)
	token.ModifiedOn = t.p.now().UTC().Format(tokenTime)
	return edge.NewSecret(token.Value), nil
}
