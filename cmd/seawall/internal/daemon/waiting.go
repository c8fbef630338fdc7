package daemon

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/postgres"
	"github.com/seawall-dev/seawall/reconcile/status"
)

// tryWithin bounds one try to reach the database.
const tryWithin = 5 * time.Second

// insist does what needs the database, and again where that is away meanwhile: a daemon does not end for
// it, as it would only be started again.
func (d *Daemon) insist(ctx context.Context, do func() error) error {
	err := do()
	for d.shares() && ledger.Away(err) && ctx.Err() == nil {
		d.waits.set(err)
		d.log.Warn("the daemon has not begun, as the database was away; it tries again", "database", d.settings.Postgres.Place(), "error", lastLine(err))
		d.manager.ready(d.log, "waiting for the database "+d.settings.Postgres.Place())
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(retry.Begin.First):
		}
		err = do()
	}
	return err
}

// shares reports whether other processes may use the ledger of the daemon, too.
func (d *Daemon) shares() bool { return d.settings.Dir == "" && d.settings.InPostgres() }

// awaitDatabase returns once the database of the configuration answers and takes writes. A daemon
// that starts beside its database, or while that is down, says so and is not ready meanwhile. What the
// database refuses for good is returned at once.
func (d *Daemon) awaitDatabase(ctx context.Context) error {
	if !d.shares() {
		return nil
	}
	s, log := d.settings, d.log
	db, err := s.Database()
	if err != nil {
		return err
	}
	if err = tryDatabase(ctx, db); !ledger.Away(err) || ctx.Err() != nil {
		return s.DatabaseError(err)
	}
	w := d.waits
	w.set(err)
	log.Warn("the database does not answer; the daemon waits for it", "database", s.Postgres.Place(), "error", lastLine(err), "hint", "see state.postgres in the configuration, and seawall doctor")
	stop := w.serve(ctx, s, log)
	defer stop()
	d.manager.ready(log, "waiting for the database "+s.Postgres.Place())
	waiting, stopped := context.WithCancel(ctx)
	defer stopped()
	go d.manager.watchdog(waiting, log)
	for ledger.Away(err) {
		w.set(err)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(retry.Begin.First):
		}
		err = tryDatabase(ctx, db)
	}
	if err == nil {
		w.set(nil)
		log.Info("the database answers", "database", s.Postgres.Place())
	}
	return s.DatabaseError(err)
}

func tryDatabase(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, tryWithin)
	defer cancel()
	var refuses bool
	err := db.QueryRowContext(ctx, `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'`).Scan(&refuses)
	if err == nil && refuses {
		err = postgres.ErrReplica
	}
	return err
}

// lastLine is what an error says in the end. The driver lists each address that it has tried.
func lastLine(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// waiting is what a daemon says of itself that has nothing to go by yet.
type waiting struct {
	started time.Time
	mode    inspect.Mode

	mu       sync.Mutex
	replicas *inspect.Replicas // nil: this process is alone
}

func newWaiting(s setup.Settings, shares bool) *waiting {
	w := &waiting{started: time.Now(), mode: s.StartMode()}
	if shares {
		w.replicas = &inspect.Replicas{Name: setup.ReplicaName(*s.Postgres), Database: s.Postgres.Place(), Replicas: []inspect.Replica{}, Leases: []inspect.Lease{}}
	}
	return w
}

// set says why the database does not answer; nil: it does.
func (w *waiting) set(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		w.replicas.Error, w.replicas.Silent = "", time.Time{}
		return
	}
	if w.replicas.Error = lastLine(err); w.replicas.Silent.IsZero() {
		w.replicas.Silent = time.Now()
	}
}

// Status implements [inspect.Daemon].
func (w *waiting) Status() inspect.Status {
	s := inspect.Status{
		At: time.Now(), Program: cli.ThisVersion().Version, Started: w.started, Mode: w.mode, NotReady: []string{w.why()}, Unread: w.started,
		Zones:  inspect.Zones{Outcomes: noOutcomes(), Notable: []inspect.Notable{}},
		Tokens: inspect.Tokens{Findings: []inspect.Token{}, Expiring: []diff.Expiry{}}, Queue: []inspect.Priority{},
		Outages: []reconcile.Outage{}, Holds: []diff.Hold{}, Freezes: []inspect.Freeze{},
	}
	s.Replicas = w.shown()
	return s.Judged()
}

// shown is what is known of the database; nil where this process is alone.
func (w *waiting) shown() *inspect.Replicas {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.replicas == nil {
		return nil
	}
	shown := *w.replicas
	return &shown
}

func (w *waiting) why() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.replicas; r != nil && !r.Silent.IsZero() {
		return fmt.Sprintf("the daemon waits for the database %s, which has not answered since %s: %s. What is declared is not known yet",
			r.Database, r.Silent.UTC().Format(time.RFC3339), r.Error)
	}
	return fmt.Sprintf("the daemon begins: it is reading its records since %s. What is declared is not known yet", w.started.UTC().Format(time.RFC3339))
}

// Zones implements [inspect.Daemon].
func (w *waiting) Zones(string) (inspect.ZoneList, string) {
	return inspect.ZoneList{Version: inspect.Version, At: time.Now(), Zones: []inspect.Zone{}}, ""
}

// unready answers what is asked of a daemon that is not ready, pages too.
func (w *waiting) unready(answer http.ResponseWriter, _ *http.Request) {
	http.Error(answer, w.why(), http.StatusServiceUnavailable)
}

// serve answers health checks and seawall status until stop is called.
func (w *waiting) serve(ctx context.Context, s setup.Settings, log *slog.Logger) (stop func()) {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(answer http.ResponseWriter, _ *http.Request) { fmt.Fprintln(answer, "ok") })
	mux.HandleFunc("/", w.unready)
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	answer := func(listener net.Listener, err error, handler http.Handler) {
		if err == nil {
			all.Go(func() { err = status.Serve(ctx, listener, handler) })
		}
		if err != nil {
			log.Warn("health and status are not served while the daemon waits", "error", err.Error())
		}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.Listen)
	answer(listener, err, mux)
	socket, err := inspect.Listen(s.StateDir)
	answer(socket, err, inspect.Handler(w))
	return func() { cancel(); all.Wait() }
}
