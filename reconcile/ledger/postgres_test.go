package ledger

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile/ledger/ledgertest"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// A ledger over PostgreSQL is the same, also behind PgBouncer.
func TestConformanceOverPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	server.Exec(t, `CREATE DATABASE laid_out`)
	must(t, closed(Connect(t.Context(), postgres.Config{URL: server.URL("laid_out")}, "")))
	made := atomic.Int64{}
	for name, url := range map[string]func(string) string{"direct": server.URL, "PgBouncer": server.Pooler(t)} {
		t.Run(name, func(t *testing.T) {
			ledgertest.Run(t, func(t *testing.T) ledgertest.Fixture {
				name := fmt.Sprintf("ledger_%d", made.Add(1))
				server.Exec(t, `CREATE DATABASE `+name+` TEMPLATE laid_out`)
				t.Cleanup(func() { server.Exec(t, `DROP DATABASE `+name+` WITH (FORCE)`) }) // PgBouncer keeps connections
				l := connected(t, url(name))
				must(t, l.Init(t.Context(), binding))
				return sharedFixture(t, l, url(name))
			})
		})
	}
}

func sharedFixture(t *testing.T, l *Ledger, url string) ledgertest.Fixture {
	return ledgertest.Fixture{
		Store: l, Tokens: l,
		Hold: func(ctx context.Context, h diff.Hold) error { return l.Hold(ctx, h, "kim") },
		Reopen: func(t *testing.T) ledgertest.Fixture {
			must(t, l.Close())
			return sharedFixture(t, connected(t, url), url)
		},
		Beside: func(t *testing.T) ledgertest.Store { return beside(t, url) },
	}
}

// connected is a ledger whose tokens this process has locked.
func connected(t *testing.T, url string) *Ledger {
	t.Helper()
	l := beside(t, url)
	l.Binding = binding
	mustLock(t, l)
	return l
}

func beside(t *testing.T, url string) *Ledger {
	t.Helper()
	l, err := Connect(t.Context(), postgres.Config{URL: url}, "")
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}
