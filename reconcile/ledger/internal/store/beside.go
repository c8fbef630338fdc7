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

// beside are connections that only read. The zero value has none.
type beside struct {
	mu     sync.Mutex
	db     *sql.DB // nil: nothing was read yet
	closed bool
}

// open returns the connections, and opens them where they are not.
func (b *beside) open(path string) (*sql.DB, error) {
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

func (b *beside) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.db == nil {
		return nil
	}
	return b.db.Close()
}

// ReadBeside runs do in a transaction that only reads, which no writer waits for, and which
// waits for none; it does nothing where there is no ledger.
func (f *File) ReadBeside(ctx context.Context, do func(*sql.Tx) error) error {
	if f.DB == nil {
		return nil
	}
	db, err := f.beside.open(f.Path)
	if err != nil {
		return err
	}
	return f.read(ctx, db, do)
}
