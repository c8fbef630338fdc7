package mem

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// MaxTokens is how many tokens a user can have, without the quirk quota, and
// MaxAccountTokens how many an account can have.
const (
	MaxTokens        = 50
	MaxAccountTokens = 500
)

// SecretPrefix begins the value of every token that a platform in memory made.
const SecretPrefix = "sim-token-"

// TokenCalls are the calls on the tokens of the calling user, which a [Platform]
// has itself, or on those of an account; see [Platform.AccountTokens]. They are an
// [edge.Tokens].
type TokenCalls struct {
	p       *Platform
	account edge.AccountID // empty: the user
}

// AccountTokens returns the calls on the tokens of an account.
func (p *Platform) AccountTokens(account edge.AccountID) TokenCalls { return TokenCalls{p, account} }

// Offers is true for the calls of the profile; the reference shows none for accounts but
// that of a creation.
func (t TokenCalls) Offers(call edge.Call, level edge.Level) bool { return t.p.Offers(call, level) }

// path is the path of the list of tokens.
func (t TokenCalls) path() string { return edge.OwnedTokensPath(t.account) }

// CreateToken is [TokenCalls.CreateTokenJSON] with the encoding of spec, after what
// [edge.BeforeSend] put into the context.
func (t TokenCalls) CreateToken(ctx context.Context, spec edge.TokenSpec) (edge.CreatedToken, error) {
	data, err := json.Marshal(spec)
	if err != nil {
		return edge.CreatedToken{}, fmt.Errorf("encoding the token: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return edge.CreatedToken{}, err
	}
	if err := edge.Sending(ctx); err != nil {
		return edge.CreatedToken{}, err
	}
	return t.CreateTokenJSON(ctx, data)
}

// CreateTokenJSON creates a token from a request body as it came over the wire,
// resource keys with the segment "vendor". It exists beside CreateToken because
// an empty address list denies everything and a missing one nothing, and an
// [edge.TokenSpec] cannot say the first.
//
// The answer is the token as the platform keeps it: with an id, status and
// times, groups in the order of their ids with the names that the seed knows,
// and policies with ids of their own, in the order of those. The next creation
// with the same body makes another token.
func (t TokenCalls) CreateTokenJSON(ctx context.Context, body []byte) (edge.CreatedToken, error) {
	p, call := t.p, "POST "+t.path()
	if err := t.open(ctx, call, t.account != ""); err != nil {
		return edge.CreatedToken{}, err
	}
	defer p.mu.Unlock()
	request, details := t.read(body)
	if most := t.quota(); len(details) == 0 && t.count() >= most {
		details = []edge.ErrorDetail{problem(0, "", "the %s has %d tokens already, the most there can be is %d", t.kind(), t.count(), most)}
	}
	if len(details) > 0 {
		return edge.CreatedToken{}, invalid(call, details)
	}
	token, err := t.newToken(request)
	if err != nil {
		return edge.CreatedToken{}, err
	}
	token.Account = t.account
	p.state.Tokens = append(p.state.Tokens, token)
	if p.state.TokensMade > 0 {
		p.state.TokensMade++
	}
	answer, err := t.answerToken(token)
	return edge.CreatedToken{Token: answer, Value: edge.NewSecret(token.Value)}, err
}

// read reads the body of a token, or says everything that is wrong with it.
func (t TokenCalls) read(body []byte) (tokenRequest, []edge.ErrorDetail) {
	request, details := readTokenRequest(body, t.p.state.User)
	if len(details) == 0 {
		details = t.p.checks.token(request.TokenSpec, t.account)
	}
	return request, details
}

// owns reports whether a token is one of these.
func (t TokenCalls) owns(token SeedToken) bool { return token.Account == t.account }

func (t TokenCalls) count() int {
	n := 0
	for _, token := range t.p.state.Tokens {
		if t.owns(token) {
			n++
		}
	}
	return n
}

// kind names the owner for people.
func (t TokenCalls) kind() string {
	if t.account != "" {
		return "account"
	}
	return "user"
}

func (t TokenCalls) quota() int {
	if t.account != "" {
		return MaxAccountTokens
	}
	return t.p.behaviour.quota
}

// tokensMade is how many tokens there ever were. The state says it itself once
// one is gone.
func (t TokenCalls) tokensMade() int { return max(t.p.state.TokensMade, len(t.p.state.Tokens)) }

// newToken makes the record of a token. Ids and secrets are the same in every
// run: they follow from how many tokens there were.
func (t TokenCalls) newToken(r tokenRequest) (SeedToken, error) {
	seed := fmt.Sprint("token ", t.tokensMade(), " ", r.Name)
	for t.hasToken(tokenID(seed), tokenValue(seed)) {
		seed += "'"
	}
	token := SeedToken{
		ID: tokenID(seed), Name: r.Name, Value: tokenValue(seed), Status: "active",
		NotBefore: r.NotBefore, ExpiresOn: r.ExpiresOn, Condition: r.Condition,
	}
	token.IssuedOn = t.p.now().UTC().Format(tokenTime)
	token.ModifiedOn = token.IssuedOn
	var err error
	token.Policies, err = t.keepPolicies(r.Policies, token.ID)
	return token, err
}

// keepPolicies returns policies as the platform keeps them: with ids of their
// own, which follow from seed, in the order of those.
func (t TokenCalls) keepPolicies(policies []edge.Policy, seed ...string) (json.RawMessage, error) {
	for i := range policies {
		policies[i].ID = derivedID[string](append(slices.Clone(seed), fmt.Sprint("policy ", i))...)
		t.fillGroups(policies[i].PermissionGroups)
	}
	slices.SortFunc(policies, func(a, b edge.Policy) int { return strings.Compare(a.ID, b.ID) })
	return json.Marshal(policies)
}

func tokenID(seed string) string    { return derivedID[string](seed, "id") }
func tokenValue(seed string) string { return SecretPrefix + derivedID[string](seed, "value") }

func (t TokenCalls) hasToken(id, value string) bool {
	return slices.ContainsFunc(t.p.state.Tokens, func(token SeedToken) bool { return token.ID == id || token.Value == value })
}

// fillGroups sorts groups and tells of each what the seed knows.
func (t TokenCalls) fillGroups(groups []edge.PermissionGroup) {
	slices.SortFunc(groups, func(a, b edge.PermissionGroup) int { return strings.Compare(a.ID, b.ID) })
	for i := range groups {
		for _, known := range t.p.state.PermissionGroups {
			if known.ID == groups[i].ID {
				groups[i].Name, groups[i].Scopes, groups[i].Meta = known.Name, slices.Clone(known.Scopes), bytes.Clone(known.Meta)
			}
		}
	}
}

// Spec is what the token was asked to be, in the nouns of package edge.
func (t SeedToken) Spec() (edge.TokenSpec, error) {
	spec := edge.TokenSpec{Name: t.Name, NotBefore: t.NotBefore, ExpiresOn: t.ExpiresOn}
	if len(t.Policies) > 0 {
		if err := json.Unmarshal(t.Policies, &spec.Policies); err != nil {
			return spec, fmt.Errorf("reading the policies: %w", err)
		}
	}
	if len(t.Condition) > 0 {
		if err := json.Unmarshal(t.Condition, &spec.Condition); err != nil {
			return spec, fmt.Errorf("reading the condition: %w", err)
		}
	}
	return spec, nil
}

// Tokens returns all tokens with their values, oldest first.
func (p *Platform) Tokens() []SeedToken {
	p.mu.Lock()
	defer p.mu.Unlock()
	return clone(p.state.Tokens)
}

// TokenByValue returns the token that a secret belongs to, and what it may as
// its policies say, with the scopes of groups that the seed knows.
func (p *Platform) TokenByValue(value edge.Secret) (token SeedToken, spec edge.TokenSpec, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.withValue(value)
	if i < 0 {
		return SeedToken{}, edge.TokenSpec{}, false
	}
	token = clone(p.state.Tokens[i])
	spec, err := token.Spec()
	for _, policy := range spec.Policies {
		p.fillGroups(policy.PermissionGroups)
	}
	return token, spec, err == nil
}

// TokenID is the id of the token that a secret belongs to, empty where there is none.
func (p *Platform) TokenID(value edge.Secret) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := p.withValue(value); i >= 0 {
		return p.state.Tokens[i].ID
	}
	return ""
}

