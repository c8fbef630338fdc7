package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// TokenOrder is a person's word about tokens, to be recorded by the process that has their
// lock. Exactly one of its members says what. Its JSON form is for a command and a daemon of
// one version.
type TokenOrder struct {
	Init    bool              `json:"init,omitempty"`    // the ledger has all tokens of its binding
	Adopt   *diff.TokenRecord `json:"adopt,omitempty"`   // a token was made elsewhere, or its end is corrected
	Resolve *Resolved         `json:"resolve,omitempty"` // what became of an attempt
	Revoked edge.TokenID      `json:"revoked,omitempty"` // the token is gone
}

// Resolved is a person's word on the attempt of a declaration.
type Resolved struct {
	Key  string     `json:"key"`
	Word Resolution `json:"word"`
}

// String names what is ordered, for the log.
func (o TokenOrder) String() string {
	switch {
	case o.Init:
		return "init"
	case o.Adopt != nil:
		return fmt.Sprintf("adopt %s %s", o.Adopt.Key, o.Adopt.ID)
	case o.Resolve != nil:
		return fmt.Sprintf("resolve %s by %s", o.Resolve.Key, o.Resolve.Word.How)
	}
	return "revoked " + string(o.Revoked)
}

// CarryOut records an order and reports whether it corrected what was on record. It takes the
// lock of the tokens, and keeps it. No token work of this process may go on meanwhile: an
// attempt that is still open is taken for one that an earlier process has left.
func (l *Ledger) CarryOut(ctx context.Context, o TokenOrder) (corrected bool, err error) {
	if err := l.LockTokens(ctx); err != nil {
		return false, err
	}
	if err := token.QuarantineUnfinished(context.WithoutCancel(ctx), l); err != nil {
		return false, err
	}
	switch {
	case o.Init:
		return false, l.Init(ctx, l.Binding)
	case o.Adopt != nil:
		return l.adopt(ctx, *o.Adopt)
	case o.Resolve != nil:
		return false, l.Resolve(ctx, o.Resolve.Key, o.Resolve.Word)
	case o.Revoked != "":
		return false, l.Revoked(ctx, o.Revoked)
	}
	return false, store.Explain("writing", l.file.Path, store.Fault(store.ErrState, "the order says nothing"))
}

// adopt records a token, or corrects what is on record of it.
func (l *Ledger) adopt(ctx context.Context, record diff.TokenRecord) (corrected bool, err error) {
	live, err := l.Tokens(ctx)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(live.Records, func(r diff.TokenRecord) bool {
		return r.ID == record.ID && r.Key == record.Key && r.State == diff.TokenConfirmed
	})
	if i < 0 {
		return false, l.Adopt(ctx, record)
	}
	return true, l.Amend(ctx, live.Records[i].Intent, record.Spec, record.Hash)
}

// As returns a context of work that a user, USER@HOST, has ordered from this process:
// entries of the history say so.
func As(ctx context.Context, user string) context.Context { return store.As(ctx, user) }
