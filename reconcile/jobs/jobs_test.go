package jobs_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile/jobs"
	"github.com/seawall-dev/seawall/reconcile/lease"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

func TestMain(m *testing.M) {
	// Most of these tests wait for another process.
	soak.AtOnce(8)
	os.Exit(pgtest.Main(m))
}

// patience bounds what a test waits for. A machine may be slow.
const patience = 3 * time.Minute

// databases runs a test over a connection to an empty database with its tables, and behind PgBouncer. cut
// ends all connections to it.
func databases(t *testing.T, test func(t *testing.T, url string, cut func())) {
	t.Helper()
	for _, name := range []string{"direct", "PgBouncer"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.Filled(t, "begun", postgres.Migrate)
			database := pgtest.Name(url)
			if name == "PgBouncer" {
				url = pgtest.Shared(t).Pooler(t)(database)
			}
			test(t, url, func() { pgtest.Shared(t).CutFrom(t, database) })
		})
	}
}

func open(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := postgres.Open(postgres.Config{URL: url, Name: "test"})
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// replica is one of several over a database. prepare is called before it runs.
func replica(t *testing.T, url string, prepare func(*jobs.Replicas)) (r *jobs.Replicas, kill func()) {
	t.Helper()
	db := open(t, url)
	r, err := jobs.New(jobs.Config{DB: db, Now: time.Now, AbandonedAfter: 4 * time.Second, FetchEvery: often})
	must(t, err)
	if prepare != nil {
		prepare(r)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	running.Go(func() { looks(ctx, r, db) })
	kill = sync.OnceFunc(func() { stop(); running.Wait() })
	t.Cleanup(kill)
	return r, kill
}

// often is how often a replica looks, for jobs and for pokes.
const often = 100 * time.Millisecond

// looks has a replica look at the database until ctx ends.
func looks(ctx context.Context, r *jobs.Replicas, db *sql.DB) {
	h := lease.New(lease.Config{DB: db, Replica: rand.Text(), Looked: func(l lease.Look, _ error) { r.Looked(l.News.Poked) }})
	go func() {
		for hints := time.Tick(often); ctx.Err() == nil; h.LookNow() {
			<-hints
		}
	}()
	h.Run(ctx)
}

// await waits for something that was sent.
func await[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatal("it did not come")
	}
	return v
}

// awaitTried waits for something that comes of a job that has failed: it is tried again at once, and not
// when the pause is over and River looks for those of which it is, every 5 seconds.
func awaitTried[T any](t *testing.T, db *sql.DB, c <-chan T) (v T) {
	t.Helper()
	for patient := time.Now().Add(patience); time.Now().Before(patient); {
		select {
		case v = <-c:
			return v
		case <-time.After(100 * time.Millisecond):
			_, err := db.ExecContext(t.Context(), `UPDATE river_job SET state = 'available', scheduled_at = now() WHERE state = 'retryable' OR scheduled_at > now()`)
			must(t, err)
		}
	}
	t.Fatal("it did not come")
	return v
}

// TestPokes: a poke at one replica reaches all, also where their connections were cut; a note
// reaches those that begin later, too.
func TestPokes(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, url string, cut func()) {
		heard := make(chan string, 100)
		hears := func(name string) func(*jobs.Replicas) {
			return func(r *jobs.Replicas) {
				r.Poked("zone", func(rest, text string) { heard <- name + " " + rest + " " + text })
			}
		}
		a, _ := replica(t, url, hears("a"))
		replica(t, url, hears("b"))
		settle(t, a, heard)
		must(t, a.Poke(t.Context(), "zone/1"))
		must(t, a.Poke(t.Context(), "others"))
		both(t, heard, "a 1 ", "b 1 ")
		cut()
		insist := func(do func() error) { // each connection that was cut says so once
			t.Helper()
			for patient := time.Now().Add(patience); ; {
				err := do()
				if err == nil {
					return
				}
				if time.Now().After(patient) {
					t.Fatal(err)
				}
			}
		}
		insist(func() error { return a.Poke(t.Context(), "zone/2") })
		both(t, heard, "a 2 ", "b 2 ")
		insist(func() error { return a.Note(t.Context(), "zone/3", "said") })
		both(t, heard, "a 3 said", "b 3 said")
		replica(t, url, hears("c"))
		if got := await(t, heard); got != "c 3 said" {
			t.Errorf("a replica that begins later heard %q", got)
		}
		if text, err := a.Noted(t.Context(), "zone/3"); text != "said" || err != nil {
			t.Errorf("noted %q, %v", text, err)
		}
	})
}

