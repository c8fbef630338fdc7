package client

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
)

// The clock of the database is set forward by more than a span: what counts still does, for as long as it
// would have, and once, however many processes have seen it; a process that is new changes nothing.
func TestClockOfTheTableSetForward(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	tables(t, url)
	db := handleOf(t, url)
	var name string
	must.Do(t, db.QueryRowContext(t.Context(), `SELECT current_database()`).Scan(&name))
	// COST 1, as the clock that it stands for: what calls an expensive function the server compiles first.
	for _, statement := range []string{
		`CREATE SCHEMA fake`, `CREATE TABLE fake.ahead (seconds INT)`, `INSERT INTO fake.ahead VALUES (0)`,
		`CREATE FUNCTION fake.clock_timestamp() RETURNS TIMESTAMPTZ LANGUAGE SQL VOLATILE COST 1 AS
			'SELECT pg_catalog.clock_timestamp() + seconds * interval ''1 second'' FROM fake.ahead'`,
		`ALTER DATABASE ` + name + ` SET search_path = fake, pg_catalog, public`,
	} {
		_, err := db.ExecContext(t.Context(), statement)
		must.Do(t, err)
	}
	set := func(seconds int) {
		_, err := db.ExecContext(t.Context(), `UPDATE fake.ahead SET seconds = $1`, seconds)
		must.Do(t, err)
	}
	one, two := countTable(t, url, "x"), countTable(t, url, "x")
	counted(t, two, 0)
	counted(t, one, 7)
	const span = 3600 // of counted
	set(2 * span)
	for name, table := range map[string]*CountTable{"one": one, "two": two, "one again": one} {
		if got, lost := counted(t, table, 0); got != 7 || lost {
			t.Errorf("%s: %d count, lost %v, want 7", name, got, lost)
		}
	}
	must.Do(t, one.Update(func(w *Window, now time.Time) {
		if left := time.UnixMilli(w.last()).Sub(now); left < (span-600)*time.Second || left > (span+60)*time.Second {
			t.Errorf("it counts for %v", left)
		}
	}))
	set(4 * span)
	if got, _ := counted(t, countTable(t, url, "x"), 0); got != 0 {
		t.Errorf("%d count where no process has seen the clock before", got)
	}
}
