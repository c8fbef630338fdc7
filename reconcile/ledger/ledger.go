// Package ledger keeps what must survive a crash in one SQLite file, or in a PostgreSQL that several
// processes share: what each deployment's declaration owned when it was last proved, which changes the
// platform did not keep, and how much the accepted commit declares.
//
//	memory, err := ledger.Open("/var/lib/seawall/ledger.db")
//	if err != nil { … }
//	defer memory.Close()
//	memory.Now = time.Now
//	record, err := memory.Restore(ctx)
//
// A [Ledger] is [reconcile.Records] and a [reconcile.Control]. What a method writes is on
// the disk as a whole when it returns, or none of it: a process that is killed leaves the
// state before or after a call, never half. Calls that come at the same time share the wait
// for the disk.
//
// # Parts
//
// A ledger is put together from parts that share the database. Each keeps its own tables:
//
//	internal/store      the file or PostgreSQL: opening, permissions, damage, schema, shared transactions
//	internal/rows       reading rows, and running a statement for several items
//	internal/zones      proofs, ownership, changes the platform did not keep, drift, sweep
//	internal/decisions  holds, approvals, waves
//	internal/tokens     attempts, secrets that wait, for which platform the record is complete
//	internal/seal       the keys that seal secrets
//	internal/lockfile   the lock of a state folder, and that of the tokens
//	history             the history, a chain of hashes
//
// This package has what concerns several of them: the accepted commit (accept.go), and what
// a process reads when it begins (records.go). The schema of all tables stands in
// internal/store/schema.go, with what each column means.
//
// # The file
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
// # PostgreSQL
//
// Over PostgreSQL ([Connect]) several machines share it. One transaction at a time writes, as in a
// file, and what is written under a lease ([reconcile.Under]) is refused once another process has it.
// What a file has beside it is not needed: a ledger that was put back from a backup is found by the
// processes that have written to it and still run, and its tokens are unknown in another database than
// the one that they were recorded in (see Init in internal/tokens).
//
// # Tokens
//
// It is a [reconcile.TokenMemory] too, and there stricter: a token that was
// created and forgotten is created twice, so it must know when it cannot know.
//
//	memory.Binding = ledger.Binding{Platform: baseURL, Repository: gitURL}
//	if err := memory.LockTokens(ctx); err != nil { … }        // one process at a time, until Close
//	live, err := memory.Tokens(ctx)                        // live.Unknown: a person must say
//	err = memory.Intend(ctx, record)                       // before the POST
//	err = memory.Confirm(ctx, record.Intent, id, secret)   // after it: the id and the sealed secret at once
//	secret, err = memory.Sealed(ctx, record.Intent)        // for the sink
//	err = memory.Delivered(ctx, record.Intent)             // the sealed copy is destroyed
//	err = memory.Amend(ctx, record.Intent, spec, hash)     // after an update in place
//	err = memory.Gone(ctx, record.Intent)                  // after a deletion
//
// Secrets are sealed with age; [Seal] says for whom. What destroying is worth,
// and what a restored backup looks like, stand at Delivered and Init in internal/tokens.
package ledger

import (
	"context"
	"database/sql"
	"errors"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/history"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/decisions"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/outbox"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/seal"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/tokens"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/zones"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// Ledger is one open file, or one database. It is safe for concurrent use.
type Ledger struct {
	*store.Settings
	*zones.Zones
	*decisions.Decisions
	*tokens.Memory
	*outbox.Outbox

	file     *store.File
	standing *store.Cached[reconcile.Standing]
	written  history.Written
}

// Open opens the ledger at path for reading and writing. Where there is none it
// creates one with mode 0600, in a folder that it creates with mode 0700 if
// need be. Errors answer [errors.As] for [*Error].
func Open(path string) (*Ledger, error) {
	return assemble(store.Open(path, zones.Frequent...))
}

// OpenReadOnly opens the ledger at path beside whoever writes to it. Where there
// is none it recalls nothing and creates nothing. Methods that write return
// [ErrReadOnly]. Errors answer [errors.As] for [*Error].
func OpenReadOnly(path string) (*Ledger, error) { return assemble(store.OpenReadOnly(path)) }

// Connect opens the ledger in a PostgreSQL that several processes share, for reading and writing, and
// makes its tables or brings them up to date. Nothing of it is on the disk of this machine. Errors
// answer [errors.As] for [*Error].
func Connect(ctx context.Context, config postgres.Config) (*Ledger, error) {
	return assemble(store.Connect(ctx, config, zones.Frequent...))
}

// ConnectReadOnly opens it beside whoever writes to it. Where the database has no tables it recalls
// nothing and creates nothing. Methods that write return [ErrReadOnly].
func ConnectReadOnly(ctx context.Context, config postgres.Config) (*Ledger, error) {
	return assemble(store.ConnectReadOnly(ctx, config))
}

// Forgot has tokens be unknown to all processes over a database, and what is on record not be written until
// git was looked at, since one of them has seen that it has forgotten what was on record: it was put back to
// an earlier time. The history gets its gap with the next transaction of a process that has written an entry
// which is missing. times is how often it is on record that the database was put back.
func Forgot(ctx context.Context, db *sql.DB) (times int64, err error) {
	return store.Forgot(ctx, db)
}

// Database is the database that several processes share; nil for a file.
func (l *Ledger) Database() *sql.DB { return l.file.Database() }

// Missing is the path at which there is no ledger to read; empty where there is one.
func (l *Ledger) Missing() string {
	if l.file.DB == nil {
		return l.file.Path
	}
	return ""
}

func assemble(file *store.File, err error) (*Ledger, error) {
	if err != nil {
		return nil, err
	}
	z, standing := zones.In(file), &store.Cached[reconcile.Standing]{}
	return &Ledger{
		Settings: file.Settings, Zones: z, Decisions: decisions.In(file, z, standing), Memory: tokens.In(file), Outbox: outbox.In(file),
		file: file, standing: standing,
	}, nil
}

// Close closes the ledger and gives the token lock back. What was written is kept
// already.
func (l *Ledger) Close() error {
	l.standing.Close()
	var rows error // of this process, in the database that others share
	if l.file.Database() != nil {
		rows = errors.Join(l.CloseClaims(), l.UnlockTokens())
	}
	err := l.file.Close()
	return errors.Join(rows, err, store.Explain("closing", l.file.Path, errors.Join(l.CloseClaims(), l.UnlockTokens())))
}

// Binding is what the tokens of a ledger are tokens of.
type Binding = tokens.Binding

// Seal says for whom the secrets of tokens are sealed while they wait for their sink.
type Seal = seal.Seal

// Resolution is a person's word on an attempt to create a token whose outcome is unknown.
type Resolution = tokens.Resolution

// How an attempt is resolved.
type How = tokens.How

// The ways to resolve an attempt.
const (
	ByAdopting   = tokens.ByAdopting
	ByAbandoning = tokens.ByAbandoning
	ByRetrying   = tokens.ByRetrying
)
