package review

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/jobs"
	"github.com/seawall-dev/seawall/reconcile/lease"
	"github.com/seawall-dev/seawall/reconcile/postgres"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// soon bounds what a test waits for. A machine may be slow.
const soon = 4 * time.Minute

// abandonedAfter is when a job counts as left behind.
const abandonedAfter = 4 * time.Second

// sharedForge is a forge to several replicas. To comment is to look for the comment first, as with
// real ones: two who do so at once may both find none.
type sharedForge struct {
	*board
	mu       sync.Mutex
	comments map[int][]string
	statuses map[string]string // by commit
	lists    map[string]int    // by replica
	broken   func() bool       // a comment is taken, and the answer is lost
}

type replicasForge struct {
	*sharedForge
	replica string
	killed  *atomic.Bool
}

func (f replicasForge) PullRequests(ctx context.Context) ([]reconcile.PullRequest, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lists[f.replica]++
	return f.board.PullRequests(ctx)
}

var errKilled = errors.New("the replica was killed")

func (f replicasForge) Comment(_ context.Context, number int, _, body string) error {
	f.mu.Lock()
	there := len(f.comments[number])
	f.mu.Unlock()
	time.Sleep(20 * time.Millisecond)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.killed.Load() {
		return errKilled
	}
	if there == 0 {
		f.comments[number] = append(f.comments[number], body)
	} else {
		f.comments[number][0] = body
	}
	if f.broken != nil && f.broken() {
		return fmt.Errorf("the answer to the comment on %d is lost", number)
	}
	return nil
}

func (f replicasForge) Status(_ context.Context, commit string, s reconcile.CommitStatus) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.killed.Load() {
		return errKilled
	}
	f.statuses[commit] = s.String()
	return nil
}

func (f *sharedForge) Approvals(ctx context.Context, number int, head string, since time.Time) ([]reconcile.Account, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.board.Approvals(ctx, number, head, since)
}

func (f *sharedForge) Standing(ctx context.Context, number int) (reconcile.PullStanding, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.board.Standing(ctx, number)
}

// comment is the one comment of a pull request; empty for none.
func (f *sharedForge) comment(number int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.comments[number], "\n\nANOTHER COMMENT\n\n")
}

type sharedHeads struct {
	*heads
	mu sync.Mutex
}

func (h *sharedHeads) Fetch(ctx context.Context, numbers []int) (map[int]string, map[int]error, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.heads.Fetch(ctx, numbers)
}

func (h *sharedHeads) Compile(ctx context.Context, name string) (desired.State, []desired.Problem, error) {
	time.Sleep(rand.N(200 * time.Millisecond)) // so that a push comes while an earlier head is planned
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.heads.Compile(ctx, name)
}

func (h *sharedHeads) times(head string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.compiled[head]
}

// fleet is several replicas over one database.
type fleet struct {
	*fixture
	url    string
	forge  *sharedForge
	heads  *sharedHeads
	leases *reconciletest.Leases
	runs   map[string]*running

	mu    sync.Mutex
	takes map[string]string // by replica: under which name it takes jobs, once it has taken one
}

type running struct {
	service *Service
	jobs    *jobs.Replicas
	kill    func() // as kill -9: nothing of it gets to the database or the forge any more; it does not wait for its end
	stop    func()
}

func newFleet(t *testing.T, url string) *fleet {
	f := &fleet{fixture: newFixture(t, 3), url: url, leases: reconciletest.NewLeases(), runs: map[string]*running{}, takes: map[string]string{}}
	f.forge = &sharedForge{board: f.fixture.forge, comments: map[int][]string{}, statuses: map[string]string{}, lists: map[string]int{}}
	f.heads = &sharedHeads{heads: f.fixture.heads}
	f.converge("c1", zones(3, core("xss"))...)
	f.approvedBy("lead")
	db, err := postgres.Open(postgres.Config{URL: url})
	must.Do(t, err)
	defer db.Close()
	must.Do(t, postgres.Migrate(t.Context(), db))
	return f
}

