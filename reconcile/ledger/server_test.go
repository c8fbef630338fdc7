package ledger

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/seal"
	"github.com/seawall-dev/seawall/reconcile/ledger/ledgertest"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// TestConformanceOfServers holds PostgreSQL to what a file does, also where each transaction may have
// another connection to it.
func TestConformanceOfServers(t *testing.T) {
	t.Parallel()
	server := newLedgers(t)
	pooled := server.Pooler(t)
	for name, urlOf := range map[string]func(string) string{"PostgreSQL": server.URL, "PgBouncer": pooled} {
		t.Run(name, func(t *testing.T) {
			ledgertest.Run(t, func(t *testing.T) ledgertest.Fixture {
				l := connected(t, urlOf(server.empty(t)), newKey(t))
				mustLock(t, l.Ledger)
				must(t, l.Init(t.Context(), binding))
				return serverFixture(t, l)
			})
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
	made atomic.Int64
}

func newLedgers(t testing.TB) *ledgers {
	t.Helper()
	s := &ledgers{Server: pgtest.Start(t)}
	s.Exec(t, `CREATE DATABASE begun`)
	l, err := Connect(context.Background(), postgres.Config{URL: s.URL("begun")}, "")
	must(t, err)
	must(t, l.Close())
	return s
}

// empty makes a database with an empty ledger, and returns its name.
func (s *ledgers) empty(t testing.TB) string {
	t.Helper()
	name := fmt.Sprint("ledger_", s.made.Add(1))
	s.Exec(t, "CREATE DATABASE "+name+" TEMPLATE begun")
	return name
}

// connection is a ledger, and how it was connected.
type connection struct {
	*Ledger
	url string
}

func connected(t testing.TB, url, key string) *connection {
	t.Helper()
	l, err := Connect(t.Context(), postgres.Config{URL: url, Name: t.Name()}, "")
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
