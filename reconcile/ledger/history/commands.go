package history

import (
	"context"
	"database/sql"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Newest returns the number of the newest entry; 0 for none.
func Newest(ctx context.Context, tx *sql.Tx) (number int64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT head_number FROM history_ends`).Scan(&number)
	return number, err
}

// WrittenByCommands returns the zones of the results after an entry that are of writes of
// commands, as [reconcile.Records] says.
func WrittenByCommands(ctx context.Context, tx *sql.Tx, after int64) (zones []edge.Scope, err error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT DISTINCT json_extract(body, '$.subject.zone_id') FROM history
		WHERE number > ? AND write IS NOT NULL AND json_extract(body, '$.subject.zone_id') <> ''
			AND json_extract(body, '$.trigger') IN (?, ?)`, after, reconcile.TriggerManual, reconcile.TriggerRevert)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var zone edge.Scope
		if err := rows.Scan(&zone); err != nil {
			return nil, err
		}
		zones = append(zones, zone)
	}
	return zones, rows.Err()
}
