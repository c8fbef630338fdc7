package decisions

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Depart implements [reconcile.Control].
func (d *Decisions) Depart(ctx context.Context, under reconcile.Memory, digests []string) error {
	return d.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := remember(ctx, tx, under.Kept); err != nil {
			return err
		}
		if err := bind(ctx, tx, under.Bound); err != nil {
			return err
		}
		if err := d.spend(ctx, tx, digests); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO departures (one, number) VALUES (1, 1) ON CONFLICT (one) DO UPDATE SET number = departures.number + 1`)
		return err
	})
}

// PutMemory records what zones are under in the place of what is on record, and what
// accounts are bound to beside it.
func PutMemory(ctx context.Context, tx *sql.Tx, m reconcile.Memory) error {
	have, err := recallKept(ctx, tx)
	if err != nil {
		return err
	}
	for id := range have {
		if _, stays := m.Kept[id]; stays {
			continue
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM remembered WHERE zone_id = $1`, id.Text()); err != nil {
			return err
		}
	}
	news := map[edge.Scope][]guard.Selection{}
	for id, selections := range m.Kept {
		if known, ok := have[id]; !ok || !guard.SameSelections(known, selections) {
			news[id] = selections
		}
	}
	if err := remember(ctx, tx, news); err != nil {
		return err
	}
	return bind(ctx, tx, m.Bound)
}

// remember writes what zones are under. The first commit of a fleet has many rows.
func remember(ctx context.Context, tx *sql.Tx, kept map[edge.Scope][]guard.Selection) error {
	if len(kept) == 0 {
		return nil
	}
	write, err := tx.PrepareContext(ctx, `
		INSERT INTO remembered (zone_id, selections) VALUES ($1, $2) ON CONFLICT (zone_id) DO UPDATE SET selections = excluded.selections`)
	if err != nil {
		return err
	}
	defer func() { _ = write.Close() }()
	for id, selections := range kept {
		text, err := json.Marshal(append([]guard.Selection{}, selections...)) // [], never null
		if err != nil {
			return err
		}
		if _, err := write.ExecContext(ctx, id.Text(), string(text)); err != nil {
			return err
		}
	}
	return nil
}

// bind writes what differs.
func bind(ctx context.Context, tx *sql.Tx, bound map[edge.AccountID]guard.Binding) error {
	for id, b := range bound {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO bound (account_id, key, configured) VALUES ($1, $2, $3)
			ON CONFLICT (account_id) DO UPDATE SET key = excluded.key, configured = excluded.configured
			WHERE (bound.key, bound.configured) <> (excluded.key, excluded.configured)`, id, b.Key, rows.Bit(b.Configured))
		if err != nil {
			return err
		}
	}
	return nil
}

func recallKept(ctx context.Context, tx *sql.Tx) (map[edge.Scope][]guard.Selection, error) {
	return rows.Map(ctx, tx, `SELECT zone_id, selections FROM remembered`, func(row *sql.Rows, id *edge.Scope, selections *[]guard.Selection) error {
		var text string
		if err := row.Scan(id, &text); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(text), selections); err != nil {
			return store.Fault(store.ErrDamaged, fmt.Sprintf("what zone %s is under: %v", *id, err))
		}
		return nil
	})
}

func recallBound(ctx context.Context, tx *sql.Tx) (map[edge.AccountID]guard.Binding, error) {
	return rows.Map(ctx, tx, `SELECT account_id, key, configured FROM bound`, func(row *sql.Rows, id *edge.AccountID, b *guard.Binding) error {
		return row.Scan(id, &b.Key, &b.Configured)
	})
}

// RecallDepartures reads how often something was allowed to leave settings.
func RecallDepartures(ctx context.Context, tx *sql.Tx) (number int64, err error) {
	_, err = rows.Found(tx.QueryRowContext(ctx, `SELECT number FROM departures`).Scan(&number))
	return number, err
}
