package store

import (
	"context"
	"database/sql"
	"sync"
)

// Cached is what was read last, and the connection that tells whether it is what
// there is: SQLite counts, for each connection, what all others have written. The zero
// value has read nothing.
type Cached[T any] struct {
	mu      sync.Mutex // held while there is read, and guards what follows
	db      *sql.DB
	conn    *sql.Conn // nil: nothing was read yet
	current *sql.Stmt // asks for the version of the file
	version int64
	value   T
}

// Read returns what load reads in a transaction, and calls it only where somebody has
// written since: all or nothing of it. What it returns is shared.
func (c *Cached[T]) Read(ctx context.Context, path string, load func(context.Context, *sql.Tx) (T, error)) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.refresh(ctx, path, load); err != nil {
		c.drop()
		var none T
		return none, err
	}
	return c.value, nil
}

func (c *Cached[T]) refresh(ctx context.Context, path string, load func(context.Context, *sql.Tx) (T, error)) error {
	if c.conn == nil {
		if err := c.connect(ctx, path); err != nil {
			return err
		}
	} else if version, err := versionOf(ctx, c.current); err != nil || version == c.version {
		return err
	}
	tx, err := c.conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	version, err := versionOf(ctx, tx.StmtContext(ctx, c.current)) // of the moment at which the transaction sees the file
	if err != nil {
		return err
	}
	if c.value, err = load(ctx, tx); err != nil {
		return err
	}
	c.version = version
	return nil
}

func versionOf(ctx context.Context, current *sql.Stmt) (version int64, err error) {
	err = current.QueryRowContext(ctx).Scan(&version)
	return version, err
}

// connect opens the connection for reading. It is never written through, or its own
// writes would not count.
func (c *Cached[T]) connect(ctx context.Context, path string) error {
	db, err := handle(path, "ro")
	if err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		_ = db.Close()
		return err
	}
	current, err := conn.PrepareContext(ctx, "PRAGMA data_version")
	if err != nil {
		_, _ = conn.Close(), db.Close()
		return err
	}
	c.db, c.conn, c.current = db, conn, current
	return nil
}

// Close gives the connection back.
func (c *Cached[T]) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
}

func (c *Cached[T]) drop() {
	if c.conn != nil {
		_, _, _ = c.current.Close(), c.conn.Close(), c.db.Close()
	}
	var none T
	c.db, c.conn, c.current, c.version, c.value = nil, nil, nil, 0, none
}
