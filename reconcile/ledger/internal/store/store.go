// Package store is the database of the ledger, a file or PostgreSQL: how it is made, opened and
// refused, its schema, how writes share a transaction, and what failures are.
//
//	file, err := store.Open(path, frequent...)           // the texts of statements to prepare
//	file, err := store.Connect(ctx, config, frequent...) // the same over PostgreSQL
//	err = file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { … })
//	err = file.Read(ctx, func(tx *sql.Tx) error { … })
//
// The parts of the ledger hold one [File] and keep their tables in it. Each names its own
// tables; the schema alone has all of them. What is special about a file stands in disk.go and the
// files that it names, what is special about PostgreSQL in server.go.
package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/reconcile/ledger/history"
)

// Settings are what a program may set once the ledger is open, before the first write.
type Settings struct {
	// Now stamps rows, for a person who looks into the database; nil leaves them without a
	// time.
	Now func() time.Time
	// Keep bounds the history; the zero value keeps all.
	Keep history.Bounds
	// User is who runs the command that the ledger is opened for, USER@HOST, for the
	// history; empty for a daemon.
	User string
	// Seen is a file of this machine that says which entry of the history it has written last, over
	// PostgreSQL: by that it sees that the database was put back to an earlier time. Without one, or
	// where it gets lost, nothing is known.
	Seen string
}

// File is one open ledger. It is safe for concurrent use.
type File struct {
	*Settings

	DB       *sql.DB // nil: there is no ledger, and none may be created
	Path     string  // of the file; the URL of the database, without a password
	ReadOnly bool    // methods that write return [ErrReadOnly]
	Created  bool    // there was none

	Traces []string // files of an earlier ledger that were there when this one was created
	log    *entryLog
	group  grouping
	base   base

	reads, besides places // of all reads, and of those beside; nil: their connections bound them
}

// base is the database under a ledger.
type base interface {
	// present fails where it is not the one that was opened any more.
	present() error
	// begin begins a transaction that writes: no other comes between its statements.
	begin(ctx context.Context) (*sql.Tx, error)
	// admit refuses a change before it runs, with [reconcile.ErrLeaseLost], and returns its context.
	admit(ctx context.Context, tx *sql.Tx) (context.Context, error)
	// commit ends a transaction. After an error nothing of it was kept, unless that is [ErrUnsure].
	commit(tx *sql.Tx) error
	// again reports whether a change that has failed so often, and of which nothing was kept, may be
	// made once more.
	again(err error, failures int) bool
	// read and beside begin a transaction that sees one moment; beside waits for no writer.
	read(ctx context.Context) (*sql.Tx, error)
	beside(ctx context.Context) (*sql.Tx, error)
	// look opens what [Cached] reads by.
	look(ctx context.Context) (looking, error)
	// noted returns an error, and takes note of what it says of the database.
	noted(err error) error
	// wipe overwrites what is left of deleted rows beside the tables.
	wipe() error
	close() error
}

// Close closes the ledger. What was written is kept already.
func (f *File) Close() error {
	if f.DB == nil {
		return nil
	}
	return Explain("closing", f.Path, f.base.close())
}

// Present returns [ErrGone] where the ledger is not the one that was opened any more. A connection
// must be open. For one that is open for reading only it does nothing.
func (f *File) Present() error {
	if f.base == nil || f.ReadOnly {
		return nil
	}
	return f.base.present()
}

// Database is the database that several processes share; nil for a file, and where there is none.
func (f *File) Database() *sql.DB {
	if _, ok := f.base.(*server); ok {
		return f.DB
	}
	return nil
}

// Wipe overwrites what a file still has of rows that were deleted. A reader that is in the way is
// no error.
func (f *File) Wipe() error { return f.base.wipe() }

// Read runs do in a transaction that only reads; it does nothing where there is no
// ledger.
func (f *File) Read(ctx context.Context, do func(*sql.Tx) error) error {
	if f.DB == nil {
		return nil
	}
	return f.read(ctx, f.base.read, do)
}

// ReadBeside runs do in a transaction that only reads, which no writer waits for, and which
// waits for none; it does nothing where there is no ledger.
func (f *File) ReadBeside(ctx context.Context, do func(*sql.Tx) error) error {
	if f.DB == nil {
		return nil
	}
	if err := f.besides.enter(ctx); err != nil {
		return err
	}
	defer f.besides.leave()
	return f.read(ctx, f.base.beside, do)
}

func (f *File) read(ctx context.Context, begin func(context.Context) (*sql.Tx, error), do func(*sql.Tx) error) error {
	if err := f.reads.enter(ctx); err != nil {
		return err
	}
	defer f.reads.leave()
	tx, err := begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	return f.base.noted(do(tx))
}

// Read returns what read reads in a transaction of its own, by [File.Read]; the zero value
// where there is no ledger, and after an error, which says that it came of reading.
func Read[T any](ctx context.Context, f *File, read func(context.Context, *sql.Tx) (T, error)) (value T, err error) {
	err = f.Read(ctx, func(tx *sql.Tx) error {
		value, err = read(ctx, tx)
		return err
	})
	if err != nil {
		var none T
		return none, Explain("reading", f.Path, err)
	}
	return value, nil
}

// Write runs do in a transaction, with other writes or alone. When it returns without an
// error the change is kept; with one, nothing of it is, unless that is [ErrUnsure].
func (f *File) Write(ctx context.Context, do Change) error {
	if f.ReadOnly {
		return Explain("writing", f.Path, Fault(ErrReadOnly, ""))
	}
	return Explain("writing", f.Path, f.base.noted(f.group.write(ctx, do)))
}

// Exec is Write of one statement.
func (f *File) Exec(ctx context.Context, statement string, args ...any) error {
	return f.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	})
}

// begun makes a ledger ready for writing.
func (f *File) begun(frequent []string) error {
	f.group.base, f.group.db, f.group.texts = f.base, f.DB, slices.Concat(history.Frequent, frequent)
	return f.openLog()
}

// opened closes a ledger that could not be made ready.
func opened(f *File, err error) (*File, error) {
	if err != nil {
		return nil, errors.Join(Explain("opening", f.Path, err), f.Close())
	}
	return f, nil
}
