package daemon

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/lease"
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

	mu    sync.Mutex
	shown inspect.Replicas // as it was read last
}

// joinLeases makes this process a replica, or goes on as the one that it is. It gets leases once
// [replica.run] is called.
func joinLeases(ctx context.Context, s setup.Settings, lanes reconcile.Lanes, before *replica, log *slog.Logger) (*replica, error) {
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
	r := &replica{db: db, database: *s.Postgres, name: name, cancel: func() {}}
	r.holder = lease.New(lease.Config{DB: db, Names: names, Replica: name, Version: cli.ThisVersion().Version, Log: log})
	r.shown = inspect.Replicas{Name: name, Database: s.Postgres.Place(), Replicas: []inspect.Replica{}, Leases: []inspect.Lease{}}
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
	all, err := lease.Replicas(ctx, r.db)
	i := slices.IndexFunc(all, func(one lease.Replica) bool { return one.Name == r.name && one.Live })
	if i < 0 {
		return lease.Replica{}, false, err
	}
	return all[i], true, err
}

// run gets leases and renews them until ctx ends, or leave is called; then it gives each back once
// nothing is in flight under it.
func (r *replica) run(ctx context.Context, changed func()) {
	if r == nil {
		return
	}
	ctx, r.cancel = context.WithCancel(ctx)
	r.ended.Go(func() { r.holder.Run(ctx) })
	r.ended.Go(func() { r.watch(ctx, changed) })
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

// readEvery is how often it is read who does what, for people; readWithin bounds that.
const (
	readEvery  = 2 * time.Second
	readWithin = 3 * time.Second
)

// watch reads who does what until ctx ends, and says when something has changed.
func (r *replica) watch(ctx context.Context, changed func()) {
	ticker := time.NewTicker(readEvery)
	defer ticker.Stop()
	for {
		if r.read(ctx) {
			changed()
		}
		select {
		case <-ctx.Done():
			return
		case <-r.holder.Changed():
		case <-ticker.C:
		}
	}
}

// read reads who does what, and reports whether a page shows something else for it.
func (r *replica) read(ctx context.Context) (news bool) {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	now, err := setup.ReadReplicas(ctx, r.db, r.name, r.holder.Names)
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.shown
	if err != nil {
		if r.shown.Error = lastLine(err); r.shown.Silent.IsZero() {
			r.shown.Silent = time.Now()
		}
		return before.Silent.IsZero()
	}
	now.Name, now.Database, now.Known = r.shown.Name, r.shown.Database, time.Now()
	r.shown = now
	return !before.Silent.IsZero() || len(before.Replicas) != len(r.shown.Replicas) || !slices.EqualFunc(before.Leases, r.shown.Leases, sameHolder)
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
