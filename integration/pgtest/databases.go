package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// databases are those that tests have on a server, and the connection by which they are made: a new
// one for each would be a new process of the server.
type databases struct {
	mu     sync.Mutex
	made   int
	filled map[string]bool

	handle *sql.DB // of "postgres"; nil: none since the server was stopped
}

var shared struct {
	sync.Mutex
	server *Server
}

// Shared returns the server that all tests of the process share. No test stops it, cuts connections
// that are not its own, or changes a setting of all.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		server, err := start(brief...)
		skipOrFail(t, err)
		shared.server = server
	}
	return shared.server
}

// Database returns the URL of an empty database, on the server that all tests of the process share.
func Database(t testing.TB) string {
	t.Helper()
	return Shared(t).Database(t)
}

// Filled is [Server.Filled] on the server that all tests of the process share.
func Filled(t testing.TB, as string, fill func(context.Context, *sql.DB) error) (url string) {
	t.Helper()
	return Shared(t).Filled(t, as, fill)
}

// Database returns the URL of an empty database.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.copyOf(t, "template1")
}

// Filled returns the URL of a database with what fill puts into one. That is called once for a name;
// the test has a copy, which is made in a sixth of the time that it takes to make all tables.
func (s *Server) Filled(t testing.TB, as string, fill func(context.Context, *sql.DB) error) (url string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.filled[as] {
		s.exec(t, "CREATE DATABASE "+as)
		db, err := sql.Open("pgx", s.URL(as))
		if err == nil {
			err = errors.Join(fill(context.Background(), db), db.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		if s.filled == nil {
			s.filled = map[string]bool{}
		}
		s.filled[as] = true
	}
	return s.copyOf(t, as)
}

// Copy makes a database what another one is, in the place of what it was. Connections to it are cut.
func (s *Server) Copy(t testing.TB, from, to string) {
	t.Helper()
	s.exec(t, "DROP DATABASE IF EXISTS "+to+" WITH (FORCE)")
	s.exec(t, "CREATE DATABASE "+to+" TEMPLATE "+from+asFiles())
}

// CutFrom ends all connections to a database.
func (s *Server) CutFrom(t testing.TB, database string) {
	t.Helper()
	s.exec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+database+"'")
}

// Name is that of the database of a URL.
func Name(of string) string {
	u, err := url.Parse(of)
	if err != nil {
		panic(err) // it is one of this package
	}
	return strings.TrimPrefix(u.Path, "/")
}

// copyOf makes a database. The caller has the lock.
func (s *Server) copyOf(t testing.TB, name string) (url string) {
	t.Helper()
	s.made++
	made := fmt.Sprint("test_", s.made)
	s.exec(t, "CREATE DATABASE "+made+" TEMPLATE "+name+asFiles())
	return s.URL(made)
}

// asFiles has a database copied file by file, which is quicker for a small one than page by page, as
// servers do by default that have the choice.
func asFiles() string {
	_, after, _ := strings.Cut(version(), ") ") // initdb (PostgreSQL) 15.3
	if major, err := strconv.Atoi(regexp.MustCompile(`^\d*`).FindString(after)); err != nil || major < 15 {
		return ""
	}
	return " STRATEGY FILE_COPY"
}

// Exec runs a statement in the database "postgres", as its owner.
func (s *Server) Exec(t testing.TB, statement string) {
	t.Helper()
	s.exec(t, statement)
}

func (s *Server) exec(t testing.TB, statement string) {
	t.Helper()
	if err := s.try(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// inUse says that somebody is connected to a database that is to be copied. The server waits for 5 s until
// one that was closed has ended, which is not enough on a machine that is slow.
const inUse = "55006"

// try runs a statement, once more where the connection that it kept was cut.
func (s *Server) try(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	db, err := s.postgres()
	if err != nil {
		return err
	}
	for kept := true; ; {
		_, err := db.ExecContext(ctx, statement)
		refused, answers := errors.AsType[*pgconn.PgError](err)
		switch {
		case err == nil:
			return nil
		case answers && refused.Code == inUse && ctx.Err() == nil:
		case kept && (!answers || strings.HasPrefix(refused.Code, "57P")):
			kept = false
		default:
			return err
		}
	}
}

// connecting is of the handle alone: whoever makes a database has the other lock.
var connecting sync.Mutex

func (s *Server) postgres() (_ *sql.DB, err error) {
	connecting.Lock()
	defer connecting.Unlock()
	if s.handle == nil {
		if s.handle, err = sql.Open("pgx", s.URL("postgres")); err == nil {
			s.handle.SetMaxIdleConns(1)
		}
	}
	return s.handle, err
}

// forget closes the connections to a server that is about to stop.
func (s *Server) forget() {
	connecting.Lock()
	defer connecting.Unlock()
	if s.handle != nil {
		_ = s.handle.Close()
		s.handle = nil
	}
}

// Ask returns what a query of the database "postgres" finds, all of it as text.
func (s *Server) Ask(ctx context.Context, query string) ([][]string, error) {
	s.asking.Do(func() { s.asked, s.askedErr = sql.Open("pgx", s.URL("postgres")) })
	if s.askedErr != nil {
		return nil, s.askedErr
	}
	rows, err := s.asked.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var found [][]string
	for rows.Next() {
		row, places := make([]string, len(names)), make([]any, len(names))
		for i := range row {
			places[i] = &row[i]
		}
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, rows.Err()
}
