package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/reconcile/directory"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// TokenCredentials are the credentials for tokens, each once; that of the top level is the
// first. Accounts that are left out have none.
func (s Settings) TokenCredentials() (list []Credential) {
	if s.Credentials.Tokens != nil {
		list = append(list, s.topTokenCredential())
	}
	for _, key := range slices.Sorted(maps.Keys(s.Credentials.Accounts)) {
		c, ok := s.TokenCredentialOf(key)
		if ok && !slices.ContainsFunc(list, c.same) {
			list = append(list, c)
		}
	}
	return list
}

// TokenCredentialOf is the credential for the tokens that an account owns, by the account's
// key: its own, or that of the top level. False where there is none, or the account is left
// out.
func (s Settings) TokenCredentialOf(account string) (Credential, bool) {
	a, configured := s.Credentials.Accounts[account]
	switch {
	case !configured && s.Credentials.Tokens != nil:
		return s.topTokenCredential(), true
	case !configured, a.Skip, a.Tokens == nil:
		return Credential{}, false
	}
	return Credential{Path: a.TokensPath, Ref: *a.Tokens, BaseURL: a.BaseURL, Budget: a.Budget, Observing: a.Observing}, true
}

func (s Settings) topTokenCredential() Credential {
	return Credential{Path: tokensPath, Ref: *s.Credentials.Tokens, BaseURL: s.Platform.BaseURL, Budget: s.Budget, Observing: s.Guards.Observing}
}

// tokensPath is where the credential for tokens is configured.
const tokensPath = "credentials.tokens"

// writesTokens reports whether the tokens of the user, or of any account, may be written.
func (s Settings) writesTokens() bool {
	for _, a := range s.Credentials.Accounts {
		if !a.Skip && !a.Observing {
			return true
		}
	}
	return !s.Guards.Observing
}

// tokenClients are the clients for tokens, one for each credential.
type tokenClients struct {
	settings Settings
	why      Purpose
	list     []Credential
	clients  []*client.Client // of each
}

func (s Settings) tokenClients(why Purpose, log *slog.Logger) (tokenClients, error) {
	t := tokenClients{settings: s, why: why}
	if !why.writes() && !s.Platform.Extended() {
		return t, nil
	}
	for _, c := range s.TokenCredentials() {
		of := s.with(c)
		of.why = why
		platform, err := client.New(of.clientConfig(c.Ref, s.logOf(c, log)))
		if err != nil {
			return t, fmt.Errorf("%s: %w", c.Path, err)
		}
		t.list, t.clients = append(t.list, c), append(t.clients, platform)
	}
	return t, nil
}

// Requests counts what all of them have sent.
func (t tokenClients) Requests() (sum int64) {
	for _, c := range t.clients {
		sum += c.Requests()
	}
	return sum
}

// user are the calls on the tokens of the user.
func (t tokenClients) user() token.Calls {
	if t.settings.Credentials.Tokens == nil || len(t.clients) == 0 {
		return token.Calls{Credential: tokensPath, Observed: t.settings.Guards.Observing}
	}
	return t.offered(t.list[0], t.clients[0])
}

// account are the calls on the tokens that an account owns.
func (t tokenClients) account(a desired.Account) (token.Calls, error) {
	if !t.settings.Platform.Extended() {
		return token.Calls{}, &token.MissingCredentialError{
			Reason: `platform.profile "documented" has no call on the tokens of accounts`,
			Hint:   `set platform.profile to "extended" or platform.preset to "cloudflare"; or remove account from the declaration`,
		}
	}
	c, ok := t.settings.TokenCredentialOf(a.Key)
	i := slices.IndexFunc(t.list, c.same)
	if !ok || i < 0 {
		return token.Calls{}, &token.MissingCredentialError{
			Reason: "there is no credential for the tokens of account " + a.Key,
			Hint:   fmt.Sprintf("set credentials.tokens or accounts.%s.credentials.tokens in the configuration", a.Key),
		}
	}
	return t.offered(c, accountTokens{t.clients[i].AccountTokens(a.ID), t.clients[i]}), nil
}

// offered are the calls that may be used of a platform with a credential.
func (t tokenClients) offered(c Credential, platform edge.Tokens) token.Calls {
	calls := token.Calls{Credential: c.Path, Observed: c.Observing}
	if t.settings.Platform.Extended() {
		calls.Reader = edge.ReadOnlyTokens(platform)
	}
	if t.why.writes() && !c.Observing {
		calls.Writer = platform
	}
	return calls
}

// TokenReader reads the tokens of an owner: the user, or an account that a state declares.
// The error is [edge.ErrNotOffered] where the platform cannot be asked.
func (s Settings) TokenReader(account *desired.Account) (edge.TokenReader, error) {
	t, err := s.tokenClients(ToPlan, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	calls := t.user()
	if account != nil {
		if calls, err = t.account(*account); err != nil {
			return nil, err
		}
	}
	if calls.Reader == nil {
		return nil, edge.ErrNotOffered
	}
	return calls.Reader, nil
}

// KnownIDs is a state with the ids that the configured ledger has for zones and accounts
// which are declared by their names. Nobody is asked: without a configuration, as beside a
// folder alone, or without a ledger, the state is as it is declared.
func KnownIDs(ctx context.Context, t *cli.Terminal, o Options, state desired.State) (desired.State, error) {
	if o.Dir != "" && !o.NamesConfig() {
		return state, nil
	}
	err := ReadLedger(ctx, t, o, func(memory *ledger.Ledger) (err error) {
		state, err = onRecord(ctx, memory, state)
		return err
	})
	for i := range state.Accounts {
		a := &state.Accounts[i]
		a.ID = desired.Known(a.ID)
		for j := range a.Zones {
			a.Zones[j].Scope = desired.KnownScope(a.Zones[j].Scope)
		}
	}
	return state, err
}

// onRecord is a state with the ids that a ledger has for what is declared by name.
func onRecord(ctx context.Context, memory *ledger.Ledger, state desired.State) (desired.State, error) {
	names := directory.New(directory.Config{Memory: memory, ReadOnly: true, Now: time.Now})
	if err := names.Recall(ctx); err != nil {
		return state, err
	}
	return names.Resolve(state), nil
}

// AccountOf is the account of a state that is wanted, with its id: the declared one, or the
// one that its name was found to have. It is nil where wanted is.
func AccountOf(ctx context.Context, memory *ledger.Ledger, state desired.State, wanted func(desired.Account) bool) (*desired.Account, error) {
	if wanted == nil {
		return nil, nil
	}
	state, err := onRecord(ctx, memory, state)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(state.Accounts, wanted)
	if i < 0 {
		return nil, errors.New("the account is not declared")
	}
	account := &state.Accounts[i]
	if desired.Sought(account.ID) {
		return nil, cli.Fail(fmt.Errorf("the id of account %s is not known yet", account.Key),
			"declare it, or let seawall apply or the daemon find it by its name first")
	}
	return account, nil
}

// accountTokens are the calls on the tokens of an account with a credential that may be a
// token of this account, or of a user.
type accountTokens struct {
	edge.Tokens
	user edge.TokenReader
}

// VerifyToken asks about the credential as a token of the account, and else as one of a
// user: each family tells of its own tokens alone.
func (a accountTokens) VerifyToken(ctx context.Context) (edge.Token, error) {
	own, err := a.Tokens.VerifyToken(ctx)
	for _, other := range []error{edge.ErrUnauthenticated, edge.ErrForbidden, edge.ErrNotFound, edge.ErrNotOffered} {
		if errors.Is(err, other) {
			return a.user.VerifyToken(ctx)
		}
	}
	return own, err
}
