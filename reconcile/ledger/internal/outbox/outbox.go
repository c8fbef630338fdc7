// Package outbox keeps the messages of notification routes until they are sent, and what each
// route knows.
package outbox

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Outbox is the part of a ledger. It implements [reconcile.Outbox].
type Outbox struct{ file *store.File }

// In returns the outbox of a ledger.
func In(file *store.File) *Outbox { return &Outbox{file} }

// Notified implements [reconcile.Outbox].
func (o *Outbox) Notified(ctx context.Context) (all map[string]reconcile.Kept, err error) {
	err = o.file.Read(ctx, func(tx *sql.Tx) error {
		all, err = rows.Map(ctx, tx, `SELECT route, known FROM notified`, func(row *sql.Rows, route *string, k *reconcile.Kept) error {
			return row.Scan(route, (*[]byte)(&k.Known))
		})
		if err != nil {
			return err
		}
		return rows.Each(ctx, tx, `SELECT route, id, body FROM outbox ORDER BY number`, func(row *sql.Rows) error {
			var route string
			var p reconcile.Posted
			if err := row.Scan(&route, &p.ID, (*[]byte)(&p.Body)); err != nil {
				return err
			}
			k := all[route]
			k.Messages = append(k.Messages, p)
			all[route] = k
			return nil
		})
	})
	return all, err
}

// Post implements [reconcile.Outbox].
func (o *Outbox) Post(ctx context.Context, route string, known json.RawMessage, messages []reconcile.Posted) error {
	return o.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		const keep = `INSERT INTO notified (route, known) VALUES ($1, $2) ON CONFLICT (route) DO UPDATE SET known = excluded.known`
		if _, err := tx.ExecContext(ctx, keep, route, string(known)); err != nil {
			return err
		}
		const post = `INSERT INTO outbox (id, route, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
		return rows.Exec(ctx, tx, post, messages, func(p reconcile.Posted) []any { return []any{p.ID, route, string(p.Body)} })
	})
}

// Posted implements [reconcile.Outbox].
func (o *Outbox) Posted(ctx context.Context, id string) error {
	return o.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM outbox WHERE id = $1`, id)
		return err
	})
}

// ForgetRoute implements [reconcile.Outbox].
func (o *Outbox) ForgetRoute(ctx context.Context, route string) error {
	return o.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, table := range []string{`DELETE FROM outbox WHERE route = $1`, `DELETE FROM notified WHERE route = $1`} {
			if _, err := tx.ExecContext(ctx, table, route); err != nil {
				return err
			}
		}
		return nil
	})
}
