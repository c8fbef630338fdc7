package lease

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
)

// A database that was put back to an earlier time is told from one that has gone on, also where it has
// as many entries again with the next look.
func TestPutBackIsSeen(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	f := fixtureOn(t, server)
	r := f.replica("one", "a")
	enter := func(number int64, what string) {
		t.Helper()
		exec(t, f.db, `INSERT INTO history (number, body, hash) VALUES ($1, '{}', decode(md5($2), 'hex'))`, number, what)
		exec(t, f.db, `UPDATE history_ends SET head_number = $1, head_hash = decode(md5($2), 'hex')`, number, what)
	}
	poke := func() { exec(t, f.db, `UPDATE poke_number SET number = number + 1`) }
	times, forgot := int64(0), int64(0)
	r.Forgot = func(_ context.Context, db *sql.DB) (times int64, err error) {
		forgot++
		return times, db.QueryRowContext(t.Context(), `INSERT INTO put_back VALUES (1, 7, 1) ON CONFLICT (one) DO UPDATE SET times = put_back.times + 1 RETURNING times`).Scan(&times)
	}
	look := func(what string, putBack bool) {
		t.Helper()
		if putBack {
			times++
		}
		if _, err := r.look(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := r.latest.News.PutBack; got != times {
			t.Errorf("%s: it was put back %d times, want %d", what, got, times)
		}
		times = r.latest.News.PutBack
	}
	back := func() {
		t.Helper()
		must.Do(t, server.PutBack())
		f.db = open(t, f.url)
		r.DB = f.db
	}
	look("the first look", false)
	enter(1, "one")
	look("an entry", false)
	must.Do(t, server.Keep())
	f.db = open(t, f.url)
	r.DB = f.db
	look("the server was restarted", false)
	enter(2, "two")
	poke()
	look("more entries", false)

	back()
	look("put back", true)
	look("the same again", false)
	back()
	look("put back once more, before it was looked at again", true)
	back()
	look("and once more", true)
	look("the same again", false)
	enter(2, "another two")
	look("it goes on", false)

	back()
	enter(2, "a third two")
	enter(3, "three")
	look("put back, and more entries than before", true)
	exec(t, f.db, `DELETE FROM history WHERE number < 3`)
	exec(t, f.db, `UPDATE history_ends SET base_number = 2`)
	look("old entries are dropped", false)
	poke()
	look("a poke", false)

	exec(t, f.db, `UPDATE poke_number SET number = 0`)
	look("fewer pokes", true)
	exec(t, f.db, `INSERT INTO tally (zone_id, "commit", at, weakens, process) VALUES ('', 'c', '', 0, '')`)
	look("something counts", false)
	exec(t, f.db, `DELETE FROM tally`)
	look("less counts, and nothing was said", true)
	if times -= 2; forgot != times {
		t.Errorf("it was told %d times that entries were forgotten, want %d", forgot, times)
	}
	exec(t, f.db, `UPDATE history_ends SET head_number = 2`)
	r.Forgot = func(context.Context, *sql.DB) (int64, error) { return 0, errors.New("it cannot be put on record") }
	for range 2 { // until it is on record
		if _, err := r.look(context.Background()); err == nil {
			t.Error("what cannot be told is known")
		}
	}
}

// While others cannot be told, a lease that is held is not used, nor renewed; it is once they were.
func TestLeasesAreWithheldUntilOthersKnow(t *testing.T) {
	t.Parallel()
	f := newFixture(t, clocked(t))
	r := f.replica("one", "a")
	fails := errors.New("it cannot be put on record")
	r.Forgot = func(context.Context, *sql.DB) (int64, error) { return 0, fails }
	exec(t, f.db, `INSERT INTO history (number, body, hash) VALUES (2, '{}', decode(md5('two'), 'hex'))`)
	exec(t, f.db, `UPDATE history_ends SET head_number = 2, head_hash = decode(md5('two'), 'hex')`)
	f.turns(r, r)
	lease, end, ok := r.Begin("a")
	defer end()
	if !ok || r.Left(lease) == 0 {
		t.Fatal("the lease is not held")
	}
	exec(t, f.db, `UPDATE history_ends SET head_number = 1`)
	for range 2 {
		if err := r.turn(context.Background()); !errors.Is(err, fails) {
			t.Errorf("%v", err)
		}
		_, ends, begun := r.Begin("a")
		if ends(); begun || len(r.has()) > 0 || r.Left(lease) > 0 {
			t.Error("the lease is used")
		}
		f.pass(renewEvery + time.Second)
	}
	var left float64
	if err := f.db.QueryRowContext(t.Context(), `SELECT extract(epoch FROM expires_at - clock_timestamp()) FROM lease WHERE name = 'a'`).Scan(&left); err != nil || left > 3 {
		t.Errorf("the lease lasts for %v more seconds: %v", left, err)
	}
	fails = nil
	f.turns(r)
	if len(r.has()) != 1 || r.Left(lease) == 0 {
		t.Error("the lease is not held once others know")
	}
}

// While others cannot be told, a put-back is logged once; and where the entries are there again, as once the right
// backup is in place, leases are held without that.
func TestAPutBackThatIsUndoneEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t, clocked(t))
	r := f.replica("one", "a")
	var log bytes.Buffer
	r.Log = slog.New(slog.NewTextHandler(&log, nil))
	r.Forgot = func(context.Context, *sql.DB) (int64, error) { return 0, errors.New("it cannot be put on record") }
	exec(t, f.db, `INSERT INTO history (number, body, hash) VALUES (2, '{}', decode(md5('two'), 'hex'))`)
	exec(t, f.db, `UPDATE history_ends SET head_number = 2, head_hash = decode(md5('two'), 'hex')`)
	f.turns(r, r)
	exec(t, f.db, `UPDATE history_ends SET head_number = 1`)
	for range 3 {
		r.note(r.turn(context.Background()))
	}
	if len(r.has()) > 0 {
		t.Error("the lease is used")
	}
	exec(t, f.db, `UPDATE history_ends SET head_number = 2`)
	r.note(r.turn(context.Background()))
	if len(r.has()) != 1 {
		t.Error("the lease is not held once the entries are there again")
	}
	for _, line := range []string{"put back to an earlier time: all of it", "leases cannot be renewed; it is tried again", "cause=\"it cannot be put on record that the database was put back\"", "it cannot be put on record\"", "leases are renewed again"} {
		if n := strings.Count(log.String(), line); n != 1 {
			t.Errorf("%q is logged %d times: %s", line, n, &log)
		}
	}
	if strings.Contains(log.String(), "does not answer") {
		t.Errorf("the database is said not to answer: %s", &log)
	}
}
