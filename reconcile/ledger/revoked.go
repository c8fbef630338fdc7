package ledger

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Revoked records a person's word that a token no longer exists: it was revoked
// on the platform, which the reference shows no call for. It is forgotten; where
// it is still declared, and nothing superseded it, the next run creates another.
// An id that is not on record is [ErrState].
func (l *Ledger) Revoked(ctx context.Context, id edge.TokenID) error {
	err := l.writeTokens(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM token WHERE id = ? AND state = 'confirmed'`, id)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return fault(ErrState, fmt.Sprintf("no token with the id %s is on record", id))
	})
	if err != nil {
		return err
	}
	// The secret may have waited, sealed.
	return explain("writing", l.path, l.truncateLog())
}

// Gone implements [reconcile.TokenMemory]: what Revoked is for a person's word,
// this is for the platform's. It is done even where ctx has ended. An attempt
// that is not confirmed, or not on record, is [ErrState]; of one that was never
// confirmed [Ledger.NotCreated] is the word.
func (l *Ledger) Gone(ctx context.Context, intent string) error {
	err := l.advance(ctx, intent, states{diff.TokenConfirmed}, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM token WHERE intent = ?`, intent)
		return err
	})
	if err != nil {
		return err
	}
	return explain("writing", l.path, l.truncateLog())
}
