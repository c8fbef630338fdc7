package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/failsafe-go/failsafe-go"

	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// server is PostgreSQL, which other processes share.
//
// The code of the ledger counts on what SQLite does: one transaction at a time writes, and sees all
// that was written before. So each takes one lock first.
type server struct {
	db      *sql.DB
	process string // random: this one's row in last_write
	number  int64  // of the transaction that has begun last; whoever has the turn of the group may use it
	// admitted are the leases that this transaction keeps; whoever has the turn may use it.
	admitted map[leaseEpoch]bool
}

// leaseEpoch is a lease as one process has it.
type leaseEpoch struct {
	name  reconcile.LeaseName
	epoch int64
}

// WritersLock is the lock that each transaction takes which writes to the ledger: "SWLL". The schema
// names it, too.
const WritersLock = 0x53574c4c

// openFor is for how long changes come into one transaction: other processes wait meanwhile.
const openFor = 200 * time.Millisecond

// mostReads is how many reads go on at once, [mostBeside] of them beside: a read may take minutes, and
// who writes, or asks what stands, always finds a connection.
const mostReads = postgres.MostConnections - 2

// mostWaits is how often a change waits for other processes, each time as long as a transaction may.
const mostWaits = 3

// begunWrite takes the lock, and the row that tells afterwards whether the transaction was kept.
const begunWrite = `
	WITH mine AS (INSERT INTO last_write (process, number) VALUES ('%s', %d)
		ON CONFLICT (process) DO UPDATE SET number = excluded.number, at = now())
	` + takeLock

// takeLock takes the lock alone.
const takeLock = `SELECT pg_advisory_xact_lock(%d)`

// Connect opens the ledger in a database for reading and writing, and makes its tables or brings them
// up to date. Errors answer [errors.As] for [*Error].
func Connect(ctx context.Context, config postgres.Config, frequent ...string) (*File, error) {
	f, err := connect(config)
	if err != nil {
		return nil, err
	}
	f.Created, err = postgres.MigrateNew(ctx, f.DB)
	if err == nil {
		_, err = f.DB.ExecContext(ctx, `DELETE FROM last_write WHERE at < now() - interval '30 days'`) // of processes that have ended
	}
	if err == nil {
		f.group.most = openFor
		err = f.begun(frequent) //nolint:contextcheck // only a file reads anything here
	}
	return opened(f, err)
}

// ConnectReadOnly opens the ledger in a database beside whoever writes to it. Where that is empty
// it recalls nothing and creates nothing; where it has tables of something else alone, that is not a ledger without entries, and it fails. Methods that write return [ErrReadOnly].
func ConnectReadOnly(ctx context.Context, config postgres.Config) (*File, error) {
	f, err := connect(config)
	if err != nil {
		return nil, err
	}
	f.ReadOnly = true
	have, want, err := postgres.Version(ctx, f.DB)
	switch {
	case err == nil && have == 0:
		if err = postgres.Unused(ctx, f.DB); err == nil {
			err, f.DB = f.DB.Close(), nil
		}
	case err == nil && have < want:
		err = Fault(ErrOlder, fmt.Sprintf("its schema is version %d, this program reads version %d", have, want))
	}
	return opened(f, err)
}

func connect(config postgres.Config) (*File, error) {
	path := shownURL(config.URL)
	db, err := postgres.Open(config)
	if err != nil {
		return nil, Explain("opening", path, err)
	}
	return &File{
		Settings: &Settings{}, DB: db, Path: path, base: &server{db: db, process: rand.Text()},
		reads: make(places, mostReads), besides: make(places, mostBeside),
	}, nil
}

// shownURL is a URL as a person may see it.
func shownURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "postgres://"
	}
	shown := url.URL{Scheme: "postgres", Host: u.Host, Path: u.Path}
	if u.User != nil {
		shown.User = url.User(u.User.Username())
	}
	return shown.String()
}

func (s *server) present() error        { return nil }
func (s *server) noted(err error) error { return err }
func (s *server) wipe() error           { return nil }
func (s *server) close() error          { return s.db.Close() }

