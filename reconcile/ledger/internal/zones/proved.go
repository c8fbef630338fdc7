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
func (z *Zones) Fingerprints(ctx context.Context) (map[edge.Scope]string, error) {
	prints, _, err := z.FingerprintsSince(ctx, nil, reconcile.Mark{})
	return prints, err
}

// FingerprintsSince brings what a call before has returned up to date, in the same map: it reads the zones
// alone that have changed since the mark of then, where that can be told. nil: all are read.
func (z *Zones) FingerprintsSince(ctx context.Context, prints map[edge.Scope]string, mark reconcile.Mark) (_ map[edge.Scope]string, newest reconcile.Mark, err error) {
	if prints == nil {
		prints, mark = map[edge.Scope]string{}, reconcile.Mark{}
	}
	err = z.file.ReadBeside(ctx, func(tx *sql.Tx) error {
		var changed []edge.Scope
		changed, newest, err = z.Since(ctx, tx, reconcile.Known{Mark: mark})
		if err != nil || changed != nil && len(changed) == 0 {
			return err
		}
		if changed == nil {
			clear(prints)
		}
		for _, id := range changed {
			delete(prints, id)
		}
		of := ofZones(changed)
		return rows.Each(ctx, tx, of.query(`SELECT zone_id, fingerprint FROM proved WHERE true`), func(row *sql.Rows) error {
			var zone, proved string
			err := row.Scan(&zone, &proved)
			prints[edge.ParseScope(zone)] = proved
			return err
		}, of.args...)
	})
	return prints, newest, store.Explain("reading", z.file.Path, err)
}
