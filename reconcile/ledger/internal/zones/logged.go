package zones

import (
	"context"
	"database/sql"

	"github.com/seawall-dev/seawall/edge"
)

// Logged implements [reconcile.LogMemory].
func (z *Zones) Logged(ctx context.Context) (map[edge.Scope]string, error) {
	logged := map[edge.Scope]string{}
	err := z.file.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT zone_id, digest FROM logged`)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var zone edge.Scope
			var digest string
			if err := rows.Scan(&zone, &digest); err != nil {
				return err
			}
			logged[zone] = digest
		}
		return rows.Err()
	})
	return logged, err
}

// NoteLogged implements [reconcile.LogMemory].
func (z *Zones) NoteLogged(ctx context.Context, zone edge.Scope, digest string) error {
	return z.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if digest == "" {
			_, err := tx.ExecContext(ctx, `DELETE FROM logged WHERE zone_id = ?`, zone)
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO logged (zone_id, digest) VALUES (?, ?) ON CONFLICT DO UPDATE SET digest = excluded.digest`, zone, digest)
		return err
	})
}
