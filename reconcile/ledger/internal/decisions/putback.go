package decisions

import (
	"context"
	"database/sql"

	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
)

// RecallPutBack reads [reconcile.Standing.PutBack].
func RecallPutBack(ctx context.Context, tx *sql.Tx) (mark int64, err error) {
	_, err = rows.Found(tx.QueryRowContext(ctx, `SELECT mark FROM put_back`).Scan(&mark))
	return mark, err
}

// LookedAt implements [reconcile.Records].
func (d *Decisions) LookedAt(ctx context.Context, putBack int64, commit string) error {
	return d.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var accepted string
		found, err := rows.Found(tx.QueryRowContext(ctx, `SELECT "commit" FROM accepted`).Scan(&accepted))
		if err != nil || !found || accepted != commit {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE put_back SET mark = 0 WHERE mark = $1`, putBack)
		return err
	})
}
