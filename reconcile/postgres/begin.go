package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Durable is an expression that has its transaction end only when a crash cannot undo it any more,
// also where the server is set to end others sooner. What is set to wait for standbys waits as it is.
const Durable = `set_config('synchronous_commit', CASE
	WHEN current_setting('synchronous_commit') = 'off' OR current_setting('synchronous_commit') = 'local' AND current_setting('synchronous_standby_names') <> ''
	THEN 'on' ELSE current_setting('synchronous_commit') END, true)`

// Begin begins a transaction that writes, which is [Durable] and has timeouts, and runs its first
// statement. All of it is sent at once: on a network most of the time of a transaction is that of its
// statements. The statement has no parameters.
func Begin(ctx context.Context, db *sql.DB, first string) (*sql.Tx, error) {
	return db.BeginTx(beginning(ctx, "begin; "+timeouts(statementWithin)+", "+Durable+"; "+first), nil)
}

// BeginReading is Begin for one that only reads, and sees one moment.
func BeginReading(ctx context.Context, db *sql.DB) (*sql.Tx, error) {
	return db.BeginTx(beginning(ctx, "begin isolation level repeatable read read only; "+timeouts(readingWithin)), nil)
}

// timeouts is a statement that sets those of its transaction. They end with it.
func timeouts(statement time.Duration) string {
	return fmt.Sprintf(
		`SELECT set_config('statement_timeout', '%d', true), set_config('lock_timeout', '%d', true), set_config('idle_in_transaction_session_timeout', '%d', true)`,
		statement.Milliseconds(), lockWithin.Milliseconds(), idleInTransaction.Milliseconds())
}

type beginKey struct{}

// beginning returns the context of a transaction that begins with these statements.
func beginning(ctx context.Context, statements string) context.Context {
	return context.WithValue(ctx, beginKey{}, statements)
}

// BeginTx implements [driver.ConnBeginTx].
func (c directConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	statements, ok := ctx.Value(beginKey{}).(string)
	if !ok {
		return c.Conn.BeginTx(ctx, opts)
	}
	conn := c.Conn.Conn()
	if conn.IsClosed() {
		return nil, driver.ErrBadConn
	}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: statements})
	if err != nil {
		if !conn.IsClosed() && conn.PgConn().TxStatus() != 'I' { // it has begun
			_, _ = conn.Exec(ctx, "rollback") // what fails here is used no more
		}
		return nil, err
	}
	return directTx{ctx, tx}, nil
}

type directTx struct {
	ctx context.Context //nolint:containedctx // as database/sql has it: of the whole transaction
	tx  pgx.Tx
}

func (t directTx) Commit() error   { return t.tx.Commit(t.ctx) }
func (t directTx) Rollback() error { return t.tx.Rollback(t.ctx) }
