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
	loaded  int64     // the version of value
	version int64     // the same, or one to which only steps have led since
	value   T
	own     []string           // what the steps have ended
	steps   map[int64]ownSteps // by the version before each
}

// ownSteps are approvals that this process has spent, and the version that this has led to.
type ownSteps struct {
	after int64
	ended []string
}

// mostSteps bounds the steps that are kept; without one of them all is read anew.
const mostSteps = 10_000

// currentVersion is the version of what was said, and the number of the newest entry of the history.
const currentVersion = `SELECT version, head_number FROM said, history_ends`

// Step has a transaction make a change of this process's own, and notes that it does nothing but
// end what is named. Whoever reads next knows that without reading all anew. A change that is
// undone leaves a step to a version that there never is.
func (c *Cached[T]) Step(ctx context.Context, tx *sql.Tx, ended []string, change func() error) error {
	version := func() (version int64, err error) {
		err = tx.QueryRowContext(ctx, `SELECT version FROM said`).Scan(&version)
		return version, err
	}
	before, err := version()
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	after, err := version()
	if err != nil || after == before {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.steps == nil || len(c.steps) >= mostSteps {
		c.steps = map[int64]ownSteps{}
	}
	c.steps[before] = ownSteps{after, ended}
	return nil
}

// Said is what was read: a value, its version, and what this process has ended since.
type Said[T any] struct {
	Value  T // shared
	Loaded int64
	Ended  []string // shared
	Newest int64    // the number of the newest entry of the history at the same moment
}

// Read returns what load reads in a transaction, and calls it only where something else was
// said since: all or nothing of it.
func (c *Cached[T]) Read(ctx context.Context, path string, load func(context.Context, *sql.Tx) (T, error)) (s Said[T], err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	same, newest, err := c.look(ctx, path)
	if err == nil && !same {
		newest, err = c.refresh(ctx, load)
	}
	if err != nil {
		c.drop()
		return s, err
	}
	return Said[T]{c.value, c.loaded, c.own, newest}, nil
}

// Same reports whether Read would return the value with this version.
func (c *Cached[T]) Same(ctx context.Context, path string, loaded int64) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil || loaded != c.loaded {
		return false, nil
	}
	same, _, err := c.look(ctx, path)
	if err != nil {
		c.drop()
	}
	return same, err
}

// look reports whether the value is the one of now, but for own steps.
func (c *Cached[T]) look(ctx context.Context, path string) (same bool, newest int64, err error) {
	if err := ctx.Err(); err != nil {
		return false, 0, err
	}
	if c.conn == nil {
		return false, 0, c.connect(ctx, path)
	}
	version, newest, err := versionOf(context.WithoutCancel(ctx), c.current) // the driver has a goroutine for each statement that may be stopped
	if err != nil {
		return false, 0, err
	}
	for version != c.version {
		step, ok := c.steps[c.version]
		if !ok {
			return false, newest, nil
		}
		delete(c.steps, c.version)
		c.version, c.own = step.after, append(c.own, step.ended...)
	}
	return true, newest, nil
}

func (c *Cached[T]) refresh(ctx context.Context, load func(context.Context, *sql.Tx) (T, error)) (newest int64, err error) {
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
	c.version, c.loaded, c.own = version, version, nil
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
	c.db, c.conn, c.current, c.version, c.loaded, c.own, c.value = nil, nil, nil, 0, 0, nil, none
}
