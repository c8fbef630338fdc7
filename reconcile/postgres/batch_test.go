package postgres_test

import (
	"testing"

	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// A batch changes what single runs would, also behind PgBouncer; where one of them fails the
// transaction is over.
func TestBatch(t *testing.T) {
	t.Parallel()
	db, err := postgres.Open(postgres.Config{URL: pooledDatabase(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE kept (n BIGINT PRIMARY KEY, word TEXT)`); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		batch postgres.Batch
		rows  int
	}{
		{postgres.Batch{{1, "a"}, {2, nil}, {int64(3), "c\x00\xff"}}, 3},
		{postgres.Batch{{4, "d"}, {1, "again"}, {5, "e"}}, 3},
		{postgres.Batch{{6, "f"}}, 4},
	} {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		done, failed := tx.ExecContext(t.Context(), `INSERT INTO kept (n, word) VALUES ($1, $2)`, test.batch)
		if failed == nil {
			if n, err := done.RowsAffected(); err != nil || n != int64(len(test.batch)) {
				t.Errorf("%d rows: %v", n, err)
			}
			err = tx.Commit()
		} else {
			err = tx.Rollback()
		}
		if err != nil {
			t.Fatal(err)
		}
		var rows int
		if err := db.QueryRow(`SELECT count(*) FROM kept`).Scan(&rows); err != nil || rows != test.rows {
			t.Errorf("%d rows after %v (%v), want %d; %v", rows, test.batch, failed, test.rows, err)
		}
	}
}
