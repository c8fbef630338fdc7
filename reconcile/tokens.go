package reconcile

import (
	"context"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// TokenMemory remembers tokens, each step before or with the act it is about.
// Every method is durable when it returns. reconcile/ledger implements it.
type TokenMemory interface {
	// Tokens returns what is known of tokens. An attempt that is still intended
	// when no one is creating (the process died between sending and recording)
	// is returned as it is; the caller quarantines it.
	Tokens(ctx context.Context) (diff.TokensLive, error)
	// Intend records an attempt before anything is sent.
	Intend(ctx context.Context, record diff.TokenRecord) error
	// NotCreated removes an attempt of which it is certain that nothing came: it
	// is intended and was refused, or quarantined and the platform has shown, after
	// the last moment at which the request could still take effect, that it has no
	// such token.
	NotCreated(ctx context.Context, intent string) error
	// Quarantine records that the outcome of an attempt is unknown.
	Quarantine(ctx context.Context, intent, reason string) error
	// Confirm seals the secret and records the token's id in one transaction. The
	// attempt is intended, or quarantined and its token was found.
	Confirm(ctx context.Context, intent string, id edge.TokenID, secret edge.Secret) error
	// Sealed opens the secret of a confirmed attempt that is not delivered yet.
	Sealed(ctx context.Context, intent string) (edge.Secret, error)
	// Delivered records that the secret reached its sink, and destroys the sealed
	// copy.
	Delivered(ctx context.Context, intent string) error
	// Amend records the form in which the platform has a confirmed attempt's token
	// now, after an update in place: the body that was sent, and the hash of the
	// specification as declared.
	Amend(ctx context.Context, intent string, spec edge.TokenSpec, hash string) error
	// Prunable records of attempts, in any state, whether their declaration allows
	// the deletion of their tokens once nothing declares them.
	Prunable(ctx context.Context, intents []string, prune bool) error
	// Gone removes a confirmed attempt whose token the platform does not have any
	// more: it was deleted, or its window is over. A sealed copy goes with it, and
	// the sink of earlier ones whose secret its own has replaced there: they must
	// not pass for the token in use.
	Gone(ctx context.Context, intent string) error
}

// Sinks takes secrets to where they are needed.
type Sinks interface {
	// Check reports why a secret for a sink could not be delivered, as far as that
	// can be told before there is one: an unknown sink, a key that leaves it.
	Check(sink desired.Sink) error
	// Deliver hands a secret over, and reads it back where the sink can be read.
	// Delivering the same secret again is harmless.
	Deliver(ctx context.Context, sink desired.Sink, secret edge.Secret) error
}

// SinkError is a secret that a sink has not taken.
type SinkError struct {
	Sink string // its name in the configuration
	Err  error
}

func (e *SinkError) Error() string { return e.Err.Error() }
func (e *SinkError) Unwrap() error { return e.Err }
