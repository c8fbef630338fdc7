package diff

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

// Followed is the token whose place a creation takes: all by which it is decided whether
// the creation only renews it.
type Followed struct {
	Owner edge.AccountID
	Sink  *desired.Sink
	Hash  string // of its specification as declared; see [TokenRecord]
	// Lifetime and Every are those of the rotation that made it; zero: none did.
	Lifetime, Every time.Duration
	// Spec is what it may do: as the platform says, where it lists its tokens, or else as
	// it was created.
	Spec edge.TokenSpec
	// Stopped says that somebody disabled or deleted it on the platform, or brought its end forward.
	Stopped bool
}

// Timely implements [Operation]: a creation makes nothing but the next token of a rotation, with the
// same owner, specification, place of the secret and schedule, and no right that the token
// before it has not. Such a creation comes with time and not with a decision. The action
// does not count, nor does anything else that a declaration may choose.
func (c Creation) Timely() bool {
	f := c.Follows
	return f != nil && !f.Stopped && c.Owner == f.Owner && c.Hash == f.Hash &&
		c.Lifetime > 0 && c.Lifetime == f.Lifetime && c.Every == f.Every &&
		c.Sink != nil && f.Sink != nil && *c.Sink == *f.Sink && !widens(f.Spec, c.Spec)
}

// widens reports whether a token may do more than another, whenever each of them ends.
func widens(before, after edge.TokenSpec) bool {
	before.ExpiresOn, after.ExpiresOn = "", ""
	for _, change := range access.Diff(before, after) {
		if change.Direction == access.Weakens {
			return true
		}
	}
	return false
}
