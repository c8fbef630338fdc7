package zones

import (
	"context"
	"database/sql"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
)

const rememberWritten = `
	INSERT INTO written (zone_id, weakens) SELECT $1, $2 WHERE EXISTS (SELECT 1 FROM accepted WHERE "commit" = $3)
	ON CONFLICT (zone_id) DO UPDATE SET weakens = 1 WHERE excluded.weakens > written.weakens`

// Count records that a zone is written because of the accepted commit.
func (z *Zones) Count(ctx context.Context, tx *sql.Tx, write reconcile.Entry) error {
	if !write.CountsForCommit() {
		return nil
	}
	return z.file.Often(ctx, tx, rememberWritten, write.Subject.Scope.Text(), rows.Bit(write.Direction == diff.Weakens), write.Asked.Commit)
}

// ForgetWritten forgets which zones were written: another commit is accepted.
func (z *Zones) ForgetWritten(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM written`); err != nil {
		return err
	}
	return z.forgetCounted(ctx, tx)
}

func recallWritten(ctx context.Context, tx *sql.Tx) (weakened map[edge.Scope]bool, err error) {
	return rows.Map(ctx, tx, `SELECT zone_id, weakens FROM written`, func(row *sql.Rows, zone *edge.Scope, weakens *bool) error {
		return row.Scan(zone, weakens)
	})
}