// start starts a replica.
func (f *fleet) start(name string) {
	f.t.Helper()
	db, err := postgres.Open(postgres.Config{URL: f.url, Name: name})
	must.Do(f.t, err)
	all, err := jobs.New(jobs.Config{DB: db, Now: time.Now, AbandonedAfter: abandonedAfter})
	must.Do(f.t, err)
	config := f.Config
	killed := &atomic.Bool{}
	config.Forge, config.Heads, config.Now, config.Timeout = replicasForge{f.forge, name, killed}, f.heads, time.Now, 2*time.Second
	service := NewService(config)
	service.reviews.join(taking{all, func(ctx context.Context, number int) { f.took(ctx, db, name, number) }}, service.Poke)
	service.merges.divide(Credentials{
		Held:  func() []reconcile.Lease { return nil },
		Leads: func() bool { return f.leases.Holder(reconcile.LeaseCommits) == name },
	}, all)
	all.Poked("commits", func(string, string) { service.Poke() })
	ctx, stop := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { all.Run(ctx) })
	group.Go(func() {
		lease.New(lease.Config{DB: db, Replica: name, Looked: func(l lease.Look, _ error) { all.Looked(l.News.Poked) }}).Run(ctx)
	})
	group.Go(func() {
		jobs.Leading(ctx, f.leases.Of(name), reconcile.LeaseCommits, func(ctx context.Context) { service.Run(ctx, nil) })
	})
	end := sync.OnceFunc(func() {
		stop()
		group.Wait()
		_ = db.Close()
	})
	f.runs[name] = &running{service, all, func() { killed.Store(true); _ = db.Close(); stop() }, end}
	f.t.Cleanup(end)
}

func commitNamed(n int) string { return fmt.Sprintf("%040x", n) }

// push opens a pull request, or pushes to it.
func (f *fleet) push(number, n int) {
	f.forge.mu.Lock()
	defer f.forge.mu.Unlock()
	f.heads.mu.Lock()
	defer f.heads.mu.Unlock()
	f.open(number, commitNamed(n), fleetZone(1, core("xss", "sqli")), fleetZone(2, core("xss")), fleetZone(3, core("xss")))
	for i := range f.forge.pulls {
		if f.forge.pulls[i].Number == number {
			f.forge.pulls[i].Head = commitNamed(n)
		}
	}
}

func (f *fleet) await(what string, is func() bool) {
	f.t.Helper()
	for patient := time.Now().Add(soon); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(patient) {
			f.t.Fatalf("%s: did not come", what)
		}
	}
}

// planned reports whether what is shown of a pull request is the plan of a head.
func (f *fleet) planned(number, n int) bool {
	text := f.forge.comment(number)
	f.forge.mu.Lock()
	defer f.forge.mu.Unlock()
	return strings.Contains(text, "head `"+commitNamed(n)[:12]) && f.forge.statuses[commitNamed(n)] != ""
}

func throughPooler(t *testing.T) (url string, server *pgtest.Server) {
	server = pgtest.Start(t)
	return server.Pooler(t)("postgres"), server
}

// TestReplicasPlanOnce: of three replicas one asks and one plans, once for each head; all know what
// was planned; a webhook at one that does not lead has the one look that does; one that leads from
// now on plans nothing again.
func TestReplicasPlanOnce(t *testing.T) {
	t.Parallel()
	url, _ := throughPooler(t)
	f := newFleet(t, url)
	for n := range 3 {
		f.push(n+1, n+1)
	}
	for _, name := range []string{"a", "b", "c"} {
		f.start(name)
	}
	f.leases.Give("a", reconcile.LeaseCommits)
	for n := range 3 {
		f.await("a plan", func() bool { return f.planned(n+1, n+1) })
	}
	f.push(1, 10)
	must.Do(t, f.runs["b"].jobs.Poke(t.Context(), "commits"))
	f.await("the plan of a push", func() bool { return f.planned(1, 10) })
	for name, run := range f.runs {
		f.await("what "+name+" knows", func() bool {
			list, one := run.service.PullRequests(time.Now()), false
			if len(list.PullRequests) == 3 {
				pull, ok := run.service.PullRequest(1)
				one = ok && pull.Head == commitNamed(10) && strings.Contains(pull.Plan, "sqli")
			}
			return one
		})
	}
	f.leases.Move("c", reconcile.LeaseCommits)
	lists := func() int { f.forge.mu.Lock(); defer f.forge.mu.Unlock(); return f.forge.lists["c"] }
	f.await("a look by c", func() bool { return lists() > 0 })
	must.Do(t, f.runs["b"].jobs.Poke(t.Context(), "commits"))
	f.await("another one", func() bool { return lists() > 1 })
	f.runs["c"].stop()
	for _, n := range []int{1, 2, 3, 10} {
		if times := f.heads.times(commitNamed(n)); times != 1 {
			t.Errorf("head %d was evaluated %d times", n, times)
		}
	}
}

// taking are replicas of which it is known who takes a job.
type taking struct {
	*jobs.Replicas
	took func(ctx context.Context, number int)
}

