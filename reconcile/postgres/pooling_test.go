package postgres_test

import (
	"testing"

	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// A pooler is found, and its mode.
func TestPoolOf(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	for mode, url := range map[postgres.Pool]string{
		postgres.PoolNone: server.URL("postgres"), postgres.PoolSession: server.PoolerIn(t, "session")("postgres"),
		postgres.PoolTransaction: server.PoolerIn(t, "transaction")("postgres"), postgres.PoolStatement: server.PoolerIn(t, "statement")("postgres"),
	} {
		db, err := postgres.Open(postgres.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if got, err := postgres.PoolOf(t.Context(), db); err != nil || got != mode {
			t.Errorf("%q, %v, want %q", got, err, mode)
		}
	}
}
