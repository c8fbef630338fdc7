// Package postgres connects to the PostgreSQL that several processes share, and keeps its tables up
// to date. What is in the tables is the matter of those who use them: the ledger, leases, the budget
// of requests, jobs.
//
//	db, err := postgres.Open(postgres.Config{URL: url})
//	err = postgres.Migrate(ctx, db)
//
// It works behind PgBouncer in transaction mode: nothing rests on a session. So no statement is
// prepared beyond its transaction, there is no LISTEN and no lock of a session.
package postgres

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// Config says which database it is.
type Config struct {
	URL string // postgres://USER@HOST/DATABASE, as libpq takes it
	// Password takes the place of the one in the URL; nil keeps that. It is asked with each
	// connection.
	Password func() (string, error)
	Name     string // of this process, for people who look at the server
}

const (
	// mostConnections bounds the connections of one process.
	mostConnections = 8
	// connectWithin, statementWithin and lockWithin bound what may hang.
	connectWithin   = 5 * time.Second
	statementWithin = 30 * time.Second
	lockWithin      = 10 * time.Second
	// idleInTransaction ends a transaction of a process that hangs: nobody waits for it longer.
	idleInTransaction = 15 * time.Second
)

// Open returns a handle on the database. It connects with the first use.
func Open(c Config) (*sql.DB, error) {
	config, err := pgx.ParseConfig(c.URL)
	if err != nil {
		return nil, fmt.Errorf("the URL of the database: %w", err)
	}
	config.ConnectTimeout = connectWithin
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.StatementCacheCapacity, config.DescriptionCacheCapacity = 0, 0
	if c.Name != "" {
		config.RuntimeParams["application_name"] = c.Name
	}
	before := stdlib.OptionBeforeConnect(func(_ context.Context, config *pgx.ConnConfig) (err error) {
		if c.Password != nil {
			config.Password, err = c.Password()
		}
		return err
	})
	db := stdlib.OpenDB(*config, before)
	db.SetMaxOpenConns(mostConnections)
	db.SetConnMaxIdleTime(time.Minute)
	return db, nil
}

// Bound sets the timeouts of a transaction, as its first statement. They end with it.
func Bound(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, fmt.Sprintf(
		`SELECT set_config('statement_timeout', '%d', true), set_config('lock_timeout', '%d', true), set_config('idle_in_transaction_session_timeout', '%d', true)`,
		statementWithin.Milliseconds(), lockWithin.Milliseconds(), idleInTransaction.Milliseconds()))
	return err
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the tables up to date. Several processes may do so at once.
func Migrate(ctx context.Context, db *sql.DB) error {
	steps, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, steps, goose.WithTableName("seawall_schema"))
	if err != nil {
		return fmt.Errorf("reading the steps of the schema: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("bringing the schema up to date: %w", err)
	}
	return migrateJobs(ctx, db)
}
