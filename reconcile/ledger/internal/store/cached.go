package store

import (
	"context"
	"database/sql"
	"sync"
)

// Cached is what was read last of what was said, which table said has a version of, and that by
// which it is read. The zero value has read nothing.
type Cached[T any] struct {
	mu      sync.Mutex // held while there is read, and guards what follows
	by      looking    // nil: nothing was read yet
	loaded  int64      // the version of value
	version int64      // the same, or one to which only steps have led since
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

// looking is how it is looked whether something else was said, and read what.
type looking interface {
	// version runs currentVersion, and in a transaction that begin has begun, where tx is not nil.
	version(ctx context.Context, tx *sql.Tx) (version, newest int64, err error)
	begin(ctx context.Context) (*sql.Tx, error)
	close()
}

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
func (c *Cached[T]) Read(ctx context.Context, f *File, load func(context.Context, *sql.Tx) (T, error)) (s Said[T], err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	same, newest, err := c.look(ctx, f)
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
func (c *Cached[T]) Same(ctx context.Context, f *File, loaded int64) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil || loaded != c.loaded {
		return false, nil
	}
	same, _, err := c.look(ctx, f)
	if err != nil {
		c.drop()
	}
	return same, err
}

// look reports whether the value is the one of now, but for own steps.
func (c *Cached[T]) look(ctx context.Context, f *File) (same bool, newest int64, err error) {
	if err := ctx.Err(); err != nil {
		return false, 0, err
	}
	if c.by == nil {
		c.by, err = f.base.look(ctx)
		return false, 0, err
	}
	version, newest, err := c.by.version(ctx, nil)
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
	tx, err := c.by.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
	version, newest, err := c.by.version(ctx, tx) // of the moment at which the transaction sees the ledger
	if err != nil {
		return 0, err
	}
	if c.value, err = load(ctx, tx); err != nil {
		return 0, err
	}
	c.version, c.loaded, c.own = version, version, nil
	return newest, nil
}

// Close gives the connection back.
func (c *Cached[T]) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
}

func (c *Cached[T]) drop() {
	if c.by != nil {
		c.by.close()
	}
	var none T
	c.by, c.version, c.loaded, c.own, c.value = nil, 0, 0, nil, none
}
