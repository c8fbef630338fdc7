package token

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Calls are what a platform offers for the tokens of one owner: the user of the
// credential, or an account.
type Calls struct {
	// Reader is what a platform offers beyond the reference. Without it the ledger alone is
	// believed, and no token is updated or deleted.
	Reader edge.TokenReader
	Writer edge.TokenWriter // nil: every write fails
	// Credential is where the credential is configured; for the user empty is
	// "credentials.tokens".
	Credential string
	// Observed says that nothing of this owner is written or delivered.
	Observed bool
}

// userCredential is where the credential for the tokens of the user is configured.
const userCredential = "credentials.tokens"

// owner is one owner of tokens, as the work sees it.
type owner struct {
	Calls
	id      edge.AccountID // empty: the user
	account string         // the key of the account
	cache   *ownerCache
}

// ownerCache is what is kept of an owner from one work to the next.
type ownerCache struct {
	unlistedTold bool                           // that the platform does not list the tokens
	groups       cached[[]edge.PermissionGroup] // as last read
	own          cached[edge.Token]             // what the platform said of the credential itself
}

// of is an owner that [Worker.Look] has found; one that it has not can do nothing.
func (w *Worker) of(id edge.AccountID) owner {
	calls, known := w.accounts[id]
	if id == "" {
		calls, known = w.Calls, true
		calls.Credential = cmp.Or(calls.Credential, userCredential)
	}
	if !known {
		calls.Observed = true
	}
	if calls.Writer == nil {
		calls.Writer = noCredential{}
	}
	if w.caches[id] == nil {
		w.caches[id] = &ownerCache{}
	}
	return owner{Calls: calls, id: id, cache: w.caches[id]}
}

// deletes reports whether tokens of this owner can be deleted.
func (o owner) deletes() bool { return o.Writer.Offers(edge.CallDeleteToken, edge.LevelCredential) }

// whose names the owner in messages: "of account prod".
func (o owner) whose() string {
	if o.id == "" {
		return "of the platform"
	}
	return "of account " + o.account
}

// owners are those whose tokens are declared in scope or on record, the user first. Of
// work on part of the declarations, those are enough that the part is about.
func owners(records []diff.TokenRecord, scope Scope) []edge.AccountID {
	found := map[edge.AccountID]bool{}
	for _, token := range scope.Tokens {
		found[token.Owner] = true
	}
	for _, record := range records {
		if scope.has(record.Key) {
			found[record.Owner] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// lookAt returns what is known of the tokens of one owner. The error is that the
// credential is not accepted, or that the work is to stop.
func (w *Worker) lookAt(ctx context.Context, id edge.AccountID, records []diff.TokenRecord, scope Scope) (diff.OwnerLive, error) {
	live := diff.OwnerLive{}
	if id != "" {
		a, declared := scope.account(id)
		delete(w.accounts, id)
		live.Account = a.Key
		switch {
		case !declared:
			live.LeftOut = scope.ownedBy(id)
			return live, nil
		case w.Accounts == nil:
			return live, nil
		}
		calls, err := w.Accounts(a)
		if err != nil {
			live.Unknown, live.Hint = err.Error(), hintOf(err)
			return live, nil
		}
		w.accounts[id] = calls
	}
	o := w.of(id)
	if o.account = live.Account; o.Reader == nil {
		return live, nil
	}
	return w.list(ctx, o, live, ofOwner(id, records), scope.Tokens)
}

func ofOwner(id edge.AccountID, records []diff.TokenRecord) []diff.TokenRecord {
	return slices.DeleteFunc(slices.Clone(records), func(r diff.TokenRecord) bool { return r.Owner != id })
}

// hintOf is what an error has to tell beside itself.
func hintOf(err error) string {
	if named := (*diff.NameError)(nil); errors.As(err, &named) {
		return named.Hint
	}
	if missing := (*MissingCredentialError)(nil); errors.As(err, &missing) {
		return missing.Hint
	}
	return ""
}

// MissingCredentialError says that there is no credential for the tokens of an account,
// or no call on them.
type MissingCredentialError struct{ Reason, Hint string }

func (e *MissingCredentialError) Error() string { return e.Reason }

// account is the account of an id; false where none is declared, or it is left out.
func (s Scope) account(id edge.AccountID) (desired.Account, bool) {
	i := slices.IndexFunc(s.Accounts, func(a desired.Account) bool { return a.ID == id || a.ID == "" && desired.SoughtAccount(a.Key) == id })
	if i < 0 {
		return desired.Account{}, false
	}
	return s.Accounts[i], true
}

// ownedBy reports whether a declared token has this owner.
func (s Scope) ownedBy(id edge.AccountID) bool {
	return slices.ContainsFunc(s.Tokens, func(t desired.Token) bool { return t.Owner == id })
}

// cached is a value that changes with releases of the platform and no more often:
// it is read once an hour.
type cached[T any] struct {
	value T
	at    time.Time // when it was read; zero for not yet
}

// cachedFor is how long such a value is believed.
const cachedFor = time.Hour

func (c *cached[T]) get(now func() time.Time, read func() (T, error)) (T, error) {
	if age := now().Sub(c.at); !c.at.IsZero() && age >= 0 && age < cachedFor {
		return c.value, nil
	}
	value, err := read()
	if err == nil {
		c.value, c.at = value, now()
	}
	return value, err
}
