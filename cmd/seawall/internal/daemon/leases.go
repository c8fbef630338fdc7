package daemon

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/lease"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// replica is this process among those that share a database. It outlives a reload of the
// configuration, with all of its leases.
type replica struct {
	holder   *lease.Holder
	db       *sql.DB // of its own: a renewal must not wait for the work of the ledger
	database schema.Postgres
	name     string
	cancel   context.CancelFunc
	ended    sync.WaitGroup

	changed func()                         // pages show something else
	hinted  atomic.Bool                    // another process has put something on record since the last look
	news    atomic.Pointer[reconcile.News] // of the last look; nil: the database does not answer

	mu      sync.Mutex
	shown   inspect.Replicas // by the last look
	forward time.Duration    // as in [lease.Look], by the last look
	putBack int64            // how often the database was put back, by the last look
	peers   *peers           // of the daemon that runs; nil: none does yet
}

// joinLeases makes this process a replica, or goes on as the one that it is. It gets leases once
// [replica.run] is called. changed is told when pages show something else.
func joinLeases(ctx context.Context, s setup.Settings, lanes reconcile.Lanes, before *replica, changed func(), log *slog.Logger) (*replica, error) {
	if s.Dir != "" || !s.InPostgres() {
		return nil, nil
	}
	names := setup.LeaseNames(lanes)
	name := setup.ReplicaName(*s.Postgres)
	if before != nil && before.name == name && before.database.Address() == s.Postgres.Address() && slices.Equal(before.holder.Names, names) {
		return before, nil
	}
	db, err := postgres.Open(setup.PostgresConfig(*s.Postgres))
	if err != nil {
		return nil, err
	}
	r := &replica{
		db: db, database: *s.Postgres, name: name, changed: changed, cancel: func() {},
		shown: inspect.Replicas{Name: name, Database: s.Postgres.Place(), Replicas: []inspect.Replica{}, Leases: []inspect.Lease{}},
	}
	r.holder = lease.New(lease.Config{DB: db, Names: names, Replica: name, Version: cli.ThisVersion().Version, Log: log, Looked: r.looked, Forgot: ledger.Forgot})
	if before == nil || before.name != name {
		err = r.alone(ctx)
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return r, nil
}

// aliveWithin is a little more than the time in which a replica says again that it runs.
const aliveWithin = 6 * time.Second

// alone fails where another process runs as a replica of this name: both would count as one. A
// process that was killed is on record for some seconds, and says nothing more.
func (r *replica) alone(ctx context.Context) error {
	first, live, err := r.onRecord(ctx)
	for end := time.Now().Add(aliveWithin); err == nil && live && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Second):
		}
		var now lease.Replica
		if now, live, err = r.onRecord(ctx); err == nil && live && now.ExpiresAt.After(first.ExpiresAt) {
			return cli.Fail(fmt.Errorf("another daemon runs as replica %q over %s, since %s", r.name, r.database.Place(), now.StartedAt.UTC().Format(time.RFC3339)),
				"set state.postgres.replica to a name that no other daemon has")
		}
	}
	return err
}

func (r *replica) onRecord(ctx context.Context) (lease.Replica, bool, error) {
	look, err := lease.LookAt(ctx, r.db)
	i := slices.IndexFunc(look.Replicas, func(one lease.Replica) bool { return one.Name == r.name && one.Live })
	if i < 0 {
		return lease.Replica{}, false, err
	}
	return look.Replicas[i], true, err
}

// run gets leases and renews them until ctx ends, or leave is called; then it gives each back once
// nothing is in flight under it.
func (r *replica) run(ctx context.Context) {
	if r == nil {
		return
	}
	ctx, r.cancel = context.WithCancel(ctx)
	r.ended.Go(func() { r.holder.Run(ctx) })
	r.ended.Go(func() { r.listen(ctx) })
}

// hintsApart bounds how often it is looked at the database for hints.
const hintsApart = 50 * time.Millisecond

