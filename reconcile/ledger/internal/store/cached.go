package store

import (
	"context"
	"database/sql"
	"sync"
)

// Cached is what was read last of what was said, which table said has a version of, and the
// connection by which it is read. The zero value has read nothing.
type Cached[T any] struct {
	mu      sync.Mutex // held while there is read, and guards what follows
	db      *sql.DB
	conn    *sql.Conn // nil: nothing was read yet
	current *sql.Stmt // currentVersion
	version int64
	value   T
}

// currentVersion is the version of what was said, and the number of the newest entry of the history.
const currentVersion = `SELECT version, head_number FROM said, history_ends`

// Read returns what load reads in a transaction, and calls it only where something else was
// said since: all or nothing of it. What it returns is shared. newest is the number of the
// newest entry of the history at the same moment.
func (c *Cached[T]) Read(ctx context.Context, path string, load func(context.Context, *sql.Tx) (T, error)) (value T, newest int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if newest, err = c.refresh(ctx, path, load); err != nil {
		c.drop()
		return value, 0, err
	}
	return c.value, newest, nil
}

func (c *Cached[T]) refresh(ctx context.Context, path string, load func(context.Context, *sql.Tx) (T, error)) (newest int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if c.conn == nil {
		if err := c.connect(ctx, path); err != nil {
			return 0, err
		}
	} else {
		version, newest, err := versionOf(context.WithoutCancel(ctx), c.current) // the driver has a goroutine for each statement that may be stopped
		if err != nil || version == c.version {
			return newest, err
		}
	}
	tx, err := c.conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
	version, newest, err := versionOf(ctx, tx.StmtContext(ctx, c.current)) // of the moment at which the transaction sees the file
	if err != nil {
		return 0, err
	}
	if c.value, err = load(ctx, tx); err != nil {
		return 0, err
	}
	c.version = version
	return newest, nil
}

func versionOf(ctx context.Context, current *sql.Stmt) (version, newest int64, err error) {
	err = current.QueryRowContext(ctx).Scan(&version, &newest)
	return version, newest, err
}

// connect opens the connection for reading.
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
	current, err := conn.PrepareContext(ctx, currentVersion)
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
