package jobs_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/jobs"
	"github.com/seawall-dev/seawall/reconcile/postgres"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// TestLeading: whoever has the lease leads, under it, and nobody else does; who is to give it up ends
// first.
func TestLeading(t *testing.T) {
	leases, ctx := reconciletest.NewLeases(), t.Context()
	began, leading := make(chan string, 10), atomic.Int32{}
	var running sync.WaitGroup
	defer running.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for _, name := range []string{"a", "b"} {
		running.Go(func() {
			jobs.Leading(ctx, leases.Of(name), reconcile.LeaseCommits, func(ctx context.Context) {
				if leading.Add(1) > 1 {
					t.Error("two lead")
				}
				defer leading.Add(-1)
				if lease, ok := reconcile.LeaseIn(ctx); !ok || lease.Name != reconcile.LeaseCommits {
					t.Errorf("the lease is %+v", lease)
				}
				began <- name
				<-ctx.Done()
			})
		})
	}
	for _, name := range []string{"a", "b", "a"} {
		leases.Move(name, reconcile.LeaseCommits)
		if got := await(t, began); got != name {
			t.Fatalf("%s leads, want %s", got, name)
		}
	}
}

// TestLeadingAlone: a process that is alone leads for as long as it runs, under no lease.
func TestLeadingAlone(t *testing.T) {
	times := 0
	jobs.Leading(t.Context(), reconcile.OnlyProcess{}, reconcile.LeaseCommits, func(ctx context.Context) {
		if _, under := reconcile.LeaseIn(ctx); under {
			t.Error("it is under a lease")
		}
		times++
	})
	if times != 1 {
		t.Errorf("it led %d times", times)
	}
}

// TestKilled: another replica does what one has left behind. River has one process that looks for it: at
// once, and then twice a minute. Who follows one that was killed waits for 15 seconds.
func TestKilled(t *testing.T) {
	t.Parallel()
	for name, passes := range soak.Some(map[string][]string{
		"the time passes in the database": {`DELETE FROM river_leader`, `UPDATE river_job SET attempted_at = attempted_at - interval '15 seconds'`},
		"the time passes":                 nil,
	}, "the time passes in the database") {
		t.Run(name, func(t *testing.T) { t.Parallel(); leavesBehind(t, passes) })
	}
}

// leavesBehind kills a replica in the middle of a job, has statements change the database, and waits until
// another has done it.
func leavesBehind(t *testing.T, passes []string) {
	url := pgtest.Shared(t).Pooler(t)(pgtest.Name(pgtest.Filled(t, "begun", postgres.Migrate)))
	began, done, never := make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
	defer close(never)
	db := open(t, url)
	killed, err := jobs.New(jobs.Config{DB: db, Now: time.Now, AbandonedAfter: 4 * time.Second})
	must(t, err)
	killed.Work(jobs.Plan, jobs.Worker{AtOnce: 1, Within: 3 * time.Second, Do: func(context.Context, jobs.Job) error {
		began <- struct{}{}
		<-never // as it was killed
		return nil
	}})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go killed.Run(ctx)
	must(t, killed.Insert(t.Context(), jobs.Job{Kind: jobs.Plan, Number: 1, Head: head(1)}))
	await(t, began)
	other := open(t, url)
	for leads := false; !leads; { // or it would begin to lead after the time has passed
		must(t, other.QueryRowContext(t.Context(), `SELECT count(*) > 0 FROM river_leader`).Scan(&leads))
	}
	must(t, db.Close()) // nothing of it gets there any more
	for _, statement := range passes {
		_, err = other.ExecContext(t.Context(), statement)
		must(t, err)
	}
	replica(t, url, func(r *jobs.Replicas) {
		r.Work(jobs.Plan, jobs.Worker{AtOnce: 1, Within: 3 * time.Second, Do: func(context.Context, jobs.Job) error {
			done <- struct{}{}
			return nil
		}})
	})
	if len(passes) > 0 {
		awaitTried(t, other, done) // it counts as one that has failed
	} else {
		await(t, done)
	}
}
