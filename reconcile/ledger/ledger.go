// Package ledger keeps what must survive a crash in one SQLite file: what each
// deployment's declaration owned when it was last proved, which changes the
// platform did not keep, and how much the accepted commit declares.
//
//	memory, err := ledger.Open("/var/lib/seawall/ledger.db")
//	if err != nil { … }
//	defer memory.Close()
//	memory.Now = time.Now
//	record, err := memory.Restore(ctx)
//
// A [Ledger] is [reconcile.Records] and a [reconcile.Control]. The schema stands in schema.go, with what each column means. What a method writes is on the
// disk as a whole when it returns, or none of it: a process that is killed leaves the state
// before or after a call, never half. Calls that come at the same time share the wait for
// the disk (group.go).
//
// A ledger is created whole or not at all, and only where there is none. One
// that is damaged, cut short, newer than this program or somebody else's is an
// [Error] with what to try: forgetting what we own would make our own overrides
// look unmanaged, so unreadable is never empty, and nothing is ever created in
// the place of what could not be read.
//
// Several processes may share the file: one daemon, an apply by hand, and any
// number of plans, which open it with [OpenReadOnly]. That there is one daemon alone is
// [LockState]'s matter. Files and folders that others than their owner may write to are
// refused.
//
// # Tokens
//
// It is a [reconcile.TokenMemory] too, and there stricter: a token that was
// created and forgotten is created twice, so it must know when it cannot know.
//
//	memory.Binding = ledger.Binding{Platform: baseURL, Repository: gitURL}
//	if err := memory.LockTokens(); err != nil { … }        // one process at a time, until Close
//	live, err := memory.Tokens(ctx)                        // live.Unknown: a person must say
//	err = memory.Intend(ctx, record)                       // before the POST
//	err = memory.Confirm(ctx, record.Intent, id, secret)   // after it: the id and the sealed secret at once
//	secret, err = memory.Sealed(ctx, record.Intent)        // for the sink
//	err = memory.Delivered(ctx, record.Intent)             // the sealed copy is destroyed
//	err = memory.Amend(ctx, record.Intent, spec, hash)     // after an update in place
//	err = memory.Gone(ctx, record.Intent)                  // after a deletion
//
// Secrets are sealed with age; [Seal] says for whom. What destroying is worth,
// and what a restored backup looks like, stand at [Ledger.Delivered] and
// [Ledger.Init].
package ledger

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/history"
)

// Ledger is one open file. It is safe for concurrent use.
type Ledger struct {
	// Now stamps rows, for a person who looks into the file; nil leaves them
	// without a time. Set it before the first write.
	Now func() time.Time
	// Binding says what the tokens in the ledger are tokens of. Set it before the
	// first use of tokens; without it all of them are unknown.
	Binding Binding
	// Seal says for whom secrets are sealed; the zero value is a key file beside
	// the ledger. Set it before the first use of tokens.
	Seal Seal

	// Keep bounds the history. Set it before the first write; the zero value keeps all.
	Keep history.Bounds
	// User is who runs the command that the ledger is opened for, USER@HOST, for the
	// history; empty for a daemon. Set it before the first write.
	User string

	db       *sql.DB // nil: there is no file, and none may be created
	log      *entryLog
	group    grouping
	path     string
	readOnly bool

	standing cached[reconcile.Standing]

	growing sync.Mutex // held while ledger and mark are to be written one after the other
	mu      sync.Mutex // guards what follows
	lock    *os.File   // the token lock, while it is held
	sealing *keys      // once they were needed
}

// Open opens the ledger at path for reading and writing. Where there is none it
// creates one with mode 0600, in a folder that it creates with mode 0700 if
// need be. Errors answer [errors.As] for [*Error].
func Open(path string) (*Ledger, error) {
	there, err := exists(path)
	if err != nil {
		return nil, explain("opening", path, err)
	}
	if !there {
		if err := create(path); err != nil {
			return nil, explain("creating", path, err)
		}
	}
	l, err := open(path, "rw")
	if err != nil {
		return nil, err
	}
	if err = l.prepare(); err == nil {
		err = l.openLog()
	}
	if err != nil {
		return nil, errors.Join(explain("opening", path, err), l.Close())
	}
	return l, nil
}

// OpenReadOnly opens the ledger at path beside whoever writes to it. Where there
// is none it recalls nothing and creates nothing. Methods that write return
// [ErrReadOnly]. Errors answer [errors.As] for [*Error].
func OpenReadOnly(path string) (*Ledger, error) {
	there, err := exists(path)
	if err != nil {
		return nil, explain("opening", path, err)
	}
	if !there {
		return &Ledger{path: path, readOnly: true}, nil
	}
	l, err := open(path, "ro")
	if err != nil {
		return nil, err
	}
	l.readOnly = true
	if err := l.check(exactly(schemaVersion)); err != nil {
		return nil, errors.Join(explain("opening", path, err), l.Close())
	}
	return l, nil
}

// Close closes the file and gives the token lock back. What was written is on
// the disk already.
func (l *Ledger) Close() error {
	if l.db == nil {
		return nil
	}
	l.standing.close()
	err := errors.Join(l.log.close(), l.db.Close())
	return explain("closing", l.path, errors.Join(err, l.unlock()))
}

// open makes the handle; it looks at nothing yet.
func open(path, mode string) (*Ledger, error) {
	name, err := dsn(path, mode)
	if err != nil {
		return nil, explain("opening", path, err)
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, explain("opening", path, err)
	}
	// Writers would only wait for each other, and fail where one of them started
	// as a reader.
	db.SetMaxOpenConns(1)
	return &Ledger{db: db, path: path}, nil
}

// dsn names a file to the driver. Every connection of the pool gets the same
// pragmas. Transactions that write say so at their start (immediate): one that
// turns from reader to writer fails at once where another process wrote between.
func dsn(path, mode string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
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
	return file.String(), nil
}

// exists reports whether there is a ledger at path that nobody else may write to. A
// file of no length is none of ours: [create] never shows one.
func exists(path string) (bool, error) {
	if err := guarded(filepath.Dir(path), path, path+"-wal", path+"-shm", path+"-lock", markPath(path), headPath(path)); err != nil {
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
		return false, fault(ErrForeign, "it is not a regular file")
	}
	if info.Size() == 0 {
		return false, fault(ErrDamaged, "it has no content")
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
	return fault(ErrDamaged, "it is missing, but "+filepath.Base(path)+"-wal with its latest writes exists")
}

// prepare refuses what is not a ledger of ours before anything is written, then
// brings an older one up to date.
func (l *Ledger) prepare() error {
	if err := l.check(upTo(schemaVersion)); err != nil {
		return err
	}
	ctx := context.Background()
	// A copy made with VACUUM INTO comes without write-ahead log.
	var mode string
	if err := l.db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fault(ErrFailed, "the file system does not support a write-ahead log")
	}
	return migrate(ctx, l.db)
}
