package postgres

import (
	"cmp"
	"context"
	"database/sql/driver"

	"github.com/jackc/pgx/v5"
)

// Batch are the arguments of many runs of one statement, in the place of those of one. All are sent
// before the first is answered: on a network that is most of the time they would take.
//
//	_, err := tx.ExecContext(ctx, statement, postgres.Batch{{1, "a"}, {2, "b"}})
type Batch [][]any

// ExecContext runs a statement once, or for all of a [Batch].
func (c *directConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	if c.waits && isLate(ctx) {
		c.late.Queue(text, values(args)...)
		return driver.RowsAffected(0), nil
	}
	if err := c.sendLate(ctx); err != nil {
		return nil, err
	}
	if len(args) == 1 {
		if many, ok := args[0].Value.(Batch); ok {
			return c.send(ctx, text, many)
		}
	}
	return c.Conn.ExecContext(ctx, text, args)
}

func (c *directConn) send(ctx context.Context, text string, many Batch) (driver.Result, error) {
	var batch pgx.Batch
	for _, args := range many {
		values := make([]any, len(args))
		for i, arg := range args {
			values[i] = sent(arg)
		}
		batch.Queue(text, values...)
	}
	results := c.Conn.Conn().SendBatch(ctx, &batch)
	changed, err := done(results, len(many))
	return driver.RowsAffected(changed), cmp.Or(err, results.Close())
}

// done takes the results of so many statements, and says how many rows they have changed.
func done(results pgx.BatchResults, n int) (changed int64, err error) {
	for range n {
		one, err := results.Exec()
		if err != nil {
			return changed, err
		}
		changed += one.RowsAffected()
	}
	return changed, nil
}

type batchKey struct{}

// Batching returns the context of work in a transaction of this package.
func Batching(ctx context.Context) context.Context { return context.WithValue(ctx, batchKey{}, true) }

// Batches reports whether the transaction of a context takes a [Batch].
func Batches(ctx context.Context) bool { return ctx.Value(batchKey{}) != nil }
