package token

import (
	"context"
	"errors"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// What stands in for collaborators that a worker was not given.

// NoLedger knows of no tokens and says why. Nothing is written where tokens are
// unknown, so it has no other method.
type NoLedger struct {
	reconcile.TokenMemory
	Why, Hint string
}

// Tokens implements [reconcile.TokenMemory].
func (n NoLedger) Tokens(context.Context) (diff.TokensLive, error) {
	return diff.TokensLive{Unknown: n.Why, Hint: n.Hint}, nil
}

// noCredential can write nothing.
type noCredential struct{}

var errNoCredential = errors.New("credentials.tokens is not configured")

func (noCredential) Offers(edge.Call, edge.Level) bool { return false }

func (noCredential) CreateToken(context.Context, edge.TokenSpec) (edge.CreatedToken, error) {
	return edge.CreatedToken{}, errNoCredential
}

func (noCredential) UpdateToken(context.Context, edge.TokenID, edge.Token) (edge.Token, error) {
	return edge.Token{}, errNoCredential
}

func (noCredential) DeleteToken(context.Context, edge.TokenID) error { return errNoCredential }

func (noCredential) RollToken(context.Context, edge.TokenID) (edge.Secret, error) {
	return edge.Secret{}, errNoCredential
}

// noSinks takes no secret.
type noSinks struct{}

var errNoSinks = errors.New("no sinks are configured")

func (noSinks) Check(desired.Sink) error { return errNoSinks }

func (noSinks) Deliver(context.Context, desired.Sink, edge.Secret) error { return errNoSinks }