func (r taking) Work(kind jobs.Kind, w jobs.Worker) {
	do := w.Do
	w.Do = func(ctx context.Context, j jobs.Job) error { r.took(ctx, j.Number); return do(ctx, j) }
	r.Replicas.Work(kind, w)
}

// took notes under which name a replica takes jobs: that of the one that it does.
func (f *fleet) took(ctx context.Context, db *sql.DB, replica string, number int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var as string
	if f.takes[replica] != "" || db.QueryRowContext(ctx, `SELECT `+takenBy+` FROM river_job WHERE state = 'running' AND args->>'number' = $1::text`, number).Scan(&as) != nil {
		return // or it is asked with the next one
	}
	f.takes[replica] = as
}

const takenBy = `attempted_by[array_upper(attempted_by, 1)]`

// passing returns what has the time pass in the database that jobs wait for. What a killed replica has left
// behind is there to be taken, as it is after a while: package jobs tests that. What has failed is tried
// again at once, and not after a pause that becomes longer with each failure. Of a replica that was killed
// with its first job nothing is known: whoever leads in the database looks for those when it begins, and
// then twice a minute, so another begins each time that one may have been abandoned by now.
func (f *fleet) passing(server *pgtest.Server) (now func()) {
	last := time.Now()
	return func() {
		dead := []string{"''"}
		f.mu.Lock()
		for replica, as := range f.takes {
			if f.runs[replica] == nil {
				dead = append(dead, "'"+as+"'")
			}
		}
		f.mu.Unlock()
		server.Exec(f.t, `UPDATE river_job SET state = 'available', scheduled_at = now() WHERE state = 'retryable' OR state = 'running' AND `+takenBy+` IN (`+strings.Join(dead, ", ")+`)`)
		if time.Since(last) > abandonedAfter {
			last = time.Now()
			server.Exec(f.t, `DELETE FROM river_leader`)
		}
	}
}

// TestReplicasLaw: whatever is pushed, killed, cut and moved, in the end each pull request has one
// comment, with the plan of its newest head.
func TestReplicasLaw(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	dice := rand.New(rand.NewPCG(seed, 0))
	url, server := throughPooler(t)
	f := newFleet(t, url)
	var lost sync.Mutex
	lossy := true
	chance := rand.New(rand.NewPCG(seed, 1))
	f.forge.broken = func() bool { lost.Lock(); defer lost.Unlock(); return lossy && chance.IntN(4) == 0 }
	last, started, pushed := map[int]int{}, 0, 0
	start := func() {
		started++
		f.start(fmt.Sprintf("r%d", started))
	}
	alive := func() string {
		names := slices.Sorted(maps.Keys(f.runs))
		return names[dice.IntN(len(names))]
	}
	for range 3 {
		start()
	}
	f.leases.Give(alive(), reconcile.LeaseCommits)
	pass := f.passing(server)
	for range 40 {
		time.Sleep(rand.N(100 * time.Millisecond))
		switch step := dice.IntN(20); {
		case step < 10:
			number := 1 + dice.IntN(5)
			pushed++
			f.push(number, pushed)
			last[number] = pushed
			_ = f.runs[alive()].jobs.Poke(t.Context(), "commits") // may be lost with its connection
		case step < 13:
			f.leases.Give(alive(), reconcile.LeaseCommits)
		case step < 15:
			server.Cut(t)
		case step < 17:
			name := alive()
			held := f.leases.Holder(reconcile.LeaseCommits) == name
			f.runs[name].kill()
			delete(f.runs, name)
			start()
			if held {
				f.leases.Give(alive(), reconcile.LeaseCommits)
			}
		case step < 18:
			pass()
		default:
			_ = f.runs[alive()].jobs.Poke(t.Context(), "commits")
		}
	}
	lost.Lock()
	lossy = false
	lost.Unlock()
	f.leases.Give(alive(), reconcile.LeaseCommits) // whose first look finds all that was lost
	for number, n := range last {
		f.await(fmt.Sprintf("the plan of %d (seed %d)", number, seed), func() bool {
			if f.planned(number, n) {
				return true
			}
			_ = f.runs[alive()].jobs.Poke(t.Context(), "commits") // as the schedule
			pass()
			time.Sleep(200 * time.Millisecond) // for what is asked takes processor time from what is waited for
			return false
		})
		if text := f.forge.comment(number); strings.Contains(text, "ANOTHER COMMENT") {
			t.Errorf("pull request %d has several comments (seed %d)\n%s", number, seed, text)
		}
	}
}
