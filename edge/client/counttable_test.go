package client

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/integration/soak"
)

func TestMain(m *testing.M) {
	soak.AtOnce(8)
	os.Exit(pgtest.Main(m))
}

// tables makes the tables of the budget in an empty database.
func tables(t testing.TB, url string) {
	t.Helper()
	text, err := os.ReadFile("../../reconcile/postgres/migrations/00003_budget.sql")
	must.Do(t, err)
	db := handleOf(t, url)
	for statement := range strings.SplitSeq(string(text), ";\n") {
		_, err := db.ExecContext(t.Context(), statement)
		must.Do(t, err)
	}
}

// handleOf is what a process of its own has.
func handleOf(t testing.TB, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url+"&default_query_exec_mode=exec")
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, db.Close()) })
	return db
}

func countTable(t testing.TB, url, credential string) *CountTable {
	t.Helper()
	return &CountTable{Database: opened(handleOf(t, url)), BaseURL: "https://api.example.com/client/v4", Credential: func() (edge.Secret, error) {
		return edge.NewSecret(credential), nil
	}}
}

// counted returns what counts in the table, and whether it was lost; it adds n first.
func counted(t testing.TB, s Store, n int) (sum int, lost bool) {
	t.Helper()
	must.Do(t, s.Update(func(w *Window, now time.Time) {
		v := visit{now: now, per: time.Hour, quota: 100, holder: "test"}
		if n > 0 {
			v.ended = []Count{{Until: grain(now, time.Hour), N: n}}
		}
		lost = w.trade(v).lost
		sum = w.taken().sum()
	}))
	return sum, lost
}

func TestCountTable(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	pooled := server.Pooler(t)
	tables(t, server.URL("postgres"))
	for name, url := range map[string]string{"direct": server.URL("postgres"), "PgBouncer": pooled("postgres")} {
		t.Run(name, func(t *testing.T) {
			one, again, two := countTable(t, url, name+"one"), countTable(t, url, name+"one"), countTable(t, url, name+"two")
			counted(t, one, 7)
			counted(t, two, 5)
			again.BaseURL += "/"
			for range 2 {
				counted(t, again, 1)
			}
			if got, lost := counted(t, one, 0); got != 9 || lost {
				t.Errorf("%d count, lost %v, want 9", got, lost)
			}
			two.BaseURL = "https://other.example.com/client/v4"
			if got, _ := counted(t, two, 0); got != 0 {
				t.Errorf("%d count at another platform", got)
			}
		})
	}
}

// A row that cannot be read is told and counts as half of the quota, once.
func TestDamagedCountTable(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	tables(t, url)
	table := countTable(t, url, testToken)
	counted(t, table, 30)
	_, err := dbOf(t, table).ExecContext(t.Context(), `UPDATE budget SET counts = 'hello'`)
	must.Do(t, err)
	if got, lost := counted(t, table, 0); got != 50 || !lost {
		t.Errorf("%d count, lost %v, want half of 100", got, lost)
	}
	if got, lost := counted(t, table, 0); got != 50 || lost {
		t.Errorf("then %d count, lost %v", got, lost)
	}
}

// Nobody can tell from the table which credential it is about, not even who guesses right; and
// what has not counted for a day leaves it.
func TestCountTableHoldsNoCredential(t *testing.T) {
	t.Parallel()
	var names [2]string
	for i := range names {
		url := pgtest.Database(t)
		tables(t, url)
		table := countTable(t, url, testToken)
		counted(t, table, 1)
		_, err := dbOf(t, table).ExecContext(t.Context(), `UPDATE budget SET ends = now() - interval '2 days'`)
		must.Do(t, err)
		counted(t, table, 1) // counts again: it stays
		_, err = dbOf(t, table).ExecContext(t.Context(), `INSERT INTO budget VALUES ('old', '{}', now() - interval '2 days')`)
		must.Do(t, err)
		counted(t, countTable(t, url, "another"), 1)
		var rows int
		must.Do(t, dbOf(t, table).QueryRowContext(t.Context(), `SELECT count(*), min(credential) FILTER (WHERE counts LIKE '%"n":2%') FROM budget`).Scan(&rows, &names[i]))
		if rows != 2 {
			t.Errorf("%d rows, want those of two credentials", rows)
		}
	}
	plain := sha256.Sum256([]byte(testToken))
	for _, guess := range []string{testToken, hex.EncodeToString(plain[:8]), keyOf(nil, "https://api.example.com/client/v4", edge.NewSecret(testToken))} {
		if strings.Contains(names[0], guess) {
			t.Errorf("%s is in the table", guess)
		}
	}
	if names[0] == names[1] {
		t.Error("two databases know a credential by the same name")
	}
}

