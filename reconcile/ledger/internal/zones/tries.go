package zones

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Tried implements [reconcile.Records].
func (z *Zones) Tried(ctx context.Context, id diff.ID, try diff.Try) error {
	return z.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE nonconvergent SET tried = ?, next = ? WHERE zone_id = ? AND ruleset_id = ?`,
			store.OptionalTime(try.At), store.OptionalTime(try.Next), id.Scope.Text(), rulesetText(id))
		return err
	})
}

// recallTries reads those that are known; nil for none.
func recallTries(ctx context.Context, tx *sql.Tx) (tries map[diff.ID]diff.Try, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT zone_id, ruleset_id, tried, next FROM nonconvergent WHERE next IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var zone edge.Scope
		var ruleset string
		var tried, next sql.NullString
		if err := rows.Scan(&zone, &ruleset, &tried, &next); err != nil {
			return nil, err
		}
		var try diff.Try
		if try.At, err = store.ParseOptional(tried); err == nil {
			try.Next, err = store.ParseOptional(next)
		}
		if err != nil {
			return nil, store.Fault(store.ErrDamaged, fmt.Sprintf("the tries of ruleset %s in zone %s: %v", ruleset, zone, err))
		}
		if tries == nil {
			tries = map[diff.ID]diff.Try{}
		}
		tries[deploymentOf(zone, ruleset)] = try
	}
	return tries, rows.Err()
}