// withValue is the place of such a token, -1 where there is none. The caller has the lock.
func (p *Platform) withValue(value edge.Secret) int {
	return slices.IndexFunc(p.state.Tokens, func(t SeedToken) bool { return t.Value != "" && t.Value == value.Reveal() })
}

// ConditionKey is how the key of a token's condition was spelt when it was sent; empty where
// it has none.
func (p *Platform) ConditionKey(id edge.TokenID) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, token := range p.state.Tokens {
		var condition map[string]json.RawMessage
		if token.ID == string(id) && json.Unmarshal(token.Condition, &condition) == nil {
			for key := range condition { // there is one at most
				return key
			}
		}
	}
	return ""
}

// unnamed is an endpoint without the names of its parameters.
func unnamed(endpoint string) string {
	var b strings.Builder
	for {
		before, rest, _ := strings.Cut(endpoint, "{")
		_, after, closed := strings.Cut(rest, "}")
		if !closed {
			return b.String() + endpoint
		}
		b.WriteString(before + "{}")
		endpoint = after
	}
}

// permissions is what each endpoint needs, by it without those names. Of two that are then alike, the
// first in their order counts.
func permissions(seed map[string]string) map[string]string {
	all := map[string]string{}
	for _, said := range slices.Backward(sortedKeys(seed)) {
		all[unnamed(said)] = seed[said]
	}
	return all
}

// Permission returns the permission group that an endpoint needs, "METHOD
// /path/{id}", by the seed's own word; empty when it says nothing of it. How the
// parameters of a path are called does not matter.
func (p *Platform) Permission(endpoint string) string { return p.permissions[unnamed(endpoint)] }

// User returns the tag of the user whose tokens these are, empty when the seed
// does not say it.
func (p *Platform) User() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.User
}

// SeedZone returns a zone as the seed has it, without its entry point, and
// whether there is one.
func (p *Platform) SeedZone(id edge.ZoneID) (SeedZone, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	z := p.zone(id)
	if z == nil {
		return SeedZone{}, false
	}
	return SeedZone{ID: z.ID, AccountID: z.AccountID, Name: z.Name}, true
}
