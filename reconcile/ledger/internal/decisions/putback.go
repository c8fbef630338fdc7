package decisions

import (
	"context"
	"database/sql"

	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
)

// PutBackIn has this process know that a ledger in a file was put back to an earlier time. What is known of
// a database is in its table put_back, for all processes. 0: it was not, or git was looked at since.
func (d *Decisions) PutBackIn(mark int64) { d.putBack.Store(mark) }

// PutBack implements [reconcile.Standing.PutBack].
func (d *Decisions) PutBack(ctx context.Context, tx *sql.Tx) (mark int64, err error) {
	if d.file.Database() == nil {
		return d.putBack.Load(), nil
	}
	_, err = rows.Found(tx.QueryRowContext(ctx, `SELECT mark FROM put_back`).Scan(&mark))
	return mark, err
}

// LookedAt implements [reconcile.Records].
func (d *Decisions) LookedAt(ctx context.Context, putBack int64, commit string) error {
	return d.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var accepted string
		found, err := rows.Found(tx.QueryRowContext(ctx, `SELECT "commit" FROM accepted`).Scan(&accepted))
		switch {
		case err != nil || !found || accepted != commit:
			return err
		case d.file.Database() == nil:
			d.putBack.CompareAndSwap(putBack, 0)
			_, err = tx.ExecContext(ctx, `UPDATE accepted SET "commit" = "commit"`) // which says something new: else no one would ask
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM put_back WHERE mark = $1`, putBack)
		return err
	})
}
