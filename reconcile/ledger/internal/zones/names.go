package zones

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Names implements [reconcile.NameMemory].
func (z *Zones) Names(ctx context.Context) ([]reconcile.Name, error) {
	return store.Read(ctx, z.file, recallNames)
}

func recallNames(ctx context.Context, tx *sql.Tx) ([]reconcile.Name, error) {
	const query = `SELECT account_id, key, id, name, plan, at, gone FROM name ORDER BY account_id, key, id`
	return rows.All(ctx, tx, query, func(row *sql.Rows, n *reconcile.Name) (err error) {
		var at string
		if err := row.Scan(&n.Account, &n.Key, &n.ID, &n.Name, &n.Plan, &at, &n.Gone); err != nil {
			return err
		}
		if n.At, err = time.Parse(time.RFC3339Nano, at); err != nil {
			return store.Fault(store.ErrDamaged, fmt.Sprintf("the name of %s: %v", n.ID, err))
		}
		return nil
	})
}

// SaveNames implements [reconcile.NameMemory].
func (z *Zones) SaveNames(ctx context.Context, names []reconcile.Name) error {
	return z.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM name`); err != nil {
			return err
		}
		const insert = `INSERT INTO name (account_id, key, id, name, plan, at, gone) VALUES ($1, $2, $3, $4, $5, $6, $7)`
		return rows.Exec(ctx, tx, insert, names, func(n reconcile.Name) []any {
			return []any{n.Account, n.Key, n.ID, n.Name, n.Plan, n.At.UTC().Format(time.RFC3339Nano), rows.Bit(n.Gone)}
		})
	})
}
