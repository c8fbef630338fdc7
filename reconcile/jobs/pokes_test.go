package jobs

import (
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// Pokes that were deleted since need not be looked for again and again.
func TestDeletedPokesAreSeen(t *testing.T) {
	t.Parallel()
	db, err := postgres.Open(postgres.Config{URL: pgtest.Filled(t, "begun", postgres.Migrate)})
	must.Do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.ExecContext(t.Context(), `UPDATE poke_number SET number = 5`)
	must.Do(t, err)
	r, err := New(Config{DB: db, Now: time.Now})
	must.Do(t, err)
	r.Looked(5)
	<-r.look
	seen, err := r.passOn(t.Context(), r.seen.Load())
	must.Do(t, err)
	r.seen.Store(seen)
	r.Looked(5)
	select {
	case <-r.look:
		t.Errorf("after %d it is looked for more up to 5", seen)
	default:
	}
}

// A database that was put back to an earlier time gives numbers again: what was poked since is passed on,
// and all that is on record, which may not have been.
func TestPokesOfADatabasePutBack(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	prepared := open(t, server.URL("postgres"))
	must.Do(t, postgres.Migrate(t.Context(), prepared))
	r, err := New(Config{DB: prepared, Now: time.Now})
	must.Do(t, err)
	var heard []string
	r.Poked("zone", func(rest, _ string) { heard = append(heard, rest) })
	newest := func() (number int64) {
		must.Do(t, r.DB.QueryRowContext(t.Context(), `SELECT number FROM poke_number`).Scan(&number))
		return number
	}
	turn := func() []string {
		t.Helper()
		r.Looked(newest())
		heard = nil
		must.Do(t, r.turn(t.Context()))
		return heard
	}
	want := func(what string, want ...string) {
		t.Helper()
		if got := turn(); !slices.Equal(got, want) {
			t.Errorf("%s: heard %v, want %v", what, got, want)
		}
	}
	poke := func(zones ...string) {
		t.Helper()
		for _, zone := range zones {
			must.Do(t, r.Poke(t.Context(), "zone/"+zone))
		}
	}
	want("at first")
	poke("1")
	want("a poke", "1")
	must.Do(t, server.Keep())
	r.DB = open(t, server.URL("postgres"))
	poke("2", "3")
	want("two more", "2", "3")
	must.Do(t, server.PutBack())
	r.DB = open(t, server.URL("postgres"))
	poke("4")
	want("put back", "1", "4")
	want("nothing since")

	poke("9")
	must.Do(t, r.turn(t.Context()))
	r.Looked(2) // it has begun before the last poke
	want("a look that is late")
	must.Do(t, server.PutBack())
	r.DB = open(t, server.URL("postgres"))
	poke("5", "6", "7", "8")
	r.PutBack() // the history tells
	want("put back, and more pokes than before", "1", "5", "6", "7", "8")
}

func open(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := postgres.Open(postgres.Config{URL: url})
	must.Do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}
