package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// Keep implements [reconcile.Memory].
func (l *Ledger) Keep(ctx context.Context, c reconcile.Cursor) error {
	return l.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO sweep (one, "commit", phase, at) VALUES (1, ?, ?, ?)
			ON CONFLICT DO UPDATE SET "commit" = excluded."commit", phase = excluded.phase, at = excluded.at`,
			c.Commit, int64(c.Phase), c.At.UTC().Format(time.RFC3339Nano))
		return err
	})
}

func recallCursor(ctx context.Context, tx *sql.Tx) (c reconcile.Cursor, err error) {
	var phase int64
	var at string
	switch err := tx.QueryRowContext(ctx, `SELECT "commit", phase, at FROM sweep`).Scan(&c.Commit, &phase, &at); {
	case errors.Is(err, sql.ErrNoRows):
		return c, nil
	case err != nil:
		return c, err
	}
	c.Phase = uint64(phase)
	if c.At, err = time.Parse(time.RFC3339Nano, at); err != nil {
		return c, fault(ErrDamaged, fmt.Sprintf("the time of the sweep: %v", err))
	}
	return c, nil
}
