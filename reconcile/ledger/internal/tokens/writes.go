package tokens

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// states are those from which an attempt may be taken further.
type states []diff.TokenState

// unproved are the states of an attempt of which nobody knows yet whether its
// token exists.
var unproved = states{diff.TokenIntended, diff.TokenQuarantined}

func (s states) String() string {
	words := make([]string, len(s))
	for i, state := range s {
		words[i] = string(state)
	}
	return strings.Join(words, " or ")
}

// advance changes an attempt that is in one of the states it must be in. It is done even
// where ctx has ended: it records what has happened already.
func (t *Memory) advance(
	ctx context.Context, intent string, from states, do store.Change,
) error {
	ctx = context.WithoutCancel(ctx)
	return t.writeTokens(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var state diff.TokenState
		err := tx.QueryRowContext(ctx, `SELECT state FROM token WHERE intent = ?`, intent).Scan(&state)
		if errors.Is(err, sql.ErrNoRows) {
			return noAttempt(intent)
		}
		if err != nil {
			return err
		}
		if !slices.Contains(from, state) {
			return store.Fault(store.ErrState, fmt.Sprintf("attempt %s is %s, not %s", intent, state, from))
		}
		return do(ctx, tx)
	})
}

func noAttempt(intent string) error {
	return store.Fault(store.ErrState, "there is no attempt "+intent)
}

// mayWrite refuses whoever has not locked the tokens.
func (t *Memory) mayWrite() error {
	switch {
	case t.file.ReadOnly:
		return store.Explain("writing", t.file.Path, store.Fault(store.ErrReadOnly, ""))
	case !t.locked():
		return store.Explain("writing", t.file.Path, store.Fault(store.ErrUnlocked, ""))
	}
	return nil
}

func (t *Memory) writeTokens(ctx context.Context, do store.Change) error {
	if err := t.mayWrite(); err != nil {
		return err
	}
	return t.file.Write(ctx, do)
}
