package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/diff"
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
func (l *Ledger) advance(
	ctx context.Context, intent string, from states, do change,
) error {
	ctx = context.WithoutCancel(ctx)
	return l.writeTokens(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var state diff.TokenState
		err := tx.QueryRowContext(ctx, `SELECT state FROM token WHERE intent = ?`, intent).Scan(&state)
		if errors.Is(err, sql.ErrNoRows) {
			return noAttempt(intent)
		}
		if err != nil {
			return err
		}
		if !slices.Contains(from, state) {
			return fault(ErrState, fmt.Sprintf("attempt %s is %s, not %s", intent, state, from))
		}
		return do(ctx, tx)
	})
}

func noAttempt(intent string) error { return fault(ErrState, "there is no attempt "+intent) }

// mayWrite refuses whoever has not locked the tokens.
func (l *Ledger) mayWrite() error {
	switch {
	case l.readOnly:
		return explain("writing", l.path, fault(ErrReadOnly, ""))
	case !l.locked():
		return explain("writing", l.path, fault(ErrUnlocked, ""))
	}
	return nil
}

func (l *Ledger) writeTokens(ctx context.Context, do change) error {
	if err := l.mayWrite(); err != nil {
		return err
	}
	return l.write(ctx, do)
}

// truncateLog moves the log into the file and empties it. A reader that is in
// the way is no error.
func (l *Ledger) truncateLog() error {
	var busy, frames, moved int
	return l.db.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
}