func (s *server) begin(ctx context.Context) (*sql.Tx, error) {
	s.number++
	s.admitted = map[leaseEpoch]bool{}
	return postgres.Begin(ctx, s.db, fmt.Sprintf(begunWrite, s.process, s.number, WritersLock))
}

// admit compares the epoch of the lease under which a change is made, and keeps it until the end of
// the transaction: another process gets the lease only then. So changes that share a transaction are
// admitted by the first of them.
func (s *server) admit(ctx context.Context, tx *sql.Tx) (context.Context, error) {
	lease, ok := reconcile.LeaseIn(ctx)
	held := leaseEpoch{lease.Name, lease.Epoch}
	if !ok || s.admitted[held] {
		return postgres.Batching(ctx), nil
	}
	var one int
	err := tx.QueryRowContext(postgres.Late(ctx), `SELECT 1 FROM lease WHERE name = $1 AND epoch = $2 FOR KEY SHARE`, string(lease.Name), lease.Epoch).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w: lease %q", reconcile.ErrLeaseLost, lease.Name)
	}
	s.admitted[held] = err == nil
	return postgres.Batching(ctx), err
}

// commit ends a transaction. Where the answer got lost it finds out what became of it.
func (s *server) commit(tx *sql.Tx) error {
	err := tx.Commit()
	if err == nil || !unanswered(err) {
		return err
	}
	kept, unknown := s.kept()
	switch {
	case unknown != nil:
		return Fault(ErrUnsure, postgres.Told(err)+"; afterwards: "+postgres.Told(unknown))
	case kept:
		return nil
	}
	return notKeptError{err}
}

// kept reports whether the transaction that has begun last was kept. It has held the lock, so once
// that is taken again it has ended.
func (s *server) kept() (kept bool, err error) {
	policy := retry.InPlace[bool](retry.Database).HandleIf(func(_ bool, err error) bool { return passes(err) || code(err) == lockTimeout }).ReturnLastFailure().Build()
	return failsafe.With(policy).Get(func() (kept bool, err error) {
		ctx := context.Background()
		tx, err := postgres.Begin(ctx, s.db, fmt.Sprintf(takeLock, WritersLock))
		if err != nil {
			return false, err
		}
		defer func() { _ = tx.Rollback() }()
		err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM last_write WHERE process = $1 AND number = $2)`, s.process, s.number).Scan(&kept)
		return kept, err
	})
}

// again is so for what passes, and where another process has written for longer than a transaction
// waits for it, as one does that accepts a commit with tens of thousands of zones.
func (s *server) again(err error, failures int) bool {
	return passes(err) && failures < retry.Database.Attempts || code(err) == lockTimeout && failures < mostWaits
}

// read sees one moment, too, and no writer waits for it.
func (s *server) read(ctx context.Context) (tx *sql.Tx, err error) {
	err = fresh(func() error {
		tx, err = postgres.BeginReading(ctx, s.db)
		return err
	})
	return tx, err
}

// fresh does what changes nothing until it meets no connection any more that was cut while nobody
// used it.
func fresh(do func() error) (err error) {
	for range retry.Database.Attempts {
		if err = do(); !passes(err) {
			break
		}
	}
	return err
}

func (s *server) beside(ctx context.Context) (*sql.Tx, error) { return s.read(ctx) }

// look is by whichever connection is free.
func (s *server) look(context.Context) (looking, error) { return serverLook{s}, nil }

type serverLook struct{ *server }

func (l serverLook) begin(ctx context.Context) (*sql.Tx, error) { return l.read(ctx) }

func (l serverLook) version(ctx context.Context, tx *sql.Tx) (version, newest int64, err error) {
	query := l.db.QueryRowContext
	if tx != nil {
		query = tx.QueryRowContext
	}
	err = fresh(func() error { return query(ctx, currentVersion).Scan(&version, &newest) })
	return version, newest, err
}

func (serverLook) close() {}
