package zones

import (
	"context"
	"database/sql"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Since returns the zones of which something may be on record now that a process does not know: nil
// where that cannot be told. newest is the mark of now, the zero one where none is kept.
//
// The mark itself must still be there. It is not where a server was put back to before it, and where
// there were so many changes since that it was dropped.
func (z *Zones) Since(ctx context.Context, tx *sql.Tx, known reconcile.Known) (zones []edge.Scope, newest reconcile.Mark, err error) {
	if z.file.Database() == nil {
		return nil, newest, nil
	}
	if known.Mark == (reconcile.Mark{}) {
		newest, err = markOfNow(ctx, tx)
		return nil, newest, err
	}
	found, seen := false, map[edge.Scope]bool{}
	zones = append([]edge.Scope{}, known.Zones...)
	for _, id := range zones {
		seen[id] = true
	}
	err = rows.Each(ctx, tx, `SELECT number, mark, zone_id FROM zone_change WHERE number >= $1 ORDER BY number`, func(row *sql.Rows) error {
		var id edge.Scope
		if err := row.Scan(&newest.Number, &newest.Random, &id); err != nil {
			return err
		}
		found = found || newest == known.Mark || known.Mark == nothingYet && newest.Number == 1
		if newest != known.Mark && !seen[id] {
			seen[id] = true
			zones = append(zones, id)
		}
		return nil
	}, known.Mark.Number)
	if err != nil {
		return nil, reconcile.Mark{}, err
	}
	if !found {
		if newest, err = markOfNow(ctx, tx); err != nil || newest != nothingYet || known.Mark != nothingYet {
			return nil, newest, err
		}
	}
	return zones, newest, nil
}

// nothingYet is the mark of a database that has nothing of any zone. While the first change is still there,
// all since are.
var nothingYet = reconcile.Mark{Random: 1}

// markOfNow is the mark of the newest change; the zero one where none is kept.
func markOfNow(ctx context.Context, tx *sql.Tx) (newest reconcile.Mark, err error) {
	found, err := rows.Found(tx.QueryRowContext(ctx, `SELECT number, mark FROM zone_change ORDER BY number DESC LIMIT 1`).Scan(&newest.Number, &newest.Random))
	if found || err != nil {
		return newest, err
	}
	var some bool // of before changes were kept, or of before all of them were dropped
	err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM proved) OR EXISTS (SELECT 1 FROM applied) OR EXISTS (SELECT 1 FROM nonconvergent)`).Scan(&some)
	if some || err != nil {
		return reconcile.Mark{}, err
	}
	return nothingYet, nil
}

// Newer implements [reconcile.Records].
func (z *Zones) Newer(ctx context.Context, mark reconcile.Mark) (changes int64, err error) {
	if z.file.Database() == nil || mark == (reconcile.Mark{}) {
		return 0, nil
	}
	return store.Read(ctx, z.file, func(ctx context.Context, tx *sql.Tx) (changes int64, err error) {
		err = tx.QueryRowContext(ctx, `SELECT coalesce(max(number), $1) - $1 FROM zone_change`, mark.Number).Scan(&changes)
		return changes, err
	})
}

// some selects the rows of some zones. The zero value selects all.
type some struct{ args []any }

// query is a query for these rows; text is that for all, and ends with a condition.
func (of some) query(text string) string {
	if of.args == nil {
		return text
	}
	return text + " AND zone_id = ANY($1::text[])"
}

// ofZones selects those of these zones; nil selects all.
func ofZones(zones []edge.Scope) some {
	if zones == nil {
		return some{}
	}
	texts := make([]string, len(zones))
	for i, id := range zones {
		texts[i] = id.Text()
	}
	return some{[]any{texts}}
}
