package lease

import (
	"context"
	"database/sql"
	"flag"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

func TestMain(m *testing.M) {
	// Most of these tests wait for another process; -parallel still has the last word.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(pgtest.Main(m))
}

// patience bounds what is waited for. A machine may be slow.
const patience = 2 * time.Minute

// eachWay runs a test over a connection to the server, and behind PgBouncer.
func eachWay(t *testing.T, test func(f *fixture)) {
	t.Run("direct", func(t *testing.T) { t.Parallel(); test(newFixture(t, pgtest.Database(t))) })
	t.Run("PgBouncer", func(t *testing.T) {
		t.Parallel()
		server := pgtest.Start(t)
		f := newFixture(t, server.URL("postgres"))
		f.url = server.Pooler(t)("postgres") // whose connections have the clock of the test
		f.db = open(t, f.url)
		test(f)
	})
}

func open(t testing.TB, url string) *sql.DB {
	t.Helper()
	db, err := postgres.Open(postgres.Config{URL: url, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func exec(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(context.Background(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// prepare makes the tables, with the clock of a test: that of the row of fake.clock.
func prepare(t testing.TB, url string) {
	t.Helper()
	db := open(t, url)
	if err := postgres.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	var name string
	if err := db.QueryRowContext(t.Context(), `SELECT current_database()`).Scan(&name); err != nil {
		t.Fatal(err)
	}
	// What calls an expensive function the server compiles before it runs it: COST 1, as the clock that
	// it stands for.
	for _, statement := range []string{
		`CREATE SCHEMA fake`,
		`CREATE TABLE fake.clock (at TIMESTAMPTZ NOT NULL)`,
		`INSERT INTO fake.clock VALUES ('2026-01-02 03:04:05Z')`,
		`CREATE FUNCTION fake.clock_timestamp() RETURNS TIMESTAMPTZ LANGUAGE SQL VOLATILE COST 1 AS 'SELECT at FROM fake.clock'`,
		`ALTER DATABASE ` + name + ` SET search_path = fake, pg_catalog, public`,
	} {
		exec(t, db, statement)
	}
	db.Close()
}

// fixture is a database and holders. Their clocks stand still, but for what a test has pass.
type fixture struct {
	*testing.T
	url    string
	db     *sql.DB
	passed atomic.Int64
}

func newFixture(t *testing.T, url string) *fixture {
	t.Helper()
	prepare(t, url)
	return &fixture{T: t, url: url, db: open(t, url)}
}

func (f *fixture) clock() time.Duration { return time.Hour + time.Duration(f.passed.Load()) }

// pass has time pass at once, for all.
func (f *fixture) pass(d time.Duration) {
	f.Helper()
	f.passed.Add(int64(d))
	f.passThere(d)
}

func (f *fixture) passThere(d time.Duration) {
	f.Helper()
	exec(f, f.db, `UPDATE fake.clock SET at = at + make_interval(secs => $1)`, d.Seconds())
}

// replica is a holder.
type replica struct {
	*Holder
	f *fixture
}

func (f *fixture) config(name string, names ...reconcile.LeaseName) Config {
	return Config{
		DB: f.db, Names: names, Replica: name, Version: "test", clock: f.clock,
		Log: slog.New(slog.NewTextHandler(f.Output(), nil)).With("replica", name),
	}
}

func (f *fixture) replica(name string, names ...reconcile.LeaseName) *replica {
	for _, name := range names { // else the first look makes them
		exec(f, f.db, makeLease, string(name))
	}
	return &replica{New(f.config(name, names...)), f}
}

// run runs a holder until stop is called, or the test ends.
func (r *replica) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-ended
	}
	r.f.Cleanup(stop)
	return stop
}

// turns has holders do what they would each second.
func (f *fixture) turns(all ...*replica) {
	f.Helper()
	for _, r := range all {
		if err := r.turn(context.Background()); err != nil {
			f.Fatal(err)
		}
		r.tell()
	}
}

func (f *fixture) left(r *replica) {
	f.Helper()
	for _, o := range r.all() {
		r.end(o)
	}
	exec(f, f.db, forgetReplicas, r.Replica)
	r.tell()
	if err := r.keep(context.Background()); err != nil {
		f.Fatal(err)
	}
}

func (r *replica) has() (names []reconcile.LeaseName) {
	for _, name := range r.Names {
		if _, ok := r.Held(name); ok {
			names = append(names, name)
		}
	}
	return names
}

func (f *fixture) rows() []Row {
	f.Helper()
	look, err := LookAt(context.Background(), f.db)
	if err != nil {
		f.Fatal(err)
	}
	return look.Leases
}

// await waits until something holds.
func (f *fixture) await(what string, holds func() bool) {
	f.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.Fatalf("waited for too long: %s", what)
		}
	}
}
