package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/seawall-dev/seawall/desired/failure"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/history"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// Kind is what is wrong with a ledger, as far as a program acts on it. A Kind is
// an error itself: errors.Is(err, ledger.ErrNewer).
type Kind string

// The kinds of [Error].
const (
	ErrDamaged  Kind = "the ledger is damaged"
	ErrForeign  Kind = "the file is not a ledger"
	ErrNewer    Kind = "the ledger was written by a newer version of Seawall"
	ErrOlder    Kind = "the ledger was written by an older version of Seawall"
	ErrBusy     Kind = "another process has locked the ledger"
	ErrReadOnly Kind = "the ledger is open for reading only"
	ErrDenied   Kind = "the ledger may not be opened"
	ErrExposed  Kind = "other users may write to the ledger"
	ErrRunning  Kind = "another daemon uses this state folder"
	ErrFailed   Kind = "the ledger failed"
	ErrFull     Kind = "the disk is full"
	ErrFiles    Kind = "too many files are open"
	ErrGone     Kind = "the file of the ledger is gone"
	ErrMoved    Kind = "the ledger was moved away"

	ErrUnreachable Kind = "the database cannot be reached"
	ErrRefused     Kind = "the database refuses the connection"
	ErrEncryption  Kind = "the connection to the database is not encrypted as it must be"
	ErrOldServer   Kind = "the database server is too old"
	ErrStatements  Kind = "PgBouncer gives each statement another connection, and Seawall needs transactions"
	ErrOccupied    Kind = "the database is in use already"
	ErrCrowded     Kind = "the database has no connection left"
	ErrReplica     Kind = "the database is a replica that takes no writes"
	ErrUnsure      Kind = "it is not known whether the database has kept a change"

	ErrUnknown  Kind = "the ledger may not know all tokens"
	ErrState    Kind = "the state of the token does not allow this"
	ErrSeal     Kind = "the secret cannot be sealed or opened"
	ErrHeld     Kind = "another process has locked the tokens of the ledger"
	ErrUnlocked Kind = "the tokens of the ledger are not locked"
)

func (k Kind) Error() string { return string(k) }

// Is makes ErrFull the operating system's error for it, and what says something of the
// state folder, not of a token, a [reconcile.ErrState].
func (k Kind) Is(target error) bool {
	switch k {
	case ErrUnknown, ErrState, ErrSeal, ErrHeld, ErrUnlocked:
		return false
	case ErrFull:
		return target == syscall.ENOSPC || target == reconcile.ErrState
	default:
		return target == reconcile.ErrState
	}
}

var hints = map[Kind]string{
	ErrDamaged: "restore a backup; without one, move the file away and start with an empty ledger: " +
		"earlier overrides of Seawall that are no longer declared then count as unmanaged, and tokens are unknown",
	ErrForeign:  "set state.dir to another folder",
	ErrNewer:    "run the newer version, or restore the backup from before the upgrade",
	ErrOlder:    "start the daemon or run apply with this version to upgrade it",
	ErrBusy:     "look for a second daemon with the same folder, or for an open transaction in sqlite3",
	ErrReadOnly: "a plan does not write to the ledger; the daemon and apply do",
	ErrDenied:   "run as the owner of the state folder; the folder must be writable, also for readers",
	ErrRunning:  "stop the other daemon, or set another state.dir in the configuration",
	ErrFull:     "free space on the disk that holds the state folder",
	ErrFiles:    "raise the limit of open files of the daemon (LimitNOFILE, ulimit -n), or find who keeps so many connections to it open",
	ErrGone: "nothing is written to the platform meanwhile: move the file back, or stop the daemon and restore a backup; " +
		"without either, restart the daemon: it begins with an empty ledger",
	ErrFailed: "check the space and the file system of the state folder; it must be a local one",

	ErrUnreachable: "meanwhile nothing is written to the platform; daemons go on by themselves once the database answers: " +
		"check that it runs, state.postgres in the configuration, and the network between",
	ErrRefused: "check user, password and database of state.postgres in the configuration, and pg_hba.conf of the server",
	ErrEncryption: "state.postgres.ca_file must name the certificate of the authority that has signed that of the server, and the server's " +
		"must name the host of state.postgres.url; where the network between is trusted, set state.postgres.tls: \"none\"",
	ErrStatements: "set pool_mode = transaction in PgBouncer",
	ErrOldServer:  fmt.Sprintf("use PostgreSQL %d or newer", postgres.Oldest),
	ErrOccupied:   "nothing in it was changed: name an empty database in state.postgres.url, made by: CREATE DATABASE seawall OWNER seawall ENCODING 'UTF8'",
	ErrCrowded:    "raise max_connections of the server, or put PgBouncer before it, in transaction mode; each daemon takes up to 24",
	ErrReplica:    "name the server that takes writes in state.postgres.url, or all of them: postgres://one,another/seawall",
	ErrUnsure:     "the connection was cut at its end; look before you say it again: it may count already",

	ErrUnknown: "check that the platform has no other tokens of this repository than the ledger, then run once: seawall token init; " +
		"for an existing token: seawall token adopt KEY ID",
	ErrState: "seawall plan shows the state of each token",
	ErrSeal:  "state.seal in the configuration names the key; restore the right one",
	ErrHeld:  "wait until that process is done, or stop it; a running daemon takes seawall token … over its socket",
	// A mistake of the program that uses this package, not of a person.
	ErrUnlocked: "please report this bug: tokens must be locked before they are written",
}

