package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/reconcile/lease"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// mostApart is by how much clocks may differ before someone should know.
const mostApart = 5 * time.Second

const databaseName = "database"

// server is what a database says of itself.
type server struct {
	version            string
	standby, readOnly  bool
	encrypted, creates bool
	synchronous        string
	standbys           int // that are connected and not synchronous
	away               time.Duration
}

// database checks that state.postgres can be used as it must be.
func (d *diagnosis) database(ctx context.Context, f *findings) {
	db, err := d.Database()
	if f.failed(databaseName, err) {
		return
	}
	s, err := ask(ctx, db)
	if err != nil {
		f.fail(databaseName, ledger.Explain("asking", d.Postgres.Place(), err), "while it cannot be used, nothing is written to the platform")
		return
	}
	d.judge(s, f)
	if pool, err := postgres.PoolOf(ctx, db); !f.failed("database pooler", err) {
		judgePool(pool, f)
	}
	have, want, err := postgres.Version(ctx, db)
	switch {
	case f.failed(databaseName, err):
		return
	case have == 0 && f.failed("database tables", foreign(ctx, db, d.Postgres.Place())):
	case have == 0:
		f.warn("database tables", "there are none", "the first daemon or apply makes them")
	case have > want:
		f.fail("database tables", fmt.Errorf("they are at step %d, and this version knows %d", have, want), "run the newer version of Seawall")
	case have < want:
		f.warn("database tables", fmt.Sprintf("they are at step %d of %d", have, want), "the first daemon of this version brings them up to date; older ones go on beside it")
	default:
		d.replicas(ctx, db, f)
	}
}

// ask asks the server. Over PgBouncer in transaction mode two transactions may have two
// connections, so nothing here rests on one.
func ask(ctx context.Context, db *sql.DB) (s server, err error) {
	before := time.Now()
	var now time.Time
	err = db.QueryRowContext(ctx, `
		SELECT current_setting('server_version'), pg_is_in_recovery(), current_setting('default_transaction_read_only') = 'on',
			coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false),
			has_schema_privilege(current_schema(), 'CREATE'), current_setting('synchronous_commit'), clock_timestamp()`,
	).Scan(&s.version, &s.standby, &s.readOnly, &s.encrypted, &s.creates, &s.synchronous, &now)
	if err != nil {
		return s, err
	}
	s.away = now.Sub(before.Add(time.Since(before) / 2)).Abs()
	// Who may not see the standbys sees none.
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'async' AND application_name NOT LIKE 'pg_basebackup%'`).Scan(&s.standbys)
	if err != nil {
		return s, err
	}
	return s, err
}

// judge says what of it is wrong.
func (d *diagnosis) judge(s server, f *findings) {
	place := d.Postgres.Place()
	if s.standby || s.readOnly {
		f.fail(databaseName, fmt.Errorf("%s takes no writes: it is a standby, or read-only", place), "name the primary; with several hosts in the address, add target_session_attrs=read-write")
	}
	if !s.creates {
		f.fail(databaseName, errors.New("its user may not create tables"), "make the user the owner: ALTER DATABASE … OWNER TO …, or GRANT CREATE ON SCHEMA public TO …")
	}
	if s.synchronous == "off" {
		f.fail(databaseName, errors.New("synchronous_commit is off: what was committed may be lost, and a token be created twice"), "set synchronous_commit to on for this database: ALTER DATABASE … SET synchronous_commit = on")
	}
	if s.standbys > 0 {
		f.warn(databaseName, fmt.Sprintf("%s not synchronous: after a failover to one, writes that were on record may be missing", cli.Plural(s.standbys, "standby is", "standbys are")), "set synchronous_standby_names")
	}
	if s.away > mostApart {
		f.warn(databaseName, "its clock and that of this machine differ by "+s.away.Round(time.Second).String(), "leases are not affected, as the clock of the database alone counts; holds and times in the history are")
	}
	how := "unencrypted, to this machine or by tls: \"none\""
	if s.encrypted {
		how = "encrypted"
	}
	f.ok(databaseName, "%s: PostgreSQL %s, %s", place, s.version, how)
}

// judgePool says which pooler is before the server, and what is wrong with it.
func judgePool(pool postgres.Pool, f *findings) {
	const name = "database pooler"
	switch pool {
	case postgres.PoolStatement:
		f.fail(name, errors.New("it pools statements: nothing can be written, as a change of the ledger is one transaction of several"), "set pool_mode = transaction in PgBouncer")
	case postgres.PoolSession:
		f.warn(name, "it pools sessions: each daemon keeps up to 25 connections to the server, and one that gets none waits",
			"set pool_mode = transaction in PgBouncer, or default_pool_size to 24 for each daemon and some for commands")
	case postgres.PoolTransaction:
		f.ok(name, "it pools transactions; server_login_retry of PgBouncer should be 1, as with its default of 15 s a server that comes back is used that much later")
	default:
		f.ok(name, "none")
	}
}

// foreign fails where ours cannot be made beside the tables of a database.
func foreign(ctx context.Context, db *sql.DB, place string) error {
	return ledger.Explain("making the tables in", place, postgres.Unused(ctx, db))
}

// sealed checks that secrets can be sealed, and opened by each replica, where tokens are declared or
// may be.
func (d *diagnosis) sealed(ctx context.Context, f *findings) {
	const name = "state.seal"
	state := d.state.Load()
	declared := state != nil && len(state.Tokens) > 0
	if !declared && len(d.TokenCredentials()) == 0 {
		f.ok(name, "no tokens are declared")
		return
	}
	memory, err := d.OpenLedgerReadOnly(ctx)
	if f.failed(name, err) {
		return
	}
	defer memory.Close()
	if memory.Missing() != "" {
		f.ok(name, "not checked: the database has no ledger yet")
		return
	}
	if f.failed(name, memory.CheckSeal(ctx)) {
		return
	}
	if f.failed(name, d.CheckSeal(ctx, memory)) {
		return
	}
	f.ok(name, "secrets can be sealed, those that wait can be opened, and the replicas that run have the same key")
}

// replicas says which daemons use it.
func (d *diagnosis) replicas(ctx context.Context, db *sql.DB, f *findings) {
	look, err := lease.LookAt(ctx, db)
	if f.failed("replicas", err) {
		return
	}
	var names []string
	for _, one := range look.Replicas {
		if one.Live {
			names = append(names, one.Name)
		}
	}
	if len(names) == 0 {
		f.ok("replicas", "none runs; this one would be %s", setup.ReplicaName(*d.Postgres))
		return
	}
	f.ok("replicas", "%s", strings.Join(names, ", "))
}
