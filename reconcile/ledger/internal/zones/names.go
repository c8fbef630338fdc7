package zones

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Names implements [reconcile.NameMemory].
func (z *Zones) Names(ctx context.Context) (names []reconcile.Name, err error) {
	err = z.file.Read(ctx, func(tx *sql.Tx) error {
		names, err = recallNames(ctx, tx)
		return err
	})
	if err != nil {
		return nil, store.Explain("reading", z.file.Path, err)
	}
	return names, nil
}

func recallNames(ctx context.Context, tx *sql.Tx) (names []reconcile.Name, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT account_id, key, id, name, at, gone FROM name ORDER BY account_id, key, id`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var n reconcile.Name
		var at string
		if err := rows.Scan(&n.Account, &n.Key, &n.ID, &n.Name, &at, &n.Gone); err != nil {
			return nil, err
		}
		if n.At, err = time.Parse(time.RFC3339Nano, at); err != nil {
			return nil, store.Fault(store.ErrDamaged, fmt.Sprintf("the name of %s: %v", n.ID, err))
		}
		names = append(names, n)
	}
	return names, rows.Err()
}

// SaveNames implements [reconcile.NameMemory].
func (z *Zones) SaveNames(ctx context.Context, names []reconcile.Name) error {
	return z.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM name`); err != nil {
			return err
		}
		insert, err := tx.PrepareContext(ctx, `INSERT INTO name (account_id, key, id, name, at, gone) VALUES (?, ?, ?, ?, ?, ?)`)
		if err != nil {
			return err
		}
		defer func() { _ = insert.Close() }()
		for _, n := range names {
			if _, err := insert.ExecContext(ctx, n.Account, n.Key, n.ID, n.Name, n.At.UTC().Format(time.RFC3339Nano), n.Gone); err != nil {
				return err
			}
		}
		return nil
	})
}
