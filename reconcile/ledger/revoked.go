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
// Earlier tokens whose secrets it replaced in their sink have no sink afterwards.
// An id that is not on record is [ErrState].
func (l *Ledger) Revoked(ctx context.Context, id edge.TokenID) error {
	err := l.writeTokens(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := displace(ctx, tx, `gone.id = ? AND gone.state = 'confirmed'`, id); err != nil {
			return err
		}
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
		if err := displace(ctx, tx, `gone.intent = ?`, intent); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM token WHERE intent = ?`, intent)
		return err
	})
	if err != nil {
		return err
	}
	return explain("writing", l.path, l.truncateLog())
}

// displace says of the tokens before one that is about to be forgotten that their
// secrets are not where they were delivered: its own took that place. Without
// this an earlier token would pass for the one in use.
func displace(ctx context.Context, tx *sql.Tx, forgotten string, arg any) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE token SET sink_name = NULL, sink_key = NULL
		WHERE delivered = 1 AND EXISTS (
			SELECT 1 FROM token AS gone
			WHERE `+forgotten+` AND gone.seq > token.seq
				AND gone.sink_name = token.sink_name AND gone.sink_key = token.sink_key)`, arg)
	return err
}
