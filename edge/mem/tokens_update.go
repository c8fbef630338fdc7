package mem

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

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
	next, err := t.p.replaceToken(*token, request, body)
	if err != nil {
		return edge.Token{}, err
	}
	*token = next
	return t.p.answerToken(next)
}

func (p *Platform) replaceToken(t SeedToken, r tokenRequest, body []byte) (SeedToken, error) {
	var sent map[string]json.RawMessage
	if err := json.Unmarshal(body, &sent); err != nil {
		return t, err
	}
	kept := cloneExtra(t.Extra)
	for name := range t.Extra {
		if value, ok := sent[name]; ok {
			kept[name] = bytes.Clone(value)
		} else {
			delete(kept, name)
		}
	}
	var status string
	if err := json.Unmarshal(sent["status"], &status); err == nil && status != "" && status != statusExpired {
		t.Status = status
	}
	// The ids that there were are in the seed of those that come, so none returns.
	policies, err := p.keepPolicies(r.Policies, t.ID, string(t.Policies))
	if err != nil {
		return t, err
	}
	t.Policies, t.Name, t.NotBefore, t.ExpiresOn, t.Condition = policies, r.Name, r.NotBefore, r.ExpiresOn, r.Condition
	t.Extra = kept
	t.ModifiedOn = p.now().UTC().Format(tokenTime)
	return t, nil
}

// DeleteToken ends a token; its secret is dead at once.
func (t TokenCalls) DeleteToken(ctx context.Context, id edge.TokenID) error {
	if _, err := t.openToken(ctx, "DELETE "+t.path()+"/"+string(id), id); err != nil {
		return err
	}
	defer t.p.mu.Unlock()
	t.p.state.TokensMade = t.p.tokensMade()
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
