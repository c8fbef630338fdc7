package client

import (
	"context"
	"fmt"
	"net/http"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
)

// tokenCalls are the calls on the tokens of the calling user, which a [Client] has
// itself, or on those of an account; see [Client.AccountTokens].
type tokenCalls struct {
	c    *Client
	base string // the path of the list
}

// AccountTokens returns the calls on the tokens that an account owns.
func (c *Client) AccountTokens(account edge.AccountID) edge.Tokens {
	return tokenCalls{c, edge.AccountTokensPath(account)}
}

// Offers implements [edge.TokenReader].
func (t tokenCalls) Offers(call edge.Call, level edge.Level) bool {
	return t.c.Offers(call, level)
}

// holdsID reports whether the addresses name an account.
func (t tokenCalls) holdsID() bool { return t.base != edge.TokensPath() }

// CreateToken sends one POST, on a connection of its own, and never a second
// one: not after a 429 either, where the caller gets [edge.ErrThrottled] and
// decides. It waits for the budget like every call, and calls what
// [edge.BeforeSend] put into the context after that.
//
// Resource keys go out and come back with the configured vendor's segment, and
// so do those that an error points at. No error quotes the answer: the secret
// may be in it.
func (t tokenCalls) CreateToken(ctx context.Context, spec edge.TokenSpec) (edge.CreatedToken, error) {
	c := t.c
	post := call{name: edge.CallCreateToken, level: edge.LevelCredential, class: create, method: http.MethodPost, path: t.base, tells: true}
	body, err := c.dialect.EncodeSpec(spec)
	if err != nil {
		return edge.CreatedToken{}, fmt.Errorf("%s: %w", post, err)
	}
	post.body = body
	return ask(ctx, c, post, func(r wire.Response) (edge.CreatedToken, error) {
		created, err := c.dialect.DecodeCreated(r)
		return created, c.dialect.TranslateError(err)
	})
}

// creationTransport sends creations and rolls. A connection that was kept open may be
// closed by the other side in the very moment it is used again, and then no one
// knows whether the token, or its new secret, exists: a new one costs a handshake and leaves no such
// doubt. It also keeps the rest of an answer that is longer than it announced
// out of net/http's own log.
//
// A transport of the caller's own making is used as it is.
func creationTransport(general http.RoundTripper) http.RoundTripper {
	known, ok := general.(*http.Transport)
	if !ok {
		return general
	}
	own := known.Clone()
	own.DisableKeepAlives = true
	return own
}
