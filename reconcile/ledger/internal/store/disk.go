package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// disk is a file. How it is made stands in create.go, who may write to it in guarded.go, whether it
// is still there in present.go, and when it is checked in checked.go.
type disk struct {
	db     *sql.DB
	path   string
	opened fs.FileInfo // nil: it is not written to
	checks checking
	aside  aside
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
	d := f.base.(*disk)
	f.Created, f.Traces = !there, earlier
	if err = d.prepare(); err == nil {
		err = f.begun(frequent)
	}
	if err == nil {
		d.opened, err = os.Stat(path)
	}
	return opened(f, err)
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
	return opened(f, f.base.(*disk).check(exactly(SchemaVersion), false))
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

// open makes the handle; it looks at nothing yet.
func open(path, mode string) (*File, error) {
	db, err := handle(path, mode)
	if err != nil {
		return nil, Explain("opening", path, err)
	}
	// Writers would only wait for each other, and fail where one of them started
	// as a reader.
	db.SetMaxOpenConns(1)
	return &File{Settings: &Settings{}, DB: db, Path: path, base: &disk{db: db, path: path}}, nil
}

func (d *disk) close() error {
	good := d.present() == nil
	err := errors.Join(d.aside.close(), d.db.Close())
	d.checks.end(d.path, good && err == nil)
	return err
}

func (d *disk) begin(ctx context.Context) (*sql.Tx, error) { return d.db.BeginTx(ctx, nil) }

// admit lets all pass: one process at a time writes, and there are no leases.
func (d *disk) admit(ctx context.Context, _ *sql.Tx) (context.Context, error) { return ctx, nil }

func (d *disk) commit(tx *sql.Tx) error { return tx.Commit() }

// again is for no failure: SQLite has waited already.
func (d *disk) again(error, int) bool { return false }

func (d *disk) read(ctx context.Context) (*sql.Tx, error) { return reading(ctx, d.db) }

func (d *disk) beside(ctx context.Context) (*sql.Tx, error) {
	db, err := d.aside.open(d.path)
	if err != nil {
		return nil, err
	}
	return reading(ctx, db)
}

func reading(ctx context.Context, db *sql.DB) (*sql.Tx, error) {
	return db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
}

func (d *disk) noted(err error) error { return d.checks.noted(err) }

// wipe moves the write-ahead log into the file and empties it.
func (d *disk) wipe() error {
	var busy, frames, moved int
	return d.db.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
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
func (d *disk) prepare() error {
	if err := d.check(upTo(SchemaVersion), true); err != nil {
		return err
	}
	ctx := context.Background()
	// A copy made with VACUUM INTO comes without write-ahead log.
	var mode string
	if err := d.db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return Fault(ErrFailed, "the file system does not support a write-ahead log")
	}
	return migrate(ctx, d.db)
}

// ClaimsPath is the file beside a ledger in which processes that write to zones have locks.
func ClaimsPath(ledger string) string { return ledger + "-claims" }

// MarkPath is the file beside a ledger by which a copy of the ledger is found.
func MarkPath(ledger string) string { return ledger + "-mark" }
