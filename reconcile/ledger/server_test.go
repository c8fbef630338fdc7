package ledger

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/seal"
	"github.com/seawall-dev/seawall/reconcile/ledger/ledgertest"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// directParts are those of the conformance that a server is held to without PgBouncer, too: what
// many do at once. The statements of each other part are the same with it, but for the connection
// that runs them, and there each transaction may have another one.
var directParts = []string{"beside", "whole", "at once"}

// TestConformanceOfServers holds PostgreSQL to what a file does, also where each transaction may have
// another connection to it.
func TestConformanceOfServers(t *testing.T) {
	t.Parallel()
	server := ledgersOn(t, pgtest.Start(t))
	pooled := server.Pooler(t)
	direct := directParts
	if soak.On {
		direct = nil // all
	}
	for _, way := range []struct {
		name  string
		urlOf func(string) string
		only  []string
	}{{"PostgreSQL", server.URL, direct}, {"PgBouncer", pooled, nil}} {
		t.Run(way.name, func(t *testing.T) {
			ledgertest.Run(t, func(t *testing.T) ledgertest.Fixture {
				l := connected(t, way.urlOf(pgtest.Name(server.empty(t))), newKey(t))
				mustLock(t, l.Ledger)
				must(t, l.Init(t.Context(), binding))
				return serverFixture(t, l)
			}, way.only...)
		})
	}
}

func serverFixture(t *testing.T, c *connection) ledgertest.Fixture {
	return ledgertest.Fixture{
		Store: c, Tokens: c,
		Hold: func(ctx context.Context, h diff.Hold) error { return c.Hold(ctx, h, "kim") },
		Reopen: func(t *testing.T) ledgertest.Fixture {
			must(t, c.Close())
			next := connected(t, c.url, c.Seal.KeyFile)
			mustLock(t, next.Ledger)
			return serverFixture(t, next)
		},
		Beside: func(t *testing.T) ledgertest.Store { return connected(t, c.url, c.Seal.KeyFile) },
	}
}

// ledgers is a server on which many ledgers begin.
type ledgers struct {
	*pgtest.Server
	mu     sync.Mutex
	free   []string           // the URLs of databases that are empty again: to make one takes longer
	clears map[string]*sql.DB // by URL: a new connection would have to learn all its tables
}

func ledgersOn(t testing.TB, server *pgtest.Server) *ledgers {
	t.Helper()
	s := &ledgers{Server: server, clears: map[string]*sql.DB{}}
	t.Cleanup(func() {
		for _, db := range s.clears {
			_ = db.Close()
		}
	})
	return s
}

// begun returns the URL of a database in which a ledger has just begun.
func begun(t testing.TB) (url string) {
	t.Helper()
	return pgtest.Filled(t, "begun", postgres.Migrate)
}

// empty returns the URL of a database with an empty ledger, which the test has for itself.
func (s *ledgers) empty(t testing.TB) (url string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.free) - 1; last >= 0 {
		url, s.free = s.free[last], s.free[:last]
	} else {
		url = s.Filled(t, "begun", postgres.Migrate)
	}
	t.Cleanup(func() {
		s.clear(t, url)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.free = append(s.free, url)
	})
	return url
}

// clear takes all rows out of a database, but for those with which it has begun.
func (s *ledgers) clear(t testing.TB, url string) {
	t.Helper()
	_, err := s.clearing(t, url).Exec(`DO $$ DECLARE t text; BEGIN
		SET LOCAL session_replication_role = replica;
		FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('seawall_schema', 'seawall_schema_least', 'history_ends', 'said', 'lease_move', 'poke_number', 'budget_key', 'river_migration') LOOP
			EXECUTE format('DELETE FROM %I', t);
		END LOOP;
		UPDATE history_ends SET head_number = 0, head_hash = decode(repeat('00', 32), 'hex'), base_number = 0, base_hash = decode(repeat('00', 32), 'hex'), bytes = 0;
	END $$`)
	must(t, err)
}

// clearing is the connection by which a database is cleared.
func (s *ledgers) clearing(t testing.TB, url string) *sql.DB {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clears[url] == nil {
		db, err := sql.Open("pgx", url)
		must(t, err)
		db.SetMaxOpenConns(1)
		s.clears[url] = db
	}
	return s.clears[url]
}

// connection is a ledger, and how it was connected.
type connection struct {
	*Ledger
	url string
}

func connected(t testing.TB, url, key string) *connection {
	t.Helper()
	l, err := Connect(t.Context(), postgres.Config{URL: url, Name: t.Name()})
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	l.Binding, l.Seal.KeyFile = binding, key
	return &connection{l, url}
}

func newKey(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	must(t, seal.CreateKeyFile(path))
	return path
}

// Whether secrets can be sealed, and those of other machines opened, is known before one is made: a
// key that is missing is not made up, and another key is found by what waits.
func TestCheckSeal(t *testing.T) {
	t.Parallel()
	url, ctx := begun(t), t.Context()
	l := connected(t, url, newKey(t))
	mustLock(t, l.Ledger)
	must(t, l.Init(ctx, binding))
	must(t, l.CheckSeal(ctx))
	must(t, l.Intend(ctx, record(1)))
	must(t, l.Confirm(ctx, record(1).Intent, "id", edge.NewSecret("value")))
	must(t, connected(t, url, l.Seal.KeyFile).CheckSeal(ctx))
	for key, want := range map[string]string{"": "no key is set", newKey(t): "another key", "/nonexistent/key": "missing"} {
		err := connected(t, url, key).CheckSeal(ctx)
		if !errors.Is(err, ErrSeal) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", key, err, want)
		}
	}
}

// A database of something else is no ledger without entries: who only reads says so, too.
func TestReadingAnotherDatabase(t *testing.T) {
	url := pgtest.Database(t)
	empty, err := ConnectReadOnly(t.Context(), postgres.Config{URL: url})
	must(t, err)
	if empty.Missing() == "" {
		t.Error("an empty database has a ledger")
	}
	must(t, empty.Close())
	db, err := postgres.Open(postgres.Config{URL: url})
	must(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), `CREATE TABLE orders (n INT)`)
	must(t, err)
	_, err = ConnectReadOnly(t.Context(), postgres.Config{URL: url})
	if !errors.Is(err, ErrOccupied) || !strings.Contains(err.Error(), `"orders"`) {
		t.Errorf("%v", err)
	}
}
