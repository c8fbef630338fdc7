package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// under is the context of work under a lease of an epoch, which got it in the database.
func under(t testing.TB, l *Ledger, name reconcile.LeaseName, epoch int64) context.Context {
	t.Helper()
	_, err := l.Database().ExecContext(t.Context(), `INSERT INTO lease (name, replica, epoch, since, expires_at, given_up)
		VALUES ($1, 'r', $2, now(), now() + interval '1 hour', false) ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch`, string(name), epoch)
	must(t, err)
	return reconcile.Under(t.Context(), reconcile.Lease{Name: name, Epoch: epoch})
}

// What is written under a lease that another process has since is refused, alone, and says so.
func TestWritesOfAnEarlierHolderAreRefused(t *testing.T) {
	t.Parallel()
	l := connected(t, begun(t), newKey(t)).Ledger
	earlier := under(t, l, "credential a", 3)
	other := under(t, l, "credential b", 1)
	must(t, l.Record(earlier, wrote("a")))
	now := under(t, l, "credential a", 4)

	var all sync.WaitGroup
	for i := range 20 { // many share a transaction
		ctx, want := now, error(nil)
		switch i % 4 {
		case 1:
			ctx, want = earlier, reconcile.ErrLeaseLost
		case 2:
			ctx = other
		case 3:
			ctx = t.Context()
		}
		all.Go(func() {
			if err := l.Record(ctx, wrote(fmt.Sprint("b", i%4))); !errors.Is(err, want) {
				t.Errorf("%d: got %v, want %v", i, err, want)
			}
		})
	}
	all.Wait()
	for name, write := range map[string]func(ctx context.Context) error{
		"write":  func(ctx context.Context) error { _, err := l.RecordWrite(ctx, wrote("c"), nil); return err },
		"prove":  func(ctx context.Context) error { return l.Prove(ctx, "c", nil, settled(deployment(1), "a")) },
		"accept": func(ctx context.Context) error { return l.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c"}) },
		"unknown": func(context.Context) error {
			return l.Record(reconcile.Under(t.Context(), reconcile.Lease{Name: "x", Epoch: 1}), wrote("c"))
		},
	} {
		err := write(earlier)
		if !errors.Is(err, reconcile.ErrLeaseLost) || errors.Is(err, reconcile.ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
	got := entriesOf(t, l)
	if n := strings.Count(strings.Join(got, " "), "b"); n != 15 || len(got) != 16 {
		t.Errorf("entries of %v", got)
	}
}

// A lease changes hands only when no transaction is under way that was let in under it.
func TestLeaseWaitsForItsTransactions(t *testing.T) {
	t.Parallel()
	url := begun(t)
	l := connected(t, url, "").Ledger
	ctx, moved := under(t, l, "credential a", 1), make(chan error, 1)
	err := l.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		go func() {
			_, err := l.Database().Exec(`UPDATE lease SET epoch = 2`)
			moved <- err
		}()
		if err := untilOneWaits(l); err != nil {
			return err
		}
		_, err := l.Database().Exec(`UPDATE lease SET expires_at = now()`) // renewing waits for nothing
		return err
	})
	if err := errors.Join(err, <-moved); err != nil {
		t.Fatal(err)
	}
	if err := l.Record(ctx, wrote("a")); !errors.Is(err, reconcile.ErrLeaseLost) {
		t.Errorf("got %v", err)
	}
}

// untilOneWaits returns once something in the database waits for a lock.
func untilOneWaits(l *Ledger) error {
	for until := time.Now().Add(time.Minute); ; {
		var waits bool
		err := l.Database().QueryRow(`SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits)
		if err == nil && time.Now().After(until) {
			err = errors.New("nothing waits")
		}
		if waits || err != nil {
			return err
		}
	}
}

// Whoever writes waits for the transaction of another process, whatever either writes: an entry of the
// history follows the one before it.
func TestProcessesWriteOneAfterTheOther(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	first, second := connected(t, url, "").Ledger, connected(t, url, "").Ledger
	must(t, second.Record(t.Context(), wrote("a")))
	written := make(chan error, 1)
	err := first.file.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		go func() { written <- second.Record(context.Background(), wrote("c")) }()
		if err := untilOneWaits(first); err != nil {
			return err
		}
		_, err := first.file.Enter(ctx, tx, wrote("b"))
		return err
	})
	if err := errors.Join(err, <-written); err != nil {
		t.Fatal(err)
	}
	wantEntries(t, first, "a", "b", "c")
}

// The lock of tokens is the lease on them: one process at a time, and work under the lease has it.
func TestTokensAreLockedByTheirLease(t *testing.T) {
	t.Parallel()
	c := connected(t, begun(t), newKey(t))
	l, other := c.Ledger, connected(t, c.url, c.Seal.KeyFile).Ledger
	wantFault(t, l.Intend(t.Context(), record(1)), ErrUnlocked, "")
	mustLock(t, l)
	must(t, l.Init(t.Context(), binding))
	must(t, l.Intend(t.Context(), record(1)))
	wantFault(t, other.LockTokens(t.Context()), ErrHeld, "process ")
	must(t, l.UnlockTokens())
	mustLock(t, other)
	must(t, other.Quarantine(t.Context(), record(1).Intent, "cut"))
	request, end, err := other.BeginRequest(t.Context()) // as long as it lasts, the lease is not given back
	must(t, err)
	if left, bounded := reconcile.Left(request); !bounded || left <= 0 || reconcile.MayWrite(request) != nil {
		t.Errorf("a request has %v, bounded: %v", left, bounded)
	}
	end()

	holder := under(t, l, reconcile.LeaseTokens, 100) // another process gets the lease all the same
	if err := other.NotCreated(t.Context(), record(1).Intent); !errors.Is(err, reconcile.ErrLeaseLost) {
		t.Errorf("got %v", err)
	}
	must(t, l.LockTokens(holder)) // which needs no more
	must(t, l.NotCreated(holder, record(1).Intent))
	wantFault(t, l.Intend(t.Context(), record(1)), ErrUnlocked, "")
}

// What was said of the tokens of a database does not hold in a copy of it.
func TestTokensOfACopiedDatabaseAreUnknown(t *testing.T) {
	t.Parallel()
	server, key := pgtest.Shared(t), newKey(t)
	for _, name := range []string{"as a whole", "by its row"} {
		t.Run(name, func(t *testing.T) {
			source := connected(t, begun(t), key)
			mustLock(t, source.Ledger)
			must(t, source.Init(t.Context(), binding))
			must(t, source.Intend(t.Context(), record(1)))
			var word [6]string
			row := source.Database().QueryRow(`SELECT platform, repository, serial, generation, coalesce(at, ''), home FROM completeness`)
			must(t, row.Scan(&word[0], &word[1], &word[2], &word[3], &word[4], &word[5]))
			must(t, source.Close())
			copied := begun(t)
			if name == "as a whole" {
				server.CutFrom(t, pgtest.Name(source.url)) // one that was closed may still be known to the server
				server.Copy(t, pgtest.Name(source.url), pgtest.Name(copied))
			}
			there := connected(t, copied, key)
			if name == "by its row" {
				_, err := there.Database().Exec(`INSERT INTO completeness (one, platform, repository, serial, generation, at, home) VALUES (1, $1, $2, $3, $4::text::bigint, $5, $6)`,
					word[0], word[1], word[2], word[3], word[4], word[5])
				must(t, err)
			}
			live, err := there.Tokens(t.Context())
			must(t, err)
			if !strings.Contains(live.Unknown, "its database is not the original one") {
				t.Errorf("unknown: %q", live.Unknown)
			}
			mustLock(t, there.Ledger)
			wantFault(t, there.Intend(t.Context(), record(2)), ErrUnknown, "its database")
			must(t, there.Init(t.Context(), binding))
			must(t, there.Intend(t.Context(), record(2)))
		})
	}
}

// A ledger that was put back below a process that has written to it is a gap.
func TestServerIsPutBackBelowAWriter(t *testing.T) {
	t.Parallel()
	l := connected(t, begun(t), "").Ledger
	for range 10 {
		must(t, l.Record(t.Context(), wrote("z")))
	}
	wantGap(t, l, "")
	for _, statement := range []string{cutTail, moveEnds} {
		_, err := l.Database().Exec(statement)
		must(t, err)
	}
	wantGap(t, l, "entries 9 to 10 are missing")
	must(t, l.Record(t.Context(), wrote("next")))
	wantGap(t, l, "entries 9 to 10 are missing")
	_, err := l.AcceptGap(t.Context(), "INC-7")
	must(t, err)
	wantGap(t, l, "")
}

// A user that owns nothing but the database is enough, and what the server refuses is told as such.
func TestRefusalsOfAServer(t *testing.T) {
	t.Parallel()
	server, database := pgtest.Shared(t), pgtest.Name(pgtest.Database(t))
	plain, nobody := database+"_plain", database+"_nobody" // users are of the whole server
	server.Exec(t, `CREATE USER `+plain)
	server.Exec(t, `ALTER DATABASE `+database+` OWNER TO `+plain)
	url := strings.Replace(server.URL(database), "postgres@", plain+"@", 1)
	read, err := ConnectReadOnly(t.Context(), postgres.Config{URL: url})
	must(t, err)
	if shown, _, _ := strings.Cut(url, "?"); read.Missing() != shown {
		t.Errorf("missing %q", read.Missing())
	}
	must(t, read.Close())
	c := connected(t, url, newKey(t))
	if created, _ := c.Created(); !created {
		t.Error("the tables are not said to be new")
	}
	mustLock(t, c.Ledger)
	must(t, c.Init(t.Context(), binding))
	var home string
	must(t, c.Database().QueryRow(`SELECT ledger_home()`).Scan(&home))
	if cluster, _, _ := strings.Cut(home, "/"); cluster == "" {
		t.Errorf("the cluster does not say to %s which it is", home)
	}
	read, err = ConnectReadOnly(t.Context(), postgres.Config{URL: url})
	must(t, err)
	wantFault(t, read.Record(t.Context(), wrote("a")), ErrReadOnly, "")
	must(t, read.Close())

	server.Exec(t, `ALTER USER `+plain+` CONNECTION LIMIT 0`)
	server.Exec(t, `CREATE USER `+nobody+` NOLOGIN`)
	for with, want := range map[string]struct {
		url  string
		kind store.Kind
	}{
		"no connection left": {url, ErrCrowded},
		"another database":   {server.URL("none"), ErrRefused},
		"another user":       {strings.Replace(url, plain+"@", nobody+"@", 1), ErrRefused},
		"another server":     {"postgres://postgres@127.0.0.1:1/x?sslmode=disable", ErrUnreachable},
	} {
		_, err := Connect(t.Context(), postgres.Config{URL: want.url})
		if !errors.Is(err, want.kind) || !errors.Is(err, reconcile.ErrState) {
			t.Errorf("%s: %v", with, err)
		}
	}
}
