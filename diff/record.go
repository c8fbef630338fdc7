package diff

import (
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// TokenRecord is what the ledger has of one attempt to create a token.
// The reference shows no way to read tokens: where the platform has none beyond
// it, these records are all that is known of them.
type TokenRecord struct {
	Intent string // identifies the attempt: 16 hex digits
	Key    string // of the declaration
	// Owner is the account that owns the token; empty: the user of the credential does.
	Owner edge.AccountID
	State TokenState
	ID    edge.TokenID   // once created
	Spec  edge.TokenSpec // the body that was sent
	// Hash is of the specification as declared. A window that was computed and a
	// suffix of the name are in Spec and not in Hash. It is [Undeclared] while nothing declares the token.
	Hash      string
	Sink      *desired.Sink
	Delivered bool // the secret reached its sink, or a person's hands
	// Prune says that the declaration, when last seen, allowed Seawall to delete
	// the token once nothing declares it.
	Prune  bool
	Reason string
	At     time.Time // when the attempt began
	// Lifetime and Every are those of the rotation that made it, and zero where its window
	// was declared, was changed since, or where that was not recorded.
	Lifetime, Every time.Duration
}

// undeclared comes in front of the hash of a token that nothing declares.
const undeclared = "-"

// Undeclared is the hash on record of a token that nothing declares any more: what is declared later is
// not what follows it.
func Undeclared(hash string) string { return undeclared + Declared(hash) }

// Declared is the hash that a token had when it was declared last.
func Declared(hash string) string { return strings.TrimPrefix(hash, undeclared) }

// TokenInUse is the token that counts for a declaration.
type TokenInUse struct {
	TokenRecord
	Ends time.Time // zero: never, or not known
	Due  time.Time // when its successor is; zero: none is made by itself
}

// TokenState is how far an attempt came.
type TokenState string

// The states of an attempt. An attempt begins as intended, before anything is
// sent. It ends confirmed when the platform answered with the token; a refusal
// that is certain removes it. Whatever else happened, it is quarantined: a token
// may exist whose secret nobody has. A person resolves that, or a platform that
// lists its tokens.
const (
	TokenIntended    TokenState = "intended"
	TokenConfirmed   TokenState = "confirmed"
	TokenQuarantined TokenState = "quarantined"
)

// TokensLive is what is known of tokens.
type TokensLive struct {
	// Records are all attempts, oldest first.
	Records []TokenRecord
	// Unknown says why nothing may be concluded from Records: there is no ledger,
	// or nobody has said yet that it is complete. Empty: they are complete.
	Unknown string
	Hint    string
	// Elsewhere is another process that works on tokens, by its name: what is known counts, and what
	// differs is that one's to change. Empty: this process may. Hint is for both.
	Elsewhere string
	// Owners are what the platform says of the tokens of each owner. Of one that is not
	// in it nothing was asked.
	Owners map[edge.AccountID]OwnerLive
}

// OwnerLive is what is known, beside the ledger, of the tokens of one owner: of an
// account, or of the user of the credential.
type OwnerLive struct {
	Account string // the key of the account; empty for the user, and one that is not declared
	// Unknown says why nothing may be concluded about the tokens of this owner.
	Unknown string
	Hint    string
	// LeftOut says that the configuration leaves the account out: nothing is planned.
	LeftOut bool
	// Listed is what the platform says of the tokens; nil where it has no call that
	// would tell, which is all the reference shows, or where nobody asked.
	Listed *TokensListed
}

// TokensListed is what a platform says that lists tokens.
type TokensListed struct {
	Tokens map[edge.TokenID]edge.Token // all of the owner's
	Groups Observed[[]edge.PermissionGroup]
	// Credential is the token that the platform was asked with; zero where it does
	// not say. CredentialPath is where it is configured.
	Credential     edge.Token
	CredentialPath string
}

// Of is what is known of the tokens of an owner. What is unknown of all is unknown of
// each.
func (l TokensLive) Of(owner edge.AccountID) OwnerLive {
	of := l.Owners[owner]
	if l.Unknown != "" {
		of.Unknown, of.Hint, of.Listed = l.Unknown, l.Hint, nil
	}
	return of
}

// Has reports whether a token still exists, as far as anybody knows.
func (l TokensLive) Has(r TokenRecord) bool {
	of := l.Of(r.Owner)
	if of.Listed == nil {
		return true
	}
	_, listed := of.Listed.Tokens[r.ID]
	return listed
}

// End is when a token ends: as the platform says, where it lists its tokens, or
// else as it was created; false where it has no end.
func (l TokensLive) End(r TokenRecord) (time.Time, bool) {
	said := r.Spec.ExpiresOn
	if of := l.Of(r.Owner); of.Listed != nil {
		if listed, ok := of.Listed.Tokens[r.ID]; ok {
			said = listed.ExpiresOn
		}
	}
	end, err := time.Parse(time.RFC3339Nano, said)
	return end, err == nil
}

// Over reports whether a token's window has ended. At the zero time none has.
func (l TokensLive) Over(r TokenRecord, now time.Time) bool {
	end, ends := l.End(r)
	return ends && !now.IsZero() && !now.Before(end)
}

// Place is where the secret of a token is, or is to go: nil for nowhere, and once another was
// delivered there.
func (l TokensLive) Place(r TokenRecord) *desired.Sink {
	for _, later := range slices.Backward(l.Records) {
		switch {
		case later.Intent == r.Intent:
			return r.Sink
		case later.Delivered && later.Sink != nil && r.Sink != nil && *later.Sink == *r.Sink:
			return nil
		}
	}
	return r.Sink
}

// Named reports whether the name that was sent carries the attempt.
func (r TokenRecord) Named() bool { return r.Intent != "" && strings.Contains(r.Spec.Name, r.Intent) }

// SettledToken is a token that is as declared, or that nothing declares, to be remembered as such.
type SettledToken struct {
	Intent string
	Spec   edge.TokenSpec
	Hash   string
	Prune  bool
}
