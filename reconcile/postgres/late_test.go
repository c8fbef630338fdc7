package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// What is sent late is in order with all else of its transaction, and in it or not at all.
func TestLate(t *testing.T) {
	t.Parallel()
	db, err := postgres.Open(postgres.Config{URL: pooledDatabase(t)})
	must.Do(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), `CREATE TABLE kept (n BIGINT PRIMARY KEY, body BYTEA, at TIMESTAMPTZ)`)
	must.Do(t, err)
	count := func() (n int) {
		t.Helper()
		must.Do(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM kept`).Scan(&n))
		return n
	}
	late, insert := postgres.Late(t.Context()), `INSERT INTO kept VALUES ($1, $2, $3)`
	for name, test := range map[string]struct {
		numbers []int // to insert
		fails   bool  // a number is there twice
	}{
		"kept":    {[]int{1, 2, 3}, false},
		"refused": {[]int{4, 4, 5}, true},
	} {
		before := count()
		tx, err := postgres.Begin(t.Context(), db, `SELECT 1`)
		must.Do(t, err)
		body := make([]byte, 1) // of all
		for _, n := range test.numbers {
			body[0] = byte(n)
			_, err := tx.ExecContext(late, insert, n, body, time.Unix(int64(n), 0))
			must.Do(t, err)
		}
		err = tx.Commit()
		var told *postgres.LateError
		if errors.As(err, &told) != test.fails || (err != nil) != test.fails {
			t.Errorf("%s: %v", name, err)
		}
		if after := count(); (after == before) != test.fails {
			t.Errorf("%s: %d rows after %d", name, after, before)
		}
	}
	var others int
	must.Do(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM kept WHERE get_byte(body, 0) <> n`).Scan(&others))
	if others > 0 {
		t.Errorf("%d rows have the bytes of another", others)
	}
	tx, err := postgres.Begin(t.Context(), db, `SELECT 1`)
	must.Do(t, err)
	for i, ctx := range []context.Context{late, t.Context()} {
		_, err := tx.ExecContext(late, insert, 10+i, []byte("text"), nil)
		must.Do(t, err)
		var n int64
		var body []byte
		var at *time.Time
		var is bool
		query := tx.QueryRowContext(ctx, `SELECT n, body, at, n > 5 FROM kept WHERE n = $1`, 10+i)
		if err := query.Scan(&n, &body, &at, &is); err != nil || n != int64(10+i) || string(body) != "text" || at != nil || !is {
			t.Errorf("query %d: read %d %q %v %v: %v", i, n, body, at, is, err)
		}
	}
	_, err = tx.ExecContext(late, insert, 1, nil, nil)
	must.Do(t, err)
	var told *postgres.LateError
	if err := tx.QueryRowContext(late, `SELECT 1`).Scan(new(int)); !errors.As(err, &told) {
		t.Errorf("a query after what is refused: %v", err)
	}
	must.Do(t, tx.Rollback())
	if n := count(); n != 3 {
		t.Errorf("%d rows", n)
	}
}
