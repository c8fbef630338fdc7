package setup

import (
	"context"
	"errors"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	difftoken "github.com/seawall-dev/seawall/diff/token"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// withTokens adds what tokens take: a memory, sinks, and a platform seen with a
// credential of its own. A plan needs that one only for a platform that lists its
// tokens, and gets no more of it than reading.
func (a *Assembly) withTokens(s Settings, memory *ledger.Ledger, why Purpose) error {
	if s.Guards.Observing && why.writes() {
		why = toObserve // tokens are in no account
	}
	a.observesTokens = why == toObserve
	sinks, err := NewSinks(s.Sinks)
	if err != nil {
		return err
	}
	a.Tokens = token.Config{
		Memory: memory, Sinks: sinks, NameSuffix: diff.NameSuffix(s.Config.Tokens.NameSuffix),
		CreatesTokens: difftoken.CreatesTokens(s.Config.Tokens.CreatingGroups), Now: time.Now, Log: a.Log,
	}
	if why != ToPlan {
		a.Tokens.Memory = lockedTokens{memory}
	}
	if why == toObserve {
		a.Tokens.Sinks = checkedSinks{sinks}
	}
	if s.Credentials.Tokens == nil || !why.writes() && !s.Platform.Extended() {
		return nil
	}
	platform, err := client.New(s.ClientConfig(*s.Credentials.Tokens, a.Log))
	if err != nil {
		return err
	}
	rulesets := a.Requests
	a.Requests = func() int64 { return rulesets() + platform.Requests() }
	if s.Platform.Extended() {
		a.Tokens.Reader = edge.ReadOnlyTokens(platform)
	}
	if !why.writes() {
		return nil
	}
	a.Tokens.Creator = platform
	if s.Platform.Extended() {
		a.Tokens.Writer = platform
	}
	return nil
}

// checkedSinks check what a secret could go to, and take none.
type checkedSinks struct {
	check interface{ Check(sink desired.Sink) error }
}

func (s checkedSinks) Check(sink desired.Sink) error { return s.check.Check(sink) }

func (checkedSinks) Deliver(context.Context, desired.Sink, edge.Secret) error {
	return edge.ErrReadOnly
}

// lockedTokens is a ledger's tokens for a process that may create some: one
// process at a time.
type lockedTokens struct{ *ledger.Ledger }

// Tokens takes the lock, keeps it, and reads. While another process has it
// nothing can be concluded from what is on record.
func (l lockedTokens) Tokens(ctx context.Context) (diff.TokensLive, error) {
	err := l.LockTokens()
	if errors.Is(err, ledger.ErrHeld) {
		return diff.TokensLive{Unknown: err.Error(), Hint: "let that process manage the tokens, or stop it"}, nil
	}
	if err != nil {
		return diff.TokensLive{}, err
	}
	return l.Ledger.Tokens(ctx)
}