// serverHints are those that are others over PostgreSQL.
var serverHints = map[Kind]string{
	ErrDamaged: "restore a backup of the database; without one, empty it and start again: " +
		"earlier overrides of Seawall that are no longer declared then count as unmanaged, and tokens are unknown",
	ErrBusy:   "look for a long transaction in pg_stat_activity",
	ErrDenied: "make the user of state.postgres the owner of the database: ALTER DATABASE seawall OWNER TO seawall",
	ErrFull:   "free space on the disk of the database server",
	ErrFailed: "look into the log of the database server",
	ErrNewer:  "run the version that the other daemons run",
	ErrSeal: "all replicas need the same key, since one delivers what another has sealed: copy ledger.db-key of a ledger that was moved, " +
		"or make one with age-keygen -o FILE, to each machine, and set state.seal.key_file to it",
}

// Hint says what to try.
func (k Kind) Hint() string { return hints[k] }

// Error is a failure of the ledger.
type Error = failure.Error[Kind]

// Fault is a failure this package found itself; [Explain] says where.
func Fault(kind Kind, reason string) error {
	return &Error{Kind: kind, Reason: reason, Hint: hints[kind]}
}

// Explain says what was being done to which ledger, and sorts what SQLite, the file
// system and PostgreSQL say into kinds. The end of a context is not the ledger's failure
// and is told as it is. It returns nil for nil.
func Explain(doing, path string, err error) error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) {
		told := *known
		if told.Doing = doing + " " + path; told.Kind == ErrState { // not the file is wrong
			told.Doing = doing + " the record of a token"
		}
		if told.Hint == hints[told.Kind] {
			told.Hint = hintOver(path, told.Kind)
		}
		return &told
	}
	if kind := kindOfServer(err); kind != "" && overServer(path) {
		reason := err.Error()
		if kind == ErrUnreachable {
			reason = postgres.Told(err)
		}
		return &Error{Kind: kind, Doing: doing + " " + path, Reason: reason, Hint: hintOver(path, kind), From: err}
	}
	if slices.ContainsFunc([]error{context.Canceled, context.DeadlineExceeded, reconcile.ErrLeaseLost}, func(as error) bool { return errors.Is(err, as) }) {
		return fmt.Errorf("%s %s: %w", doing, path, err)
	}
	kind := kindOf(err)
	if short := shortOfFiles(err); short != nil {
		kind, err = ErrFiles, errors.Join(err, short)
	}
	return &Error{Kind: kind, Doing: doing + " " + path, Reason: err.Error(), Hint: hintOver(path, kind), From: err}
}

// overServer reports whether a path is one of [shownURL].
func overServer(path string) bool { return strings.HasPrefix(path, "postgres://") }

// hintOver says what to try with the database at a path.
func hintOver(path string, kind Kind) string {
	if overServer(path) {
		return cmp.Or(serverHints[kind], hints[kind])
	}
	return hints[kind]
}

func kindOf(err error) Kind {
	var s *sqlite.Error
	switch {
	case errors.Is(err, history.ErrUnreadable):
		return ErrDamaged
	case errors.Is(err, fs.ErrPermission):
		return ErrDenied
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return ErrFull
	case !errors.As(err, &s):
		return ErrFailed
	}
	switch s.Code() & 0xff { // the rest of an extended code says where
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR: // our statements fit our schema: something is missing
		return ErrDamaged
	case sqlite3.SQLITE_NOTADB:
		return ErrForeign
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return ErrBusy
	case sqlite3.SQLITE_FULL:
		return ErrFull
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return ErrDenied
	}
	return ErrFailed
}

// shortOfFiles says whether SQLite could not open a file because this process, or the machine, has too
// many open: it tells that from a missing permission by no code.
func shortOfFiles(err error) error {
	var s *sqlite.Error
	if !errors.As(err, &s) || s.Code()&0xff != sqlite3.SQLITE_CANTOPEN {
		return nil
	}
	file, err := os.Open(os.DevNull)
	if err == nil {
		_ = file.Close()
	}
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return err
	}
	return nil
}