// listen has the database looked at when another process gives the hint that something is on record. The
// looks of each second do the same a little later: where no hint comes, nothing else is lost.
func (r *replica) listen(ctx context.Context) {
	heard := reconcile.NewPokes()
	r.ended.Go(func() {
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
				return
			case <-heard:
			}
			r.hinted.Store(true)
			r.holder.LookNow()
			select {
			case <-ctx.Done():
			case <-time.After(hintsApart):
			}
		}
	})
	hears := hearing{log: r.holder.Log}
	for failures := 1; ctx.Err() == nil; failures++ {
		began := time.Now()
		pooled, err := postgres.Listen(ctx, setup.PostgresConfig(r.database), func() { hears.works(); heard.Poke() })
		if pooled || ctx.Err() != nil {
			return
		}
		hears.failed(err)
		if time.Since(began) > time.Minute {
			failures = 1
		}
		select {
		case <-ctx.Done():
		case <-time.After(retry.Lease.Spread(failures)):
		}
	}
}

// hearing logs, once for each time, that no hints are heard, and that they are again. A connection that is
// back with the first try is no matter.
type hearing struct {
	log   *slog.Logger
	inRow int // tries that have failed
}

func (h *hearing) failed(err error) {
	if h.inRow++; h.inRow == 2 {
		h.log.Warn("hints of other replicas are not heard; a push takes up to two seconds longer", "error", lastLine(err))
	}
}

func (h *hearing) works() {
	if h.inRow >= 2 {
		h.log.Info("hints of other replicas are heard again", "failures", h.inRow)
	}
	h.inRow = 0
}

// leave gives all leases back, and returns once that is done.
func (r *replica) leave() {
	if r == nil {
		return
	}
	r.cancel()
	r.ended.Wait()
	_ = r.db.Close() // what was written is there
}

// looked takes in what a look at the database has shown. It is the one place that knows whether that
// answers: whoever else of this process goes by what is there is told of news.
func (r *replica) looked(look lease.Look, err error) {
	r.mu.Lock()
	before, peers, putBack := r.shown, r.peers, false
	if err != nil {
		r.news.Store(nil)
		if r.shown.Error = lastLine(err); r.shown.Silent.IsZero() {
			r.shown.Silent = time.Now()
		}
	} else {
		now := setup.ReplicasIn(look, r.name, r.holder.Names)
		now.Name, now.Database, now.Known = r.shown.Name, r.shown.Database, time.Now()
		if now.Forward = r.shown.Forward; look.Forward > r.forward {
			now.Forward, r.forward = &inspect.Forward{At: now.Known, Seconds: (look.Forward - r.forward).Seconds()}, look.Forward
		}
		r.shown = now
		putBack, r.putBack = look.News.PutBack != r.putBack, look.News.PutBack
	}
	changed := r.shown.Silent.IsZero() != before.Silent.IsZero() || len(before.Replicas) != len(r.shown.Replicas) || !slices.EqualFunc(before.Leases, r.shown.Leases, sameHolder)
	r.mu.Unlock()
	if changed {
		r.changed()
	}
	if err == nil {
		said := r.news.Swap(&look.News)
		peers.looked(look.News, said == nil || said.Said != look.News.Said, r.hinted.Swap(false), putBack)
	}
}

// latest returns the news of the last look; nil where there are no replicas.
func (r *replica) latest() func() (reconcile.News, bool) {
	if r == nil {
		return nil
	}
	return func() (reconcile.News, bool) {
		news := r.news.Load()
		if news == nil {
			return reconcile.News{}, false
		}
		return *news, true
	}
}

// tell has these peers learn of news from now on.
func (r *replica) tell(p *peers) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.peers = p
}

func sameHolder(a, b inspect.Lease) bool { return a.Name == b.Name && a.Replica == b.Replica }

// show is who does what; nil where there are no replicas.
func (r *replica) show() *inspect.Replicas {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	shown := r.shown
	if shown.Silent.IsZero() {
		return &shown
	}
	shown.Leases = slices.Clone(shown.Leases)
	for i := range shown.Leases { // who has those of others is not known, and this process keeps its own only for a while
		l := &shown.Leases[i]
		_, l.This = r.holder.Held(reconcile.LeaseName(l.Name))
	}
	return &shown
}

// taken reports whether some replica has a lease; also while that was not read yet.
func (r *replica) taken(name reconcile.LeaseName) bool {
	shown := r.show()
	return shown.Known.IsZero() || slices.ContainsFunc(shown.Leases, func(l inspect.Lease) bool {
		return l.Name == string(name) && l.Replica != ""
	})
}

// leases say which work is this process's own.
func (d *Daemon) leases() reconcile.Leases {
	if d.replica == nil {
		return reconcile.OnlyProcess{}
	}
	return d.replica.holder
}
