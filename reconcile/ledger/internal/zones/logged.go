package zones

import (
	"context"
	"database/sql"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
)

// Logged implements [reconcile.LogMemory].
func (z *Zones) Logged(ctx context.Context) (map[edge.Scope]string, error) {
	logged := map[edge.Scope]string{}
	err := z.file.Read(ctx, func(tx *sql.Tx) (err error) {
		logged, err = rows.Map(ctx, tx, `SELECT zone_id, digest FROM logged`, func(row *sql.Rows, zone *edge.Scope, digest *string) error {
			return row.Scan(zone, digest)
		})
		return err
	})
	return logged, err
}

// NoteLogged implements [reconcile.LogMemory].
func (z *Zones) NoteLogged(ctx context.Context, zone edge.Scope, digest string) error {
	if digest == "" {
		return z.file.Exec(ctx, `DELETE FROM logged WHERE zone_id = $1`, zone.Text())
	}
	return z.file.Exec(ctx, `INSERT INTO logged (zone_id, digest) VALUES ($1, $2) ON CONFLICT (zone_id) DO UPDATE SET digest = excluded.digest`, zone.Text(), digest)
}
