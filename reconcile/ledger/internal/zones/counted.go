package zones

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// What follows is kept where several processes share the records, and is not there in a file: how far
// the sweep under each lease has come (table sweep_under), and what counts for the limits of all of
// them (table tally).

const (
	addTally = `
		INSERT INTO tally (zone_id, "commit", at, weakens, process) SELECT $1, $2, $3, $4::bigint, $5
		WHERE NOT EXISTS (SELECT 1 FROM tally WHERE number > $6 AND process <> $5) AND $6 <= (SELECT last_value FROM tally_number_seq) RETURNING number`
	dropTally = `DELETE FROM tally WHERE "commit" = '' AND at < $1`
	addWhole  = `
		INSERT INTO tally (zone_id, "commit", at, weakens, process, whole) SELECT '', "commit", $2, 0, $3, $4
		FROM accepted WHERE "commit" = $1 RETURNING number`
	dropWhole = `DELETE FROM tally WHERE whole IS NOT NULL AND number < $1`
	// dropEvery is how many changes are counted until those are dropped that count no more.
	dropEvery = 64
)

// whole is how a count of a whole commit is kept.
type whole struct {
	Zones map[edge.Scope]bool `json:"zones"` // whether what changes weakens
	Read  []edge.Scope        `json:"read"`
}

// Tally implements [reconcile.Counts]. No other process changes what a file is about.
func (z *Zones) Tally(ctx context.Context, c reconcile.Count, after int64, before time.Time) error {
	if z.file.Database() == nil {
		return nil
	}
	unknown := false // outside the transaction: it has written nothing, and others are in it
	err := z.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var number int64
		added, err := rows.Found(tx.QueryRowContext(ctx, addTally,
			c.Scope.Text(), c.Commit, c.At.UTC().Format(driftTime), rows.Bit(c.Weakens), c.By, after).Scan(&number))
		if unknown = !added; err != nil || unknown || number%dropEvery != 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, dropTally, before.UTC().Format(driftTime))
		return err
	})
	if err == nil && unknown {
		return reconcile.ErrCounted
	}
	return err
}

// Counted implements [reconcile.Counts].
func (z *Zones) Counted(ctx context.Context, c reconcile.Count) error {
	if z.file.Database() == nil {
		return nil
	}
	counted, err := json.Marshal(whole{c.All, c.Read})
	if err != nil {
		return err
	}
	accepted := false
	err = z.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		var number int64
		accepted, err = rows.Found(tx.QueryRowContext(ctx, addWhole, c.Commit, c.At.UTC().Format(driftTime), c.By, string(counted)).Scan(&number))
		if err != nil || !accepted {
			return err
		}
		_, err = tx.ExecContext(ctx, dropWhole, number)
		return err
	})
	if err == nil && !accepted {
		return reconcile.ErrSuperseded
	}
	return err
}

// forgetCounted forgets what counts for a commit: another one is accepted.
func (z *Zones) forgetCounted(ctx context.Context, tx *sql.Tx) error {
	if z.file.Database() == nil {
		return nil
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM tally WHERE "commit" <> ''`)
	return err
}

// Tallied implements [reconcile.Counts].
func (z *Zones) Tallied(ctx context.Context, after int64) ([]reconcile.Count, error) {
	if z.file.Database() == nil {
		return nil, nil
	}
	const query = `SELECT number, zone_id, "commit", at, weakens <> 0, process, whole FROM tally WHERE number > $1 ORDER BY number`
	return store.Read(ctx, z.file, func(ctx context.Context, tx *sql.Tx) ([]reconcile.Count, error) {
		return rows.All(ctx, tx, query, func(row *sql.Rows, c *reconcile.Count) (err error) {
			var at string
			var counted []byte
			if err := row.Scan(&c.Number, &c.Scope, &c.Commit, &at, &c.Weakens, &c.By, &counted); err != nil {
				return err
			}
			if counted != nil {
				var all whole
				from := json.NewDecoder(bytes.NewReader(counted))
				from.DisallowUnknownFields() // in another form it would count nothing
				if err := from.Decode(&all); err != nil || all.Zones == nil {
					return store.Fault(store.ErrDamaged, fmt.Sprintf("what commit %s changes: %v", c.Commit, err))
				}
				c.All, c.Read = all.Zones, all.Read
			}
			if c.At, err = time.Parse(time.RFC3339Nano, at); err != nil {
				return store.Fault(store.ErrDamaged, fmt.Sprintf("the time of the change of zone %s that counts: %v", c.Scope, err))
			}
			return nil
		}, after)
	})
}

// sweptUnder notes how far the sweep of the zones under a lease has come.
func (z *Zones) sweptUnder(ctx context.Context, lease reconcile.LeaseName, until time.Time) error {
	return z.file.Exec(ctx, `INSERT INTO sweep_under (lease, at) VALUES ($1, $2) ON CONFLICT (lease) DO UPDATE SET at = excluded.at`,
		string(lease), until.UTC().Format(time.RFC3339Nano))
}

// RecallSweptUnder reads how far it has come, by lease; nil for none.
func (z *Zones) RecallSweptUnder(ctx context.Context, tx *sql.Tx) (under map[reconcile.LeaseName]time.Time, err error) {
	if z.file.Database() == nil {
		return nil, nil
	}
	err = rows.Each(ctx, tx, `SELECT lease, at FROM sweep_under`, func(row *sql.Rows) error {
		var lease, at string
		if err := row.Scan(&lease, &at); err != nil {
			return err
		}
		until, err := time.Parse(time.RFC3339Nano, at)
		if err != nil {
			return store.Fault(store.ErrDamaged, fmt.Sprintf("the time of the sweep of %s: %v", lease, err))
		}
		if under == nil {
			under = map[reconcile.LeaseName]time.Time{}
		}
		under[reconcile.LeaseName(lease)] = until
		return nil
	})
	return under, err
}
