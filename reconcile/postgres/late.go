package postgres

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

type lateKey struct{}

// Late returns the context of statements whose results say nothing: in a transaction of [Begin] each is sent
// with the next one that is asked for something, or before the end of the transaction. What it fails
// with comes then, too, as a [LateError]. So a change of some statements costs one answer of the
// server, and on a network that is most of what it takes. A query in this context is sent with those
// that wait, and its rows are few.
func Late(ctx context.Context) context.Context { return context.WithValue(ctx, lateKey{}, true) }

func isLate(ctx context.Context) bool { return ctx.Value(lateKey{}) != nil }

// LateError is why a statement has failed before the one that says so.
type LateError struct{ Err error }

func (e *LateError) Error() string {
	return "an earlier statement of the transaction: " + e.Err.Error()
}

func (e *LateError) Unwrap() error { return e.Err }

func late(err error) error {
	if err == nil {
		return nil
	}
	return &LateError{err}
}

// takeLate takes what waits.
func (c *directConn) takeLate() *pgx.Batch {
	batch := c.late
	c.late = pgx.Batch{}
	return &batch
}

// sendLate sends what waits.
func (c *directConn) sendLate(ctx context.Context) error {
	if c.late.Len() == 0 {
		return nil
	}
	batch := c.takeLate()
	results := c.Conn.Conn().SendBatch(ctx, batch)
	_, err := done(results, batch.Len())
	return late(cmp.Or(err, results.Close()))
}

// QueryContext implements [driver.QueryerContext].
func (c *directConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if !isLate(ctx) || c.late.Len() == 0 {
		if err := c.sendLate(ctx); err != nil {
			return nil, err
		}
		return c.Conn.QueryContext(ctx, text, args)
	}
	batch := c.takeLate()
	n := batch.Len()
	batch.Queue(text, values(args)...)
	results := c.Conn.Conn().SendBatch(ctx, batch)
	if _, err := done(results, n); err != nil {
		return nil, late(cmp.Or(err, results.Close()))
	}
	rows, err := results.Query()
	if err != nil {
		return nil, cmp.Or(err, results.Close())
	}
	read, err := readRows(rows)
	if err = cmp.Or(err, results.Close()); err != nil {
		return nil, err
	}
	return read, nil
}

// values are those of a statement that is sent later. Bytes may be the caller's again before.
func values(args []driver.NamedValue) []any {
	values := make([]any, len(args))
	for i, arg := range args {
		values[i] = arg.Value
		if bytes, ok := arg.Value.([]byte); ok {
			values[i] = slices.Clone(bytes)
		}
	}
	return values
}

// fewRows are rows that were read already.
type fewRows struct {
	names []string
	rows  [][]any
}

func readRows(rows pgx.Rows) (*fewRows, error) {
	defer rows.Close()
	var read fewRows
	for _, field := range rows.FieldDescriptions() {
		read.names = append(read.names, field.Name)
	}
	for rows.Next() {
		row, err := rows.Values()
		if err != nil {
			return nil, err
		}
		read.rows = append(read.rows, row)
	}
	return &read, rows.Err()
}

func (r *fewRows) Columns() []string { return r.names }
func (r *fewRows) Close() error      { return nil }

func (r *fewRows) Next(to []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	for i, value := range r.rows[0] {
		switch v := value.(type) {
		case int16:
			to[i] = int64(v)
		case int32:
			to[i] = int64(v)
		case float32:
			to[i] = float64(v)
		case nil, int64, float64, bool, string, time.Time:
			to[i] = v
		case []byte:
			to[i] = slices.Clone(v)
		default:
			return fmt.Errorf("column %s: %T is no value of a database", r.names[i], value)
		}
	}
	r.rows = r.rows[1:]
	return nil
}