// The clock is read when the row is locked, and not before: it would cut short what another has
// written since.
func TestCountTableReadsTheClockUnderTheLock(t *testing.T) {
	url := pgtest.Database(t)
	tables(t, url)
	table := countTable(t, url, testToken)
	counted(t, table, 1)
	tx, err := dbOf(t, table).BeginTx(t.Context(), nil)
	must.Do(t, err)
	defer tx.Rollback()
	_, err = tx.ExecContext(t.Context(), `SELECT 1 FROM budget FOR UPDATE`)
	must.Do(t, err)
	var read time.Time
	done := make(chan error)
	go func() {
		other := &CountTable{Database: table.Database, BaseURL: table.BaseURL, Credential: table.Credential}
		for {
			err := other.Update(func(_ *Window, now time.Time) { read = now })
			if !errors.Is(err, ErrCountAway) { // it waits for 4 seconds at the most
				done <- err
				return
			}
		}
	}()
	var unlocked time.Time
	for waiting := 0; waiting == 0; {
		must.Do(t, dbOf(t, table).QueryRowContext(t.Context(), `SELECT count(*), clock_timestamp() FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting, &unlocked))
	}
	must.Do(t, tx.Commit())
	must.Do(t, <-done)
	if read.Before(unlocked) {
		t.Errorf("the clock was read at %v, before the row was unlocked at %v", read, unlocked)
	}
}

// platform counts what comes to it.
type platform struct {
	mu       sync.Mutex
	arrivals []time.Time
	reached  map[int]chan struct{}
}

func (p *platform) arrive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arrivals = append(p.arrivals, time.Now())
	if reached := p.reached[len(p.arrivals)]; reached != nil {
		close(reached)
	}
}

// Three machines whose clocks are minutes apart over one real database: connections are cut, it is
// stopped and started again, and one of the three is killed with what it had taken. The platform
// never sees more than the quota in a span, and the others go on.
func TestMachinesShareTheQuotaInATable(t *testing.T) {
	t.Parallel()
	const quota, per = 60, time.Second
	server := pgtest.Start(t)
	tables(t, server.URL("postgres"))
	at := func(n int) int { return n * quota }
	p := &platform{reached: map[int]chan struct{}{at(1): make(chan struct{}), at(2): make(chan struct{}), at(3): make(chan struct{}), at(5): make(chan struct{})}}
	all, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer end()
	var kill context.CancelFunc
	for machine := range 3 {
		var ctx context.Context
		ctx, kill = context.WithCancel(all)
		defer kill()
		b := budgetAt(countTable(t, server.URL("postgres"), testToken), quota, per, time.Duration(machine)*7*time.Minute)
		for range 4 {
			running.Go(func() {
				for b.take(ctx, manySlots(), untold) == nil {
					p.arrive()
					if ctx.Err() != nil {
						return // killed: what it has taken it does not give back
					}
					b.done(1, 200, nil)
				}
			})
		}
	}
	within(t, p.reached[at(1)])
	server.Cut(t)
	within(t, p.reached[at(2)])
	kill()
	server.Stop(t)
	server.Restart(t)
	within(t, p.reached[at(3)])
	server.Cut(t)
	within(t, p.reached[at(5)])
	end()
	running.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := quota; i < len(p.arrivals); i++ {
		if span := p.arrivals[i].Sub(p.arrivals[i-quota]); span < per {
			t.Fatalf("%d requests arrived within %v", quota+1, span)
		}
	}
}

// BenchmarkCount is a visit to a window that is full, as it is where a fleet is looked after.
func BenchmarkCount(b *testing.B) {
	server := pgtest.Start(b)
	pooled := server.Pooler(b)
	tables(b, server.URL("postgres"))
	for name, store := range map[string]Store{
		"file":      countFile(b.TempDir()+"/budget", testToken),
		"table":     countTable(b, server.URL("postgres"), "direct"),
		"PgBouncer": countTable(b, pooled("postgres"), "pooled"),
	} {
		b.Run(name, func(b *testing.B) {
			full := func(w *Window, now time.Time) {
				for i := range grains {
					w.add(Count{Until: grain(now, time.Hour) + int64(i), N: 4, Class: edge.Class(i % int(edge.Classes))})
				}
			}
			must.Do(b, store.Update(full))
			b.ResetTimer()
			for b.Loop() {
				must.Do(b, store.Update(func(w *Window, now time.Time) {
					w.trade(visit{now: now, per: time.Hour, quota: 2000, holder: "test", want: 1})
				}))
			}
		})
	}
}

// opened is a handle that is there.
func opened(db *sql.DB) func() (*sql.DB, error) { return func() (*sql.DB, error) { return db, nil } }

func dbOf(t testing.TB, table *CountTable) *sql.DB {
	t.Helper()
	db, err := table.Database()
	must.Do(t, err)
	return db
}

// Where the database of the counts cannot even be opened, nothing is sent: how many others send, and
// what, is not known.
func TestNothingIsSentWithoutADatabase(t *testing.T) {
	table := &CountTable{
		Database:   func() (*sql.DB, error) { return nil, errors.New("no such certificate") },
		Credential: func() (edge.Secret, error) { return edge.NewSecret("a credential of the test"), nil },
	}
	err := table.Update(func(*Window, time.Time) { t.Error("a window was changed") })
	if !errors.Is(err, ErrCountAway) || table.Alone(100) != 0 {
		t.Errorf("%v, and alone %d", err, table.Alone(100))
	}
}
