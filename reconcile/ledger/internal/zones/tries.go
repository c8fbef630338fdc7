package zones

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Tried implements [reconcile.Records].
func (z *Zones) Tried(ctx context.Context, id diff.ID, try diff.Try) error {
	return z.file.Exec(ctx, `UPDATE nonconvergent SET tried = $1, next = $2 WHERE zone_id = $3 AND ruleset_id = $4`,
		store.OptionalTime(try.At), store.OptionalTime(try.Next), id.Scope.Text(), rulesetText(id))
}

// recallTries reads those that are known.
func (of some) recallTries(ctx context.Context, tx *sql.Tx) (map[diff.ID]diff.Try, error) {
	const query = `SELECT zone_id, ruleset_id, tried, next FROM nonconvergent WHERE next IS NOT NULL`
	return rows.Map(ctx, tx, of.query(query), func(row *sql.Rows, id *diff.ID, try *diff.Try) (err error) {
		var zone edge.Scope
		var ruleset string
		var tried, next sql.NullString
		if err := row.Scan(&zone, &ruleset, &tried, &next); err != nil {
			return err
		}
		*id = deploymentOf(zone, ruleset)
		if try.At, err = store.ParseOptional(tried); err == nil {
			try.Next, err = store.ParseOptional(next)
		}
		if err != nil {
			return store.Fault(store.ErrDamaged, fmt.Sprintf("the tries of ruleset %s in zone %s: %v", ruleset, zone, err))
		}
		return nil
	}, of.args...)
}
