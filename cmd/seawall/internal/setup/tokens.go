package setup

import (
	"context"
	"errors"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/lease"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// withTokens adds what tokens take: a memory, sinks, and a platform seen with
// credentials of their own. A plan needs these only for a platform that lists its
// tokens, and gets no more of them than reading.
func (a *Assembly) withTokens(s Settings, memory *ledger.Ledger, why Purpose) error {
	if why.writes() && !s.writesTokens() {
		why = toObserve
	}
	a.observesTokens = why == toObserve
	sinks, err := NewSinks(s.Sinks)
	if err != nil {
		return err
	}
	a.Tokens = token.Config{
		Memory: memory, Sinks: sinks, NameSuffix: diff.NameSuffix(s.Config.Tokens.NameSuffix),
		CreatingGroups: s.Config.Tokens.CreatingGroups, Now: time.Now, Log: a.Log,
	}
	if why != ToPlan {
		a.Tokens.Memory = lockedTokens{memory, why == ToApply && memory.Database() != nil}
	}
	if why == toObserve {
		a.Tokens.Sinks = checkedSinks{sinks}
	}
	clients, err := s.tokenClients(why, a.Log)
	if err != nil {
		return err
	}
	rulesets := a.Requests
	a.Requests = func() int64 { return rulesets() + clients.Requests() }
	a.Tokens.Calls = clients.user()
	a.Tokens.Accounts = func(account desired.Account) (token.Calls, error) {
		if err := a.Names.CheckAccount(account); err != nil {
			return token.Calls{}, err
		}
		return clients.account(account)
	}
	return nil
}

// tokensOfFolder lets a plan of a folder know the tokens that the configured ledger has,
// which it only reads. An apply does not: tokens are created from the repository alone.
func (a *Assembly) tokensOfFolder(ctx context.Context, s Settings, why Purpose) error {
	none := func(why, hint string) {
		a.Tokens = token.Config{Memory: token.NoLedger{Why: why, Hint: hint}, Now: time.Now, Log: a.Log}
	}
	switch {
	case s.Source.URL == "" || why.serves():
		return nil
	case why != ToPlan:
		none("tokens are created from git alone, not from --dir", "push, and run seawall apply without --dir")
		return nil
	}
	memory, err := s.OpenLedgerReadOnly(ctx)
	if err != nil {
		none("tokens are not compared: "+err.Error(), "run the command as a user who may read state.dir")
		return nil //nolint:nilerr // the plan says so of each token, and goes on with the zones
	}
	a.onClose(func() { _ = memory.Close() })
	return a.withTokens(s, memory, why)
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
// process at a time. beside says that a replica may have them, which leaves on record whatever it does:
// then they are compared, and nothing about them is sent.
type lockedTokens struct {
	*ledger.Ledger
	beside bool
}

// Else requests of a command would be under no lease.
var _ token.Leasing = lockedTokens{}

// Tokens takes the lock, keeps it, and reads. While another process than a replica has it
// nothing can be concluded from what is on record.
func (l lockedTokens) Tokens(ctx context.Context) (diff.TokensLive, error) {
	err := l.LockTokens(ctx)
	if errors.Is(err, ledger.ErrHeld) {
		if l.beside {
			return l.besideReplica(ctx)
		}
		hint := "let that process manage the tokens, or stop it"
		if l.Database() != nil {
			hint = "leave the tokens to that replica, which creates and changes them by itself"
		}
		return diff.TokensLive{Unknown: err.Error(), Hint: hint}, nil
	}
	if err != nil {
		return diff.TokensLive{}, err
	}
	return l.Ledger.Tokens(ctx)
}

// besideReplica is what is on record while a replica works on tokens.
func (l lockedTokens) besideReplica(ctx context.Context) (diff.TokensLive, error) {
	live, err := l.Ledger.Tokens(ctx)
	if err != nil || live.Unknown != "" {
		return live, err
	}
	look, err := lease.LookAt(ctx, l.Database())
	if err != nil {
		return live, err
	}
	live.Elsewhere = "another process"
	for _, one := range look.Leases {
		if one.Name == reconcile.LeaseTokens && !one.Free {
			live.Elsewhere = one.Replica
		}
	}
	live.Hint = "a replica makes it unless a guard holds it: see seawall status there"
	return live, nil
}
