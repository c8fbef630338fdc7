package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// withTokens adds what tokens take: a memory, sinks, and a platform seen with a
// credential of its own. A plan needs that one only for a platform that lists its
// tokens, and gets no more of it than reading.
func (a *assembly) withTokens(s settings, memory *ledger.Ledger, why purpose, log *slog.Logger) error {
	sinks, err := newSinks(s.Sinks)
	if err != nil {
		return err
	}
	a.Tokens, a.Sinks = memory, sinks
	if why != toPlan {
		a.Tokens = lockedTokens{memory}
	}
	a.NameSuffix = diff.NameSuffix(s.Config.Tokens.NameSuffix)
	a.CreatesTokens = diff.CreatesTokens(s.Config.Tokens.CreatingGroups)
	if s.Credentials.Tokens == nil || why == toPlan && !s.Platform.Extended() {
		return nil
	}
	platform, err := client.New(s.client(*s.Credentials.Tokens, log))
	if err != nil {
		return err
	}
	rulesets := a.Requests
	a.Requests = func() int64 { return rulesets() + platform.Requests() }
	if s.Platform.Extended() {
		a.TokenReader = edge.ReadOnlyTokens(platform)
	}
	if why == toPlan {
		return nil
	}
	a.Creator = platform
	if s.Platform.Extended() {
		a.TokenWriter = platform
	}
	return nil
}

// tokenWorker does the token work of the daemon, nil where there is no ledger.
func (a *assembly) tokenWorker() *token.Worker {
	if a.Reconciler.Tokens == nil {
		return nil
	}
	return token.New(token.Config{
		Memory: a.Reconciler.Tokens, Creator: a.Creator, Reader: a.TokenReader, Writer: a.TokenWriter, Sinks: a.Sinks,
		NameSuffix: a.NameSuffix, CreatesTokens: a.CreatesTokens, Now: time.Now, Log: a.Log,
	})
}

// lockedTokens is a ledger's tokens for a process that may create some: one
// process at a time.
type lockedTokens struct{ *ledger.Ledger }

// Tokens takes the lock, keeps it, and reads. While another process has it
// nothing can be concluded from what is on record.
func (l lockedTokens) Tokens(ctx context.Context) (diff.TokensLive, error) {
	err := l.LockTokens()
	if errors.Is(err, ledger.ErrHeld) {
		return diff.TokensLive{Unknown: err.Error(), Hint: "leave tokens to that process, or stop it"}, nil
	}
	if err != nil {
		return diff.TokensLive{}, err
	}
	return l.Ledger.Tokens(ctx)
}
