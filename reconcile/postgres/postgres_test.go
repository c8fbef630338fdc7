package postgres_test

import (
	"os"
	"sync"
	"testing"

	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestMigrate(t *testing.T) {
	server := pgtest.Start(t)
	pooled := server.Pooler(t)
	for name, url := range map[string]string{"direct": pgtest.Database(t), "PgBouncer": pooled("postgres")} {
		t.Run(name, func(t *testing.T) {
			db, err := postgres.Open(postgres.Config{URL: url, Name: "test"})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			var all sync.WaitGroup
			for range 4 { // at once
				all.Go(func() {
					if err := postgres.Migrate(t.Context(), db); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if have, want, err := postgres.Version(t.Context(), db); err != nil || have != want || have == 0 {
				t.Errorf("version %d of %d: %v", have, want, err)
			}
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := postgres.Bound(t.Context(), tx); err != nil {
				t.Fatal(err)
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestPreparesNothing prepares a text in two transactions behind PgBouncer, of which the first fails, so that
// what it had prepared would stay with the connection.
func TestPreparesNothing(t *testing.T) {
	db, err := postgres.Open(postgres.Config{URL: pgtest.Start(t).Pooler(t)("postgres")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for range 2 {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		statement, err := tx.PrepareContext(t.Context(), `SELECT CAST($1 AS INTEGER)`)
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if err := statement.QueryRowContext(t.Context(), 7).Scan(&n); err != nil || n != 7 {
			t.Fatal(n, err)
		}
		if err := tx.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%AS INTEGER%'`).Scan(&n); err != nil || n != 0 {
			t.Error("prepared statements:", n, err)
		}
		if _, err := tx.ExecContext(t.Context(), `SELECT 1/0`); err == nil {
			t.Error("a division by zero has succeeded")
		}
		_, _ = statement.Close(), tx.Rollback()
	}
}
