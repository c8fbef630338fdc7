// Package postgres connects to the PostgreSQL that several processes share, and keeps its tables up
// to date. What is in the tables is the matter of those who use them: the ledger, leases, the budget
// of requests, jobs.
//
//	db, err := postgres.Open(postgres.Config{URL: url})
//	err = postgres.Migrate(ctx, db)
//
// It works behind PgBouncer in transaction mode: nothing rests on a session. So no statement is
// prepared beyond its transaction, and there is no lock of a session; what [Listen] hears is a hint.
package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Config says which database it is.
type Config struct {
	URL string // postgres://USER@HOST/DATABASE, as libpq takes it
	// Password takes the place of the one in the URL; nil keeps that. It is asked with each
	// connection.
	Password func() (string, error)
	Name     string // of this process, for people who look at the server
	// Silent is for how long the server may say nothing to a process that waits for it; 0 is a little
	// longer than any statement may take.
	Silent time.Duration
}

// MostConnections bounds those of one handle.
const MostConnections = 8

const (
	connectWithin = 5 * time.Second
	// idleInTransaction ends a transaction of a process that hangs, or that the server has lost sight
	// of. Whoever waits for what it has locked waits longer: it gets it then.
	idleInTransaction = 10 * time.Second
	lockWithin        = 15 * time.Second
	statementWithin   = 20 * time.Second
	// readingWithin bounds what only reads: a whole history may be long, and no writer waits for it.
	readingWithin = 10 * time.Minute
	// silentFor is for how long the server may say nothing to a process that waits for it: no statement
	// takes longer. It is the one bound for a server that hangs.
	silentFor = statementWithin + 5*time.Second
)

// Open returns a handle on the database. It connects with the first use.
func Open(c Config) (*sql.DB, error) {
	config, err := c.parsed()
	if err != nil {
		return nil, err
	}
	before := stdlib.OptionBeforeConnect(func(_ context.Context, config *pgx.ConnConfig) error { return c.authenticate(config) })
	db := sql.OpenDB(direct{stdlib.GetConnector(*config, before, stdlib.OptionResetSession(dropReadOnly))})
	db.SetMaxOpenConns(MostConnections)
	db.SetMaxIdleConns(MostConnections) // a new one is a new process of the server
	db.SetConnMaxIdleTime(time.Minute)
	return db, nil
}

// parsed is what a connection is made with.
func (c Config) parsed() (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(c.URL)
	if err != nil {
		return nil, errors.New("the URL of the database: " + withoutURL(err))
	}
	config.ConnectTimeout = connectWithin
	config.DialFunc = dialing(cmp.Or(c.Silent, silentFor))
	config.ValidateConnect = usable
	config.Tracer = readOnlyServers{}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.StatementCacheCapacity, config.DescriptionCacheCapacity = 0, 0
	if c.Name != "" {
		config.RuntimeParams["application_name"] = c.Name
	}
	return config, nil
}

func (c Config) authenticate(config *pgx.ConnConfig) (err error) {
	if c.Password != nil {
		config.Password, err = c.Password()
	}
	return err
}

// withoutURL is what the driver says of a URL, which may have a password.
func withoutURL(err error) string {
	text := err.Error()
	return text[strings.LastIndex(text, "`: ")+1:]
}
