package history

import (
	"context"
	"database/sql"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
)

// Newest returns the number of the newest entry; 0 for none.
func Newest(ctx context.Context, tx *sql.Tx) (number int64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT head_number FROM history_ends`).Scan(&number)
	return number, err
}

// WrittenByCommands returns the zones of the results after an entry that are of writes of
// commands, as [reconcile.Records] says. Most entries are of the daemon that asks: bodies have one
// form, and to look for a text in one takes less than to parse it.
func WrittenByCommands(ctx context.Context, tx *sql.Tx, after int64) (zones []edge.Scope, err error) {
	return rows.All(ctx, tx, `
		SELECT DISTINCT json_extract(body, '$.subject.zone_id') FROM history
		WHERE number > $1 AND (instr(body, '"trigger":"' || $2 || '"') > 0 OR instr(body, '"trigger":"' || $3 || '"') > 0)
			AND write IS NOT NULL AND json_extract(body, '$.subject.zone_id') <> '' AND json_extract(body, '$.trigger') IN ($2, $3)`,
		func(row *sql.Rows, zone *edge.Scope) error { return row.Scan(zone) }, after, reconcile.TriggerManual, reconcile.TriggerRevert)
}
