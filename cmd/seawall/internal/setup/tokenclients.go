package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/reconcile/directory"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// TokenCredential is a credential for tokens as it is configured.
type TokenCredential struct {
	Path    string // in the configuration
	Ref     schema.SecretRef
	BaseURL string
	budget  schema.Budget
}

func (c TokenCredential) same(other TokenCredential) bool {
	return c.Ref == other.Ref && c.BaseURL == other.BaseURL
}

// TokenCredentials are the credentials for tokens, each once; that of the top level is the
// first. Accounts that are left out have none.
func (s Settings) TokenCredentials() (list []TokenCredential) {
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
func (s Settings) TokenCredentialOf(account string) (TokenCredential, bool) {
	a, configured := s.Credentials.Accounts[account]
	switch {
	case !configured && s.Credentials.Tokens != nil:
		return s.topTokenCredential(), true
	case !configured, a.Skip, a.Tokens == nil:
		return TokenCredential{}, false
	}
	return TokenCredential{Path: a.TokensPath, Ref: *a.Tokens, BaseURL: a.BaseURL, budget: a.Budget}, true
}

func (s Settings) topTokenCredential() TokenCredential {
	return TokenCredential{Path: tokensPath, Ref: *s.Credentials.Tokens, BaseURL: s.Platform.BaseURL, budget: s.Budget}
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
	list     []TokenCredential
	clients  []*client.Client // of each
}

func (s Settings) tokenClients(why Purpose, log *slog.Logger) (tokenClients, error) {
	t := tokenClients{settings: s, why: why}
	if !why.writes() && !s.Platform.Extended() {
		return t, nil
	}
	for _, c := range s.TokenCredentials() {
		of := s.With(Lane{BaseURL: c.BaseURL, Budget: c.budget})
		of.why = why
		platform, err := client.New(of.ClientConfig(c.Ref, log))
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
	calls := token.Calls{Credential: tokensPath, Observed: t.settings.Guards.Observing}
	if t.settings.Credentials.Tokens == nil || len(t.clients) == 0 {
		return calls
	}
	return t.offered(calls, t.clients[0])
}

// account are the calls on the tokens that an account owns.
func (t tokenClients) account(a desired.Account) (token.Calls, error) {
	platform, path, err := t.clientOf(a.Key)
	if err != nil {
		return token.Calls{}, err
	}
	calls := token.Calls{Credential: path, Observed: t.settings.Guards.Observing}
	if own, ok := t.settings.Credentials.Accounts[a.Key]; ok {
		calls.Observed = own.Observing
	}
	return t.offered(calls, accountTokens{platform.AccountTokens(a.ID), platform}), nil
}

// offered adds to calls what may be used of a platform.
func (t tokenClients) offered(calls token.Calls, platform edge.Tokens) token.Calls {
	if t.settings.Platform.Extended() {
		calls.Reader = edge.ReadOnlyTokens(platform)
	}
	if !t.why.writes() || calls.Observed {
		return calls
	}
	calls.Writer = platform
	return calls
}

// clientOf is the client for the tokens of an account, by the account's key, and where its
// credential is configured.
func (t tokenClients) clientOf(key string) (*client.Client, string, error) {
	if !t.settings.Platform.Extended() {
		return nil, "", &token.MissingCredentialError{
			Reason: `platform.profile "documented" has no call on the tokens of accounts`,
			Hint:   `set platform.profile to "extended" or platform.preset to "cloudflare"; or remove account from the declaration`,
		}
	}
	if c, ok := t.settings.TokenCredentialOf(key); ok {
		if i := slices.IndexFunc(t.list, c.same); i >= 0 {
			return t.clients[i], c.Path, nil
		}
	}
	return nil, "", &token.MissingCredentialError{
		Reason: "there is no credential for the tokens of account " + key,
		Hint:   fmt.Sprintf("set credentials.tokens or accounts.%s.credentials.tokens in the configuration", key),
	}
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
	if o.Dir != "" && o.Config == "" && os.Getenv("SEAWALL_CONFIG") == "" {
		return state, nil
	}
	err := ReadLedger(t, o, func(memory *ledger.Ledger) error {
		names := directory.New(directory.Config{Memory: memory, ReadOnly: true, Now: time.Now})
		if err := names.Recall(ctx); err != nil {
			return err
		}
		state = names.Resolve(state)
		return nil
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

// AccountOf is the account of a state that is wanted, with its id: the declared one, or the
// one that its name was found to have. It is nil where wanted is.
func AccountOf(ctx context.Context, memory *ledger.Ledger, state desired.State, wanted func(desired.Account) bool) (*desired.Account, error) {
	if wanted == nil {
		return nil, nil
	}
	names := directory.New(directory.Config{Memory: memory, ReadOnly: true, Now: time.Now})
	if err := names.Recall(ctx); err != nil {
		return nil, err
	}
	accounts := names.Resolve(state).Accounts
	i := slices.IndexFunc(accounts, wanted)
	if i < 0 {
		return nil, errors.New("the account is not declared")
	}
	if desired.Sought(accounts[i].ID) {
		return nil, cli.Fail(fmt.Errorf("the id of account %s is not known yet", accounts[i].Key),
			"declare it, or let seawall apply or the daemon find it by its name first")
	}
	return &accounts[i], nil
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
