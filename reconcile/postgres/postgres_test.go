package postgres_test

import (
	"os"
	"sync"
	"testing"

	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

func TestMain(m *testing.M) {
	// Most of these tests wait for a server.
	soak.AtOnce(8)
	os.Exit(pgtest.Main(m))
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"direct": pgtest.Database(t), "PgBouncer": pooledDatabase(t)} {
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
			tx, err := postgres.Begin(t.Context(), db, `SELECT 1`)
			if err != nil {
				t.Fatal(err)
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// pooledDatabase is the URL of an empty database behind PgBouncer.
func pooledDatabase(t *testing.T) (url string) {
	t.Helper()
	return pgtest.Shared(t).Pooler(t)(pgtest.Name(pgtest.Database(t)))
}

// TestPreparesNothing prepares a text in two transactions behind PgBouncer, of which the first fails, so that
// what it had prepared would stay with the connection.
func TestPreparesNothing(t *testing.T) {
	t.Parallel()
	db, err := postgres.Open(postgres.Config{URL: pooledDatabase(t)})
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

// A transaction that writes is not undone by a crash, and waits for standbys as the server is set to.
func TestATransactionIsDurable(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	for _, standbys := range []string{"", "one"} {
		server.Exec(t, `ALTER SYSTEM SET synchronous_standby_names = '`+standbys+`'`)
		server.Stop(t) // all of it has heard of it afterwards
		server.Restart(t)
		for set, want := range map[string]string{"off": "on", "local": "local", "on": "on", "remote_write": "remote_write", "remote_apply": "remote_apply"} {
			if set == "local" && standbys != "" {
				want = "on"
			}
			db, err := postgres.Open(postgres.Config{URL: server.URL("postgres") + "&synchronous_commit=" + set})
			if err != nil {
				t.Fatal(err)
			}
			tx, err := postgres.Begin(t.Context(), db, `SELECT 1`)
			if err != nil {
				t.Fatal(err)
			}
			var within, after string
			if err := tx.QueryRow(`SHOW synchronous_commit`).Scan(&within); err != nil || within != want {
				t.Errorf("%s with standbys %q: %s within a transaction, want %s; %v", set, standbys, within, want, err)
			}
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
			if err := db.QueryRow(`SHOW synchronous_commit`).Scan(&after); err != nil || after != set {
				t.Errorf("%s with standbys %q: %s after a transaction; %v", set, standbys, after, err)
			}
			_ = db.Close()
		}
	}
}

// What fails as the first statement of a transaction leaves nothing of it on the connection.
func TestABeginningThatFails(t *testing.T) {
	t.Parallel()
	db, err := postgres.Open(postgres.Config{URL: pgtest.Database(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var before, after int
	if err := db.QueryRowContext(t.Context(), `SELECT pg_backend_pid()`).Scan(&before); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Begin(t.Context(), db, `SELECT 1/0`); err == nil {
		t.Fatal("a division by zero has succeeded")
	}
	tx, err := postgres.BeginReading(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRowContext(t.Context(), `SELECT pg_backend_pid()`).Scan(&after); err != nil || after != before {
		t.Errorf("connection %d after %d: %v", after, before, err)
	}
	if _, err := tx.ExecContext(t.Context(), `CREATE TABLE t (n INTEGER)`); err == nil {
		t.Error("a transaction that only reads has made a table")
	}
	_ = tx.Rollback()
}
