package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

// The one connection of a [File] is the one that writes, so whoever reads with it waits for
// the disk, and whoever writes waits for the reader. What people look at is read beside it.

// mostBeside is how many reads go on at once; a connection that none needs is closed after
// idleBeside.
const (
	mostBeside = 2
	idleBeside = time.Minute
)

// places are for as many at once. Where there are none, none is needed.
type places chan struct{}

func (p places) enter(ctx context.Context) error {
	if p == nil {
		return nil
	}
	select {
	case p <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p places) leave() {
	if p != nil {
		<-p
	}
}

// aside are connections that only read. The zero value has none.
type aside struct {
	mu     sync.Mutex
	db     *sql.DB // nil: nothing was read yet
	closed bool
}

// open returns the connections, and opens them where they are not.
func (b *aside) open(path string) (*sql.DB, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errors.New("the ledger is closed")
	}
	if b.db == nil {
		db, err := handle(path, "ro")
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(mostBeside)
		db.SetConnMaxIdleTime(idleBeside)
		b.db = db
	}
	return b.db, nil
}

func (b *aside) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.db == nil {
		return nil
	}
	return b.db.Close()
}

// fileLook is a connection of its own, with the statement that is run each second prepared.
type fileLook struct {
	db      *sql.DB
	conn    *sql.Conn
	current *sql.Stmt
}

func (d *disk) look(ctx context.Context) (looking, error) {
	db, err := handle(d.path, "ro")
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	current, err := conn.PrepareContext(ctx, currentVersion)
	if err != nil {
		_, _ = conn.Close(), db.Close()
		return nil, err
	}
	return &fileLook{db, conn, current}, nil
}

func (l *fileLook) begin(ctx context.Context) (*sql.Tx, error) {
	return l.conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
}

func (l *fileLook) version(ctx context.Context, tx *sql.Tx) (version, newest int64, err error) {
	current := l.current
	if tx == nil {
		ctx = context.WithoutCancel(ctx) // the driver has a goroutine for each statement that may be stopped
	} else {
		current = tx.StmtContext(ctx, current)
	}
	err = current.QueryRowContext(ctx).Scan(&version, &newest)
	return version, newest, err
}

func (l *fileLook) close() { _, _, _ = l.current.Close(), l.conn.Close(), l.db.Close() }
