// Package outbox keeps the messages of notification routes until they are sent, and what each
// route knows.
package outbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Outbox is the part of a ledger. It implements [reconcile.Outbox] and [reconcile.SharedOutbox].
type Outbox struct {
	file    *store.File
	deliver func(ctx context.Context, tx *sql.Tx, route, id string) error // nil: whoever posts sends
}

// partedBy is between the name of a route, which has none, and that of a part in the key of a row.
const partedBy = "@"

// In returns the outbox of a ledger.
func In(file *store.File) *Outbox { return &Outbox{file: file} }

// Deliver has the first message that waits for a route sent by whoever takes that job, which insert
// puts on record in the transaction that makes it the first. To be called before the outbox is used.
func (o *Outbox) Deliver(insert func(ctx context.Context, tx *sql.Tx, route, id string) error) {
	o.deliver = insert
}

// next has the first message that waits for a route sent.
func (o *Outbox) next(ctx context.Context, tx *sql.Tx, route string) error {
	if o.deliver == nil {
		return nil
	}
	var id string
	err := tx.QueryRowContext(ctx, `SELECT id FROM outbox WHERE route = $1 ORDER BY number LIMIT 1`, route).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return o.deliver(ctx, tx, route, id)
}

// Waiting implements [reconcile.SharedOutbox].
func (o *Outbox) Waiting(ctx context.Context) (all map[string]reconcile.Waiting, err error) {
	err = o.file.Read(ctx, func(tx *sql.Tx) error {
		all, err = rows.Map(ctx, tx, `SELECT o.route, o.id, w.messages FROM outbox o
			JOIN (SELECT min(number) AS first, count(*) AS messages FROM outbox GROUP BY route) w ON o.number = w.first`,
			func(row *sql.Rows, route *string, w *reconcile.Waiting) error {
				return row.Scan(route, &w.First, &w.Messages)
			})
		return err
	})
	return all, err
}

// Message implements [reconcile.SharedOutbox].
func (o *Outbox) Message(ctx context.Context, id string) (body json.RawMessage, waits bool, err error) {
	err = o.file.Read(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT body FROM outbox WHERE id = $1`, id).Scan((*[]byte)(&body))
		waits = err == nil
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return body, waits, err
}

// Notified implements [reconcile.Outbox].
func (o *Outbox) Notified(ctx context.Context) (all map[string]reconcile.Kept, err error) {
	err = o.file.Read(ctx, func(tx *sql.Tx) error {
		all = map[string]reconcile.Kept{}
		err := rows.Each(ctx, tx, `SELECT route, known FROM notified`, func(row *sql.Rows) error {
			var key string
			var known []byte
			if err := row.Scan(&key, &known); err != nil {
				return err
			}
			route, part, _ := strings.Cut(key, partedBy)
			k := all[route]
			if part == "" {
				k.Known = known
			} else {
				if k.Parts == nil {
					k.Parts = map[string]json.RawMessage{}
				}
				k.Parts[part] = known
			}
			all[route] = k
			return nil
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
func (o *Outbox) Post(ctx context.Context, route, part string, known json.RawMessage, messages []reconcile.Posted) error {
	return o.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		key := route
		if part != "" {
			key += partedBy + part
		}
		var err error
		if known == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM notified WHERE route = $1`, key)
		} else {
			const keep = `INSERT INTO notified (route, known) VALUES ($1, $2) ON CONFLICT (route) DO UPDATE SET known = excluded.known`
			_, err = tx.ExecContext(ctx, keep, key, string(known))
		}
		if err != nil {
			return err
		}
		const post = `INSERT INTO outbox (id, route, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
		err = rows.Exec(ctx, tx, post, messages, func(p reconcile.Posted) []any { return []any{p.ID, route, string(p.Body)} })
		if err != nil || len(messages) == 0 {
			return err
		}
		return o.next(ctx, tx, route)
	})
}

// Posted implements [reconcile.Outbox].
func (o *Outbox) Posted(ctx context.Context, id string) error {
	return o.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var route string
		err := tx.QueryRowContext(ctx, `DELETE FROM outbox WHERE id = $1 RETURNING route`, id).Scan(&route)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		return o.next(ctx, tx, route)
	})
}

// ForgetRoute implements [reconcile.Outbox].
func (o *Outbox) ForgetRoute(ctx context.Context, route string) error {
	return o.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM outbox WHERE route = $1`, route); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM notified WHERE route = $1 OR substr(route, 1, $2) = $3`, route, len(route+partedBy), route+partedBy)
		return err
	})
}
