package mem

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// UpdateToken is [Platform.UpdateTokenJSON] with the encoding of body.
func (p *Platform) UpdateToken(ctx context.Context, id edge.TokenID, body edge.Token) (edge.Token, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return edge.Token{}, fmt.Errorf("encoding the token: %w", err)
	}
	return p.UpdateTokenJSON(ctx, id, data)
}

// UpdateTokenJSON replaces a token by a request body as it came over the wire,
// resource keys with the segment "vendor". It is checked like a creation; what it
// leaves out is dropped, but for the status, which is kept. Policies get new ids.
// Of members nobody here knows, those stay that the token had and the body says.
func (p *Platform) UpdateTokenJSON(ctx context.Context, id edge.TokenID, body []byte) (edge.Token, error) {
	call := "PUT " + edge.TokenPath(id)
	t, err := p.enterToken(ctx, call, id)
	if err != nil {
		return edge.Token{}, err
	}
	defer p.mu.Unlock()
	request, details := readTokenRequest(body, p.state.User)
	if details = append(details, checkStatus(body, *t)...); len(details) > 0 {
		return edge.Token{}, invalid(call, details)
	}
	next, err := p.replaceToken(*t, request, body)
	if err != nil {
		return edge.Token{}, err
	}
	*t = next
	return p.answerToken(next)
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
func (p *Platform) DeleteToken(ctx context.Context, id edge.TokenID) error {
	if _, err := p.enterToken(ctx, "DELETE "+edge.TokenPath(id), id); err != nil {
		return err
	}
	defer p.mu.Unlock()
	p.state.TokensMade = p.tokensMade()
	p.state.Tokens = slices.DeleteFunc(p.state.Tokens, func(t SeedToken) bool { return t.ID == string(id) })
	return nil
}

// RollToken gives a token another secret; the old one is dead at once.
func (p *Platform) RollToken(ctx context.Context, id edge.TokenID) (edge.Secret, error) {
	t, err := p.enterToken(ctx, "PUT "+edge.TokenValuePath(id), id)
	if err != nil {
		return edge.Secret{}, err
	}
	defer p.mu.Unlock()
	// The secret that there was is in the seed of the next, so none returns.
	t.Value = tokenValue(t.ID + " after " + t.Value)
	t.ModifiedOn = p.now().UTC().Format(tokenTime)
	return edge.NewSecret(t.Value), nil
}
