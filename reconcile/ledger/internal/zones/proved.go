package zones

import (
	"context"
	"database/sql"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Proved returns the last proof of a zone; the zero value where there is none. It waits for no write.
func (z *Zones) Proved(ctx context.Context, zone edge.Scope) (p reconcile.Proved, err error) {
	err = z.file.ReadBeside(ctx, func(tx *sql.Tx) error {
		var at sql.NullString
		known, err := rows.Found(tx.QueryRowContext(ctx, `SELECT fingerprint, "commit", at FROM proved WHERE zone_id = $1`, zone.Text()).Scan(&p.Fingerprint, &p.Commit, &at))
		if known {
			p.At, err = store.ParseOptional(at)
		}
		return err
	})
	return p, store.Explain("reading", z.file.Path, err)
}

// Fingerprints are what was proved last in each zone. It waits for no write.
func (z *Zones) Fingerprints(ctx context.Context) (prints map[edge.Scope]string, err error) {
	err = z.file.ReadBeside(ctx, func(tx *sql.Tx) error {
		prints = map[edge.Scope]string{}
		list, err := tx.QueryContext(ctx, `SELECT zone_id, fingerprint FROM proved`)
		if err != nil {
			return err
		}
		defer func() { _ = list.Close() }()
		for list.Next() {
			var zone, proved string
			if err := list.Scan(&zone, &proved); err != nil {
				return err
			}
			prints[edge.ParseScope(zone)] = proved
		}
		return list.Err()
	})
	return prints, store.Explain("reading", z.file.Path, err)
}
