package diff

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// TokenRecord is what the ledger remembers of one attempt to create a token.
// The reference shows no way to read tokens, so these records are all that is
// known of them.
type TokenRecord struct {
	Intent string // identifies the attempt: 16 hex digits
	Key    string // of the declaration
	State  TokenState
	ID     edge.TokenID   // once created
	Spec   edge.TokenSpec // the body that was sent
	// Hash is of the specification as declared. A window that was computed and a
	// suffix of the name are in Spec and not in Hash.
	Hash      string
	Sink      *desired.Sink
	Delivered bool // the secret reached its sink, or a person's hands
	// Prune says that the declaration, when last seen, allowed Seawall to delete
	// the token once nothing declares it.
	Prune  bool
	Reason string
	At     time.Time // when the attempt began
}

// TokenState is how far an attempt came.
type TokenState string

// The states of an attempt. An attempt begins as intended, before anything is
// sent. It ends confirmed when the platform answered with the token; a refusal
// that is certain removes it. Whatever else happened, it is quarantined until a
// person resolves it: a token may exist whose secret nobody has.
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
	// Platform is what the platform says of tokens; nil where it has no call that
	// would tell, which is all the reference shows, or where nobody asked.
	Platform *TokensListed
}

// TokensListed is what a platform says that lists tokens.
type TokensListed struct {
	Tokens map[edge.TokenID]edge.Token // all of the calling user's
	Groups Observed[[]edge.PermissionGroup]
	// Credential is the token that the platform was asked with; zero where it does
	// not say.
	Credential edge.Token
}

// has reports whether a token still exists, as far as anybody knows.
func (l TokensLive) has(r TokenRecord) bool {
	if l.Platform == nil {
		return true
	}
	_, listed := l.Platform.Tokens[r.ID]
	return listed
}

// SettledToken is a token that is as declared, to be remembered as such.
type SettledToken struct {
	Intent string
	Spec   edge.TokenSpec
	Hash   string
	Prune  bool
}
