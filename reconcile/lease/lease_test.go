package lease

import (
	"context"
	"database/sql"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// patience bounds what is waited for. A machine may be slow.
const patience = 2 * time.Minute

// fixture is a database whose clock, and that of all holders, can be put forward.
type fixture struct {
	*testing.T
	db      *sql.DB
	admin   func(t testing.TB, statement string)
	forward atomic.Int64
	all     []*replica
}

// replica is a holder that runs.
type replica struct {
	*Holder
	paused atomic.Bool
	stop   context.CancelFunc
	done   chan struct{}
}

// fakeClock has clock_timestamp() be that of a table's row.
var fakeClock = []string{
	`CREATE SCHEMA fake`,
	`CREATE TABLE fake.clock (forward INTERVAL NOT NULL)`,
	`INSERT INTO fake.clock VALUES ('0')`,
	`CREATE FUNCTION fake.clock_timestamp() RETURNS TIMESTAMPTZ LANGUAGE SQL VOLATILE AS 'SELECT pg_catalog.clock_timestamp() + forward FROM fake.clock'`,
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

// prepare makes the tables, with a clock of the test.
func prepare(t testing.TB, url string) {
	t.Helper()
	db := open(t, url)
	if err := postgres.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, statement := range fakeClock {
		exec(t, db, statement)
	}
	var name string
	if err := db.QueryRowContext(t.Context(), `SELECT current_database()`).Scan(&name); err != nil {
		t.Fatal(err)
	}
	exec(t, db, `ALTER DATABASE `+name+` SET search_path = fake, pg_catalog, public`)
	db.Close()
}

func newFixture(t *testing.T, url string) *fixture {
	t.Helper()
	prepare(t, url)
	f := &fixture{T: t, db: open(t, url)}
	t.Cleanup(func() {
		for _, r := range f.all {
			r.stop()
		}
		for _, r := range f.all {
			<-r.done
		}
	})
	return f
}

// pass has time pass at once, for all.
func (f *fixture) pass(d time.Duration) {
	f.Helper()
	f.forward.Add(int64(d))
	exec(f, f.db, `UPDATE fake.clock SET forward = forward + make_interval(secs => $1)`, d.Seconds())
}

func (f *fixture) clock() time.Duration { return sinceBoot() + time.Duration(f.forward.Load()) }

func (f *fixture) run(name string, names ...reconcile.LeaseName) *replica {
	r := f.make(f.db, name, names...)
	f.start(r)
	return r
}

func (f *fixture) make(db *sql.DB, name string, names ...reconcile.LeaseName) *replica {
	return &replica{Holder: New(Config{DB: db, Names: names, Replica: name, Version: "test", Log: slog.New(slog.NewTextHandler(f.Output(), nil)).With("replica", name), clock: f.clock})}
}

func (f *fixture) start(r *replica) {
	ctx, cancel := context.WithCancel(context.Background())
	r.stop, r.done = cancel, make(chan struct{})
	f.all = append(f.all, r)
	go func() {
		defer close(r.done)
		r.Run(ctx)
	}()
}

// await waits until something holds.
func (f *fixture) await(what string, holds func() bool) {
	f.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			rows, err := All(context.Background(), f.db)
			f.Fatalf("waited for too long: %s\n%+v %v", what, rows, err)
		}
	}
}

func (r *replica) has(names ...reconcile.LeaseName) bool {
	for _, name := range names {
		if _, ok := r.Held(name); !ok {
			return false
		}
	}
	return true
}

func (r *replica) count() (n int) {
	for _, name := range r.Names {
		if r.has(name) {
			n++
		}
	}
	return n
}

var _ sync.Mutex

func TestOneTakesAllAndGivesUpInGoodOrder(t *testing.T) {
	f := newFixture(t, pgtest.Database(t))
	names := []reconcile.LeaseName{"a", "b", "c"}
	one := f.run("one", names...)
	f.await("one has all", func() bool { return one.has(names...) })
	_, end, ok := one.Begin("a")
	if !ok {
		t.Fatal("not held")
	}
	two := f.run("two", names...)
	f.await("spread", func() bool { return two.count() == 1 && one.count() == 2 })
	one.stop()
	f.await("two has what nothing is in flight under", func() bool { return two.count() == 2 || two.count() == 3 })
	end()
	f.await("two has all", func() bool { return two.has(names...) })
	<-one.done
}
