package postgres_test

import (
	"os"
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
			for range 2 {
				if err := postgres.Migrate(t.Context(), db); err != nil {
					t.Fatal(err)
				}
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
