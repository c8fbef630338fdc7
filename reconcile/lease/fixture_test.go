package lease

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

func TestMain(m *testing.M) {
	// Most of these tests wait for another process.
	soak.AtOnce(8)
	os.Exit(pgtest.Main(m))
}

// patience bounds what is waited for. A machine may be slow.
const patience = 2 * time.Minute

// eachWay runs a test over a connection to the server, and behind PgBouncer.
func eachWay(t *testing.T, test func(f *fixture)) {
	t.Run("direct", func(t *testing.T) { t.Parallel(); test(newFixture(t, clocked(t))) })
	t.Run("PgBouncer", func(t *testing.T) {
		t.Parallel()
		url := clocked(t)
		f := newFixture(t, url)
		f.url = pgtest.Shared(t).Pooler(t)(pgtest.Name(url)) // whose connections have the clock of the test
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

// clocked returns the URL of a database with the tables, and with the clock of a test.
func clocked(t testing.TB) (url string) {
	t.Helper()
	url = pgtest.Filled(t, "clocked", prepare)
	pgtest.Shared(t).Exec(t, fmt.Sprintf(hasClock, pgtest.Name(url))) // a copy of a database does not have its settings
	return url
}

// hasClock has the connections to a database take the clock of a test for that of the server.
const hasClock = `ALTER DATABASE %s SET search_path = fake, pg_catalog, public`

// prepare makes the tables, with the clock of a test: that of the row of fake.clock.
func prepare(ctx context.Context, db *sql.DB) error {
	if err := postgres.Migrate(ctx, db); err != nil {
		return err
	}
	// What calls an expensive function the server compiles before it runs it: COST 1, as the clock that
	// it stands for.
	for _, statement := range []string{
		`CREATE SCHEMA fake`,
		`CREATE TABLE fake.clock (at TIMESTAMPTZ NOT NULL)`,
		`INSERT INTO fake.clock VALUES ('2026-01-02 03:04:05Z')`,
		`CREATE FUNCTION fake.clock_timestamp() RETURNS TIMESTAMPTZ LANGUAGE SQL VOLATILE COST 1 AS 'SELECT at FROM fake.clock'`,
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// fixture is a database and holders. Their clocks stand still, but for what a test has pass.
type fixture struct {
	*testing.T
	url    string
	db     *sql.DB
	passed atomic.Int64

	mu   sync.Mutex
	runs []*replica
}

func newFixture(t *testing.T, url string) *fixture {
	t.Helper()
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

// fixtureOn is a fixture on a server that the test has for itself.
func fixtureOn(t *testing.T, server *pgtest.Server) *fixture {
	t.Helper()
	url := server.URL("postgres")
	db := open(t, url)
	if err := prepare(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	exec(t, db, fmt.Sprintf(hasClock, "postgres"))
	db.Close()
	return newFixture(t, url)
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
	r.f.mu.Lock()
	r.f.runs = append(r.f.runs, r)
	r.f.mu.Unlock()
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

// awaitLooking is await while all that run look, and not when a second has passed.
func (f *fixture) awaitLooking(what string, holds func() bool) {
	f.Helper()
	f.await(what, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, r := range f.runs {
			r.LookNow()
		}
		return holds()
	})
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
