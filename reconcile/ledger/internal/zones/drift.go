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

// driftTime is the form of the time of a drift: text that sorts as time does.
const driftTime = "2006-01-02T15:04:05.000000000Z"

const (
	addDrift = `
		INSERT INTO drift (zone_id, at, weakens) VALUES ($1, $2, $3)
		ON CONFLICT (at, zone_id) DO UPDATE SET weakens = 1 WHERE excluded.weakens > drift.weakens`
	dropDrifts = `DELETE FROM drift WHERE at < $1`
)

// Drifted implements [reconcile.Records].
func (z *Zones) Drifted(ctx context.Context, drifts []reconcile.Drift, before time.Time) error {
	return z.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return z.drifted(ctx, tx, before, drifts...) })
}

// Heals records the drift that counts for limits, with the write that corrects it; nil is none.
func (z *Zones) Heals(ctx context.Context, tx *sql.Tx, h *reconcile.Healing) error {
	if h == nil {
		return nil
	}
	return z.drifted(ctx, tx, h.Before, h.Drift)
}

func (z *Zones) drifted(ctx context.Context, tx *sql.Tx, before time.Time, drifts ...reconcile.Drift) error {
	for _, d := range drifts {
		if err := z.file.Often(ctx, tx, addDrift, d.Scope.Text(), d.At.UTC().Format(driftTime), rows.Bit(d.Weakens)); err != nil {
			return err
		}
	}
	return z.file.Often(ctx, tx, dropDrifts, before.UTC().Format(driftTime))
}

func recallDrifts(ctx context.Context, tx *sql.Tx) ([]reconcile.Drift, error) {
	return rows.All(ctx, tx, `SELECT zone_id, at, weakens FROM drift ORDER BY at, zone_id`, func(row *sql.Rows, d *reconcile.Drift) (err error) {
		var at string
		if err := row.Scan(&d.Scope, &at, &d.Weakens); err != nil {
			return err
		}
		if d.At, err = time.Parse(time.RFC3339Nano, at); err != nil {
			return store.Fault(store.ErrDamaged, fmt.Sprintf("the time of a drift in zone %s: %v", d.Scope, err))
		}
		return nil
	})
}

// Swept implements [reconcile.Records].
func (z *Zones) Swept(ctx context.Context, until time.Time) error {
	if lease, under := reconcile.LeaseIn(ctx); under {
		return z.sweptUnder(ctx, lease.Name, until)
	}
	return z.file.Exec(ctx, `INSERT INTO sweep (one, at) VALUES (1, $1) ON CONFLICT (one) DO UPDATE SET at = excluded.at`,
		until.UTC().Format(time.RFC3339Nano))
}

func recallSwept(ctx context.Context, tx *sql.Tx) (until time.Time, err error) {
	var at string
	found, err := rows.Found(tx.QueryRowContext(ctx, `SELECT at FROM sweep`).Scan(&at))
	if err != nil || !found {
		return until, err
	}
	if until, err = time.Parse(time.RFC3339Nano, at); err != nil {
		return until, store.Fault(store.ErrDamaged, fmt.Sprintf("the time of the sweep: %v", err))
	}
	return until, nil
}
