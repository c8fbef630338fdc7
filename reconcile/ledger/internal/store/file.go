// Package store is the file of the ledger: how it is made, opened and refused, its schema,
// how writes share a transaction, and what failures are.
//
//	file, err := store.Open(path, frequent...)    // the texts of statements to prepare
//	err = file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { … })
//	err = file.Read(ctx, func(tx *sql.Tx) error { … })
//
// The parts of the ledger hold one [File] and keep their tables in it. Each names its own
// tables; the schema alone has all of them.
package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/seawall-dev/seawall/reconcile/ledger/history"
)

// Settings are what a program may set once the ledger is open, before the first write.
type Settings struct {
	// Now stamps rows, for a person who looks into the file; nil leaves them without a
	// time.
	Now func() time.Time
	// Keep bounds the history; the zero value keeps all.
	Keep history.Bounds
	// User is who runs the command that the ledger is opened for, USER@HOST, for the
	// history; empty for a daemon.
	User string
}

// File is one open file. It is safe for concurrent use.
type File struct {
	*Settings

	DB       *sql.DB // nil: there is no file, and none may be created
	Path     string
	ReadOnly bool // methods that write return [ErrReadOnly]
	Created  bool // there was none

	Traces []string    // files of an earlier ledger that were there when this one was created
	opened fs.FileInfo // what is open; nil: it is not written to
	log    *entryLog
	group  grouping
	checks checking
	beside beside
}

// Open opens the ledger at path for reading and writing. Where there is none it
// creates one with mode 0600, in a folder that it creates with mode 0700 if
// need be. frequent are the texts of statements for [File.Often]. Errors answer
// [errors.As] for [*Error].
func Open(path string, frequent ...string) (*File, error) {
	there, err := exists(path)
	if err != nil {
		return nil, Explain("opening", path, err)
	}
	var earlier []string
	if !there {
		earlier = traces(path)
		if err := Create(path); err != nil {
			return nil, Explain("creating", path, err)
		}
	}
	f, err := open(path, "rw")
	if err != nil {
		return nil, err
	}
	f.Created, f.Traces = !there, earlier
	f.group.texts = slices.Concat(history.Frequent, frequent)
	if err = f.prepare(); err == nil {
		err = f.openLog()
	}
	if err == nil {
		f.opened, err = os.Stat(path)
	}
	if err != nil {
		return nil, errors.Join(Explain("opening", path, err), f.Close())
	}
	return f, nil
}

// OpenReadOnly opens the ledger at path beside whoever writes to it. Where there
// is none it recalls nothing and creates nothing. Methods that write return
// [ErrReadOnly]. Errors answer [errors.As] for [*Error].
func OpenReadOnly(path string) (*File, error) {
	there, err := exists(path)
	if err != nil {
		return nil, Explain("opening", path, err)
	}
	if !there {
		return &File{Settings: &Settings{}, Path: path, ReadOnly: true}, nil
	}
	f, err := open(path, "ro")
	if err != nil {
		return nil, err
	}
	f.ReadOnly = true
	if err := f.check(exactly(SchemaVersion)); err != nil {
		return nil, errors.Join(Explain("opening", path, err), f.Close())
	}
	return f, nil
}

// traces returns the files that only a ledger leaves beside it.
func traces(path string) (names []string) {
	for _, path := range []string{MarkPath(path), CheckedPath(path)} {
		if _, err := os.Stat(path); err == nil {
			names = append(names, filepath.Base(path))
		}
	}
	return names
}

// Close closes the file. What was written is on the disk already.
func (f *File) Close() error {
	if f.DB == nil {
		return nil
	}
	good := f.Present() == nil
	err := errors.Join(f.beside.close(), f.DB.Close())
	f.checks.end(f.Path, good && err == nil)
	return Explain("closing", f.Path, err)
}

// open makes the handle; it looks at nothing yet.
func open(path, mode string) (*File, error) {
	db, err := handle(path, mode)
	if err != nil {
		return nil, Explain("opening", path, err)
	}
	// Writers would only wait for each other, and fail where one of them started
	// as a reader.
	db.SetMaxOpenConns(1)
	return &File{Settings: &Settings{}, DB: db, Path: path}, nil
}

// handle makes the handle of a file. Every connection of its pool gets the same pragmas. Transactions that write say so at their start (immediate): one that
// turns from reader to writer fails at once where another process wrote between.
func handle(path, mode string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	pragmas := url.Values{
		"mode":          {mode},
		"_txlock":       {"immediate"},
		"_busy_timeout": {"10000"}, // milliseconds
		"_synchronous":  {"FULL"},  // a commit survives a loss of power
		"_foreign_keys": {"on"},
		"_defensive":    {"1"},
		"_dqs":          {"0"}, // "x" is a column or a mistake, never a string
		"_error_rc":     {"1"}, // no text of another operation in errors
		"_pragma":       {"secure_delete(ON)"},
	}
	file := url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: pragmas.Encode()}
	return sql.Open("sqlite", file.String())
}

// exists reports whether there is a ledger at path that nobody else may write to. A
// file of no length is none of ours: [Create] never shows one.
func exists(path string) (bool, error) {
	if err := Guarded(filepath.Dir(path), path, path+"-wal", path+"-shm", path+"-lock", MarkPath(path), HeadPath(path), CheckedPath(path), ClaimsPath(path)); err != nil {
		return false, err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, orphaned(path)
	}
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, Fault(ErrForeign, "it is not a regular file")
	}
	if info.Size() == 0 {
		return false, Fault(ErrDamaged, "it has no content")
	}
	return true, nil
}

// orphaned refuses to begin anew beside the write-ahead log of a ledger that is
// gone: it holds what was written last, and SQLite would play it into the new
// file.
func orphaned(path string) error {
	log, err := os.Stat(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) || err == nil && log.Size() == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	// Another process may have created both since.
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return Fault(ErrDamaged, "it is missing, but "+filepath.Base(path)+"-wal with its latest writes exists")
}

// prepare refuses what is not a ledger of ours before anything is written, then
// brings an older one up to date.
func (f *File) prepare() error {
	if err := f.check(upTo(SchemaVersion)); err != nil {
		return err
	}
	ctx := context.Background()
	// A copy made with VACUUM INTO comes without write-ahead log.
	var mode string
	if err := f.DB.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return Fault(ErrFailed, "the file system does not support a write-ahead log")
	}
	return migrate(ctx, f.DB)
}

// Read runs do in a transaction that only reads; it does nothing where there is no
// ledger.
func (f *File) Read(ctx context.Context, do func(*sql.Tx) error) error {
	if f.DB == nil {
		return nil
	}
	return f.read(ctx, f.DB, do)
}

func (f *File) read(ctx context.Context, db *sql.DB, do func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	return f.checks.noted(do(tx))
}

// Read returns what read reads in a transaction of its own, by [File.Read]; the zero value
// where there is no ledger, and after an error, which says that it came of reading the file.
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

// TruncateLog moves the write-ahead log into the file and empties it. A reader that is in
// the way is no error.
func (f *File) TruncateLog() error {
	var busy, frames, moved int
	return f.DB.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
}

// ClaimsPath is the file beside a ledger in which processes that write to zones have locks.
func ClaimsPath(ledger string) string { return ledger + "-claims" }

// MarkPath is the file beside a ledger by which a copy of the ledger is found.
func MarkPath(ledger string) string { return ledger + "-mark" }
