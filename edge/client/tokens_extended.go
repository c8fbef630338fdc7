package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

var _ edge.Tokens = (*Client)(nil)

func (t tokenCalls) path(id edge.TokenID) string { return t.base + "/" + url.PathEscape(string(id)) }

// UserToken returns one token.
func (t tokenCalls) UserToken(ctx context.Context, id edge.TokenID) (edge.Token, error) {
	if err := checkTokenID(id); err != nil {
		return edge.Token{}, err
	}
	return t.c.token(ctx, reading(edge.CallUserToken, edge.LevelCredential, t.path(id)), id)
}

// VerifyToken asks what the platform says of the credential.
func (t tokenCalls) VerifyToken(ctx context.Context) (edge.Token, error) {
	verified, err := t.c.token(ctx, reading(edge.CallVerifyToken, edge.LevelCredential, t.base+"/verify"), "")
	if !t.holdsID() {
		err = withoutID(err)
	}
	return verified, err
}

// UpdateToken sends one PUT with the whole of body, but for what the platform
// writes itself.
func (t tokenCalls) UpdateToken(ctx context.Context, id edge.TokenID, body edge.Token) (edge.Token, error) {
	if err := checkTokenID(id); err != nil {
		return edge.Token{}, err
	}
	put := call{name: edge.CallUpdateToken, level: edge.LevelCredential, class: update, method: http.MethodPut, path: t.path(id), tells: true}
	data, err := t.c.dialect.EncodeToken(body.Update(body.TokenSpec))
	if err != nil {
		return edge.Token{}, fmt.Errorf("%s: %w", put, err)
	}
	put.body = data
	return t.c.token(ctx, put, id)
}

// token makes a call that answers with a token; id is which, where that is known.
// Another one than was asked for is no answer.
func (c *Client) token(ctx context.Context, call call, id edge.TokenID) (edge.Token, error) {
	return ask(ctx, c, call, func(r wire.Response) (edge.Token, error) {
		found, err := c.dialect.DecodeToken(r)
		if err == nil && id != "" && found.ID != id {
			err = call.unreadable("the answer is about another token")
		}
		return found, c.dialect.TranslateError(err)
	})
}

// DeleteToken sends one DELETE. An answer without a body is fine.
func (t tokenCalls) DeleteToken(ctx context.Context, id edge.TokenID) error {
	if err := checkTokenID(id); err != nil {
		return err
	}
	gone := call{name: edge.CallDeleteToken, level: edge.LevelCredential, class: remove, method: http.MethodDelete, path: t.path(id), tells: true}
	return t.c.do(ctx, gone, func(r wire.Response) error {
		var ignored any
		return r.DecodeOptional(&ignored)
	})
}

// RollToken sends one PUT, on a connection of its own. No error quotes the
// answer: the secret may be in it.
func (t tokenCalls) RollToken(ctx context.Context, id edge.TokenID) (edge.Secret, error) {
	if err := checkTokenID(id); err != nil {
		return edge.Secret{}, err
	}
	put := call{name: edge.CallRollToken, level: edge.LevelCredential, class: roll, method: http.MethodPut, path: t.path(id) + "/value", body: struct{}{}, tells: true}
	return ask(ctx, t.c, put, wire.DecodeSecret)
}

var tokenIDForm = lazyregexp.New(`^[0-9A-Za-z_-]{1,32}$`)

// checkTokenID refuses what would be another address than a token's: nothing, a
// path, and the two names that stand where an id could.
func checkTokenID(id edge.TokenID) error {
	if !tokenIDForm().MatchString(string(id)) || id == "verify" || id == "permission_groups" {
		return fmt.Errorf("token %q: %w: an id is 1 to 32 letters and digits", id, edge.ErrNotFound)
	}
	return nil
}

// withoutID is for calls whose address holds no id: where that is not found, it
// is the call that is missing. Platforms say it with or without a code.
func withoutID(err error) error {
	var e *edge.Error
	if errors.As(err, &e) && e.Status == http.StatusNotFound {
		return absentCallError{err, e}
	}
	return err
}

// absentCallError is [edge.ErrNotOffered] and nothing else that a 404 could mean.
type absentCallError struct {
	err     error
	failure *edge.Error
}

func (a absentCallError) Error() string        { return a.err.Error() }
func (a absentCallError) Is(target error) bool { return target == edge.ErrNotOffered }

// As keeps the failure at hand: there is no Unwrap, which would make it not found.
func (a absentCallError) As(target any) bool {
	failure, ok := target.(**edge.Error)
	if ok {
		*failure = a.failure
	}
	return ok
}