// settle waits until two replicas look.
func settle(t *testing.T, r *jobs.Replicas, heard chan string) {
	t.Helper()
	seen := map[string]bool{}
	for len(seen) < 2 {
		must(t, r.Poke(t.Context(), "zone/0"))
		select {
		case name := <-heard:
			seen[name] = true
		case <-time.After(100 * time.Millisecond):
		}
	}
	must(t, r.Poke(t.Context(), "zone/settled"))
	for settled := 0; settled < 2; {
		if strings.HasSuffix(await(t, heard), "settled ") {
			settled++
		}
	}
}

func both(t *testing.T, heard chan string, want ...string) {
	t.Helper()
	got := map[string]bool{await(t, heard): true, await(t, heard): true}
	for _, w := range want {
		if !got[w] {
			t.Errorf("heard %v, want %q", got, want)
		}
	}
}

func head(n int) string { return fmt.Sprintf("%040x", n) }

// TestJobs: of three replicas one does a job; one that fails is tried again; one that says
// something else follows the one that is being done, or takes its place.
func TestJobs(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, url string, _ func()) {
		done := make(chan string, 100)
		hold, held := make(chan struct{}), make(chan struct{}, 1)
		failed := map[int]bool{}
		var mu sync.Mutex
		do := func(ctx context.Context, j jobs.Job) error {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case j.Number == 2 && !failed[2]:
				failed[2] = true
				return errors.New("with a secret")
			case j.Number == 3 && j.Head == head(1):
				held <- struct{}{}
				<-hold
			}
			done <- fmt.Sprint(j.Number, " ", strings.TrimLeft(j.Head, "0"))
			return nil
		}
		var r *jobs.Replicas
		for range 3 {
			r, _ = replica(t, url, func(r *jobs.Replicas) {
				r.Work(jobs.Plan, jobs.Worker{Do: do, AtOnce: 1, Within: time.Minute})
			})
		}
		mu.Lock()     // it is not done before all are there
		for range 3 { // of which two say nothing new
			must(t, r.Insert(t.Context(), jobs.Job{Kind: jobs.Plan, Number: 1, Head: head(1)}))
		}
		mu.Unlock()
		if got := await(t, done); got != "1 1" {
			t.Errorf("done: %s", got)
		}
		must(t, r.Insert(t.Context(), jobs.Job{Kind: jobs.Plan, Number: 2, Head: head(1)}))
		if got := awaitTried(t, open(t, url), done); got != "2 1" {
			t.Errorf("done: %s", got)
		}
		must(t, r.Insert(t.Context(), jobs.Job{Kind: jobs.Plan, Number: 3, Head: head(1)}))
		await(t, held)
		must(t, r.Insert(t.Context(), jobs.Job{Kind: jobs.Plan, Number: 3, Head: head(2)}))
		must(t, r.Insert(t.Context(), jobs.Job{Kind: jobs.Plan, Number: 3, Head: head(3)}))
		close(hold)
		if first, second := await(t, done), await(t, done); first != "3 1" || second != "3 3" {
			t.Errorf("done: %s, %s", first, second)
		}
		if len(done) > 0 {
			t.Errorf("done besides: %s", <-done)
		}
		var errs string
		must(t, open(t, url).QueryRowContext(t.Context(), `SELECT string_agg(errors::text || args::text, ' ') FROM river_job`).Scan(&errs))
		if strings.Contains(errs, "secret") || !strings.Contains(errs, "the log of the replica") {
			t.Errorf("the database keeps %s", errs)
		}
		if err := r.Insert(t.Context(), jobs.Job{Kind: jobs.Plan, Number: 4, Head: "a text of a stranger"}); err == nil {
			t.Error("a head that is no commit is taken")
		}
	})
}
