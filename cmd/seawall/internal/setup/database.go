package setup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// database is the handle that all share who have one configuration; it connects with the first
// use.
type database struct {
	open  func() (*sql.DB, error)
	close func() error
}

func newDatabase(p *schema.Postgres) database {
	if p == nil {
		return database{}
	}
	var mu sync.Mutex
	var db *sql.DB
	return database{
		open: func() (_ *sql.DB, err error) {
			mu.Lock()
			defer mu.Unlock()
			if db == nil {
				db, err = postgres.Open(PostgresConfig(*p))
			}
			return db, err
		},
		close: func() (err error) {
			mu.Lock()
			defer mu.Unlock()
			if db != nil {
				err, db = db.Close(), nil
			}
			return err
		},
	}
}

// InPostgres reports whether the ledger is in PostgreSQL.
func (s Settings) InPostgres() bool { return s.Postgres != nil }

// Database is the database of the configuration, which must have one.
func (s Settings) Database() (*sql.DB, error) {
	db, err := s.database.open()
	return db, s.DatabaseError(err)
}

// CloseDatabase closes it, where it is open.
func (s Settings) CloseDatabase() error {
	if s.database.close == nil {
		return nil
	}
	return s.database.close()
}

// PostgresConfig says how to connect to a database of the configuration. Its password is read
// with each connection.
func PostgresConfig(p schema.Postgres) postgres.Config {
	config := postgres.Config{URL: p.Address(), Name: "seawall " + ReplicaName(p)}
	if p.Password != nil {
		config.Password = func() (string, error) {
			secret, err := ReadSecret(*p.Password)
			if err != nil {
				return "", fmt.Errorf("state.postgres.password: %w", err)
			}
			return secret.Reveal(), nil
		}
	}
	return config
}

// ReplicaName is the name of this machine's daemon among those that share a database.
func ReplicaName(p schema.Postgres) string {
	if p.Replica != "" {
		return p.Replica
	}
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "unknown"
	}
	return name
}

// sender is what a request says of who sends it, where several daemons may: with the platform's own
// log it can be told which of them has done what. Empty where there is no lease.
func (s Settings) sender(ctx context.Context) string {
	lease, under := reconcile.LeaseIn(ctx)
	if !under || !s.InPostgres() {
		return ""
	}
	return fmt.Sprintf("replica %s; epoch %d", ReplicaName(*s.Postgres), lease.Epoch)
}

// LedgerPath is the file of the ledger, where it is one.
func (s Settings) LedgerPath() string { return filepath.Join(s.StateDir, "ledger.db") }

// vacant reports whether the database has no tables of Seawall yet; false also where that cannot be asked.
//
//nolint:contextcheck,nolintlint // all is assembled without one, and it is bounded
func (s Settings) vacant() bool {
	ctx, cancel := context.WithTimeout(context.Background(), connectWithin)
	defer cancel()
	db, err := s.Database()
	if err != nil {
		return false
	}
	tables, _, err := postgres.Version(ctx, db)
	return err == nil && tables == 0
}

// connectWithin bounds how long a command waits for the database, with all steps of the schema.
const connectWithin = time.Minute

// connect opens the ledger in PostgreSQL. A ledger in the state folder that was not moved there
// would be forgotten, so that is refused.
func (s Settings) connectLedger(ctx context.Context, readOnly bool) (*ledger.Ledger, error) {
	if err := s.movedHere(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	connect := ledger.Connect
	if readOnly {
		connect = ledger.ConnectReadOnly
	}
	memory, err := connect(ctx, PostgresConfig(*s.Postgres))
	if err != nil {
		return nil, s.DatabaseError(err)
	}
	here := ledger.Move{File: s.LedgerPath(), DB: memory.Database(), Place: s.Postgres.Place()}
	if err := here.Here(ctx); err != nil {
		return nil, errors.Join(err, memory.Close())
	}
	return memory, nil
}

// movedHere refuses a state folder with a ledger that the database does not have.
func (s Settings) movedHere(ctx context.Context) error {
	path := s.LedgerPath()
	if _, err := os.Stat(path); err != nil {
		return nil //nolint:nilerr // there is none
	}
	moved, err := ledger.WasMoved(ctx, path)
	if err != nil || moved {
		return err
	}
	return cli.Fail(fmt.Errorf("state.postgres is set, and %s is a ledger that was not moved to %s", path, s.Postgres.Place()),
		"stop the daemon and run: seawall state migrate --to postgres",
		"if that ledger is of no use any more, move the file away")
}

// DatabaseError is a failure to reach the database, as people read it.
func (s Settings) DatabaseError(err error) error {
	if err == nil || len(cli.HintsOf(err)) > 0 {
		return err
	}
	return ledger.Explain("opening", s.Postgres.Place(), err)
}
