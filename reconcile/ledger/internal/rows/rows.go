// Package rows reads what the queries of the ledger select, and runs a statement for each of
// several items. It works inside the transactions of its caller.
package rows

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// Each calls take with each row of a query, until one fails.
func Each(ctx context.Context, tx *sql.Tx, query string, take func(*sql.Rows) error, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := take(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// All returns what scan makes of each row of a query; nil for none, and after an error.
func All[T any](ctx context.Context, tx *sql.Tx, query string, scan func(*sql.Rows, *T) error, args ...any) (all []T, err error) {
	err = Each(ctx, tx, query, func(row *sql.Rows) error {
		var one T
		if err := scan(row, &one); err != nil {
			return err
		}
		all = append(all, one)
		return nil
	}, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Map returns what scan makes of each row of a query, by its key; nil after an error.
func Map[K comparable, V any](ctx context.Context, tx *sql.Tx, query string, scan func(*sql.Rows, *K, *V) error, args ...any) (map[K]V, error) {
	all := map[K]V{}
	err := Each(ctx, tx, query, func(row *sql.Rows) error {
		var key K
		var value V
		if err := scan(row, &key, &value); err != nil {
			return err
		}
		all[key] = value
		return nil
	}, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Part reads a part of a record.
type Part func(context.Context, *sql.Tx) error

// Into is the part that read returns.
func Into[T any](part *T, read func(context.Context, *sql.Tx) (T, error)) Part {
	return func(ctx context.Context, tx *sql.Tx) (err error) {
		*part, err = read(ctx, tx)
		return err
	}
}

// Parts reads one part after the other, until one fails.
func Parts(ctx context.Context, tx *sql.Tx, parts ...Part) error {
	for _, read := range parts {
		if err := read(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// Found reports whether a query for one row has found it; err is what its Scan has returned.
func Found(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// Exec runs a statement once for each item, with the arguments that args returns. It is
// prepared once: to prepare it takes longer than to run it.
func Exec[T any](ctx context.Context, tx *sql.Tx, statement string, items []T, args func(T) []any) error {
	if len(items) == 0 {
		return nil
	}
	if postgres.Batches(ctx) {
		return execBatches(ctx, tx, statement, items, args)
	}
	prepared, err := tx.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	defer func() { _ = prepared.Close() }()
	for _, item := range items {
		if _, err := prepared.ExecContext(ctx, args(item)...); err != nil {
			return err
		}
	}
	return nil
}

// Bit is how a row holds a bool.
func Bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// mostInBatch bounds what is on its way at once.
const mostInBatch = 1000

func execBatches[T any](ctx context.Context, tx *sql.Tx, statement string, items []T, args func(T) []any) error {
	for some := range slices.Chunk(items, mostInBatch) {
		batch := make(postgres.Batch, len(some))
		for i, item := range some {
			batch[i] = args(item)
		}
		if _, err := tx.ExecContext(ctx, statement, batch); err != nil {
			return err
		}
	}
	return nil
}

// Changed runs a statement and reports whether it has changed a row.
func Changed(ctx context.Context, tx *sql.Tx, statement string, args ...any) (bool, error) {
	done, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n > 0, err
}
