package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// commitSent is how the driver ends a transaction; entries have the same word in another place.
const commitSent = "commit\x00"

// wantEntries: the history is whole, and has entries of exactly these zones, each once.
func wantEntries(t testing.TB, l *Ledger, zones ...string) {
	t.Helper()
	if got := entriesOf(t, l); !slices.Equal(got, zones) {
		t.Errorf("entries of %v, want %v", got, zones)
	}
}

// entriesOf reads the zones of all entries of a history that is whole.
func entriesOf(t testing.TB, l *Ledger) (zones []string) {
	t.Helper()
	report, err := l.VerifyHistory(t.Context())
	must(t, err)
	if len(report.Findings) > 0 {
		t.Errorf("the history is not whole: %v", report.Findings)
	}
	_, err = l.History(t.Context(), reconcile.HistoryFilter{}, func(e reconcile.Entry) error {
		zones = append(zones, e.Subject.Zone)
		return nil
	})
	must(t, err)
	return zones
}

// Whatever becomes of the end of a transaction and of the answer to it, what was said to be written is
// there once, and what was not is not there.
func TestEndOfATransactionGetsLost(t *testing.T) {
	t.Parallel()
	w, url := newWire(t, begun(t))
	l := connected(t, url, "")
	must(t, l.Record(t.Context(), wrote("a")))
	for i, what := range []damage{noAnswer, noRequest} {
		struck := w.breaks(fault{on: commitSent, what: what})
		must(t, l.Record(t.Context(), wrote(fmt.Sprint("b", i))))
		wantMet(t, struck)
	}
	w.breaks(fault{on: "INSERT INTO history", what: noRequest})
	must(t, l.Record(t.Context(), wrote("c")))
	wantEntries(t, l.Ledger, "a", "b0", "b1", "c")

	struck := w.breaks(fault{on: commitSent, what: noAnswer, refuse: true}) // the server cannot be asked afterwards either
	if err := l.Record(t.Context(), wrote("d")); !errors.Is(err, ErrUnsure) || !errors.Is(err, reconcile.ErrState) {
		t.Errorf("got %v", err)
	}
	wantMet(t, struck)
	if err := l.Record(t.Context(), wrote("e")); !errors.Is(err, ErrUnreachable) {
		t.Errorf("got %v", err)
	}
	w.mend()
	must(t, l.Record(t.Context(), wrote("f")))
	wantEntries(t, l.Ledger, "a", "b0", "b1", "c", "d", "f")
}

// wantMet: a message has met the fault. None waits for that: a message with other words would never meet it.
func wantMet(t *testing.T, struck <-chan struct{}) {
	t.Helper()
	if !isClosed(struck) {
		t.Fatal("no message has met the fault")
	}
}

func isClosed(struck <-chan struct{}) bool {
	select {
	case <-struck:
		return true
	default:
		return false
	}
}

// A database that says nothing ends a call, though its context does not.
func TestServerHangs(t *testing.T) {
	t.Parallel()
	w, url := newWire(t, begun(t))
	l, err := Connect(t.Context(), postgres.Config{URL: url, Silent: 2 * time.Second})
	must(t, err)
	defer l.Close()
	for on, do := range map[string]func() error{
		"INSERT INTO history": func() error { return l.Record(context.Background(), wrote("a")) },
		"FROM said":           func() error { _, err := l.Standing(context.Background()); return err },
		"FROM accepted":       func() error { _, err := l.Restore(context.Background()); return err },
	} {
		struck := w.breaks(fault{on: on, what: silence})
		for met := false; !met; { // a machine that is slow may say nothing for as long before
			if err := do(); !errors.Is(err, ErrUnreachable) || !errors.Is(err, reconcile.ErrState) {
				t.Fatalf("%s: %v", on, err)
			}
			met = isClosed(struck)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	w.breaks(fault{on: "FROM said", what: silence})
	if _, err := l.Standing(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the end of a context: %v", err)
	}
	w.mend()
	eventually(t, func() error { return l.Record(t.Context(), wrote("b")) }) // once the server has given up the transaction that waits
	wantEntries(t, l, "b")
}

// Two processes write at once while connections are cut and the server is stopped and started: what
// either was told to be written is there once, in one chain.
func TestProcessesAtOnceOverAServerThatFails(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	const each = 60
	var told [2][]string
	var writers sync.WaitGroup
	done := make(chan struct{})
	for i := range told {
		l := connected(t, server.URL("postgres"), "")
		writers.Go(func() {
			for n := range each {
				zone := fmt.Sprint("p", i, "-", n)
				if err := l.Record(context.Background(), wrote(zone)); err == nil {
					told[i] = append(told[i], zone)
				} else if !errors.Is(err, reconcile.ErrState) {
					t.Errorf("%s: %v", zone, err)
				}
			}
		})
	}
	go func() { writers.Wait(); close(done) }()
	for n := 0; ; n++ {
		select {
		case <-done:
			l := connected(t, server.URL("postgres"), "")
			got := entriesOf(t, l.Ledger)
			if slices.Sort(got); len(slices.Compact(slices.Clone(got))) != len(got) {
				t.Errorf("an entry is there twice: %v", got)
			}
			for _, zone := range append(told[0], told[1]...) {
				if _, there := slices.BinarySearch(got, zone); !there {
					t.Errorf("%s was said to be written, and is not there", zone)
				}
			}
			if len(told[0])+len(told[1]) < each {
				t.Errorf("only %d of %d were written", len(told[0])+len(told[1]), 2*each)
			}
			return
		case <-time.After(time.Duration(rand.IntN(60)) * time.Millisecond):
			if n%8 != 7 {
				server.Cut(t)
				continue
			}
			server.Stop(t)
			server.Restart(t)
		}
	}
}

// What is only read goes on where connections were cut that nobody used.
func TestReadingOverConnectionsThatWereCut(t *testing.T) {
	t.Parallel()
	l := connected(t, begun(t), "")
	for range 3 {
		var all sync.WaitGroup
		for range 4 { // some connections
			all.Go(func() { _, _ = l.Restore(t.Context()) })
		}
		all.Wait()
		pgtest.Shared(t).CutFrom(t, pgtest.Name(l.url))
		_, err := l.Standing(t.Context())
		must(t, err)
		_, err = l.Restore(t.Context())
		must(t, err)
	}
}

// A server that becomes a replica under its connections is told as such, and once it, or the one that
// takes its place, takes writes, all goes on.
func TestServerBecomesAReplica(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	l := connected(t, server.URL("postgres"), "")
	must(t, l.Record(t.Context(), wrote("a")))
	server.Exec(t, `ALTER SYSTEM SET default_transaction_read_only = on`)
	server.Exec(t, `SELECT pg_reload_conf()`)
	for { // each process of the server hears of it by itself
		err := l.Record(t.Context(), wrote("a"))
		if err == nil {
			continue
		}
		if !errors.Is(err, ErrReplica) {
			t.Fatal(err)
		}
		break
	}
	server.Exec(t, `ALTER SYSTEM RESET default_transaction_read_only`)
	server.Exec(t, `SELECT pg_reload_conf()`)
	eventually(t, func() error { return l.Record(t.Context(), wrote("b")) })
}

// eventually tries something that may take a while to go well.
func eventually(t *testing.T, do func() error) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := do()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// Reads that last leave connections to those who write, and to those who ask what stands.
func TestWritingBesideLongReads(t *testing.T) {
	t.Parallel()
	l := connected(t, begun(t), "").Ledger
	ctx, done := context.WithTimeout(t.Context(), time.Minute)
	var reads sync.WaitGroup
	for i := range 2 * postgres.MostConnections {
		read := l.file.Read
		if i%2 == 0 {
			read = l.file.ReadBeside
		}
		reads.Go(func() {
			_ = read(ctx, func(*sql.Tx) error { <-ctx.Done(); return nil })
		})
	}
	for l.Database().Stats().InUse < postgres.MostConnections-2 {
		time.Sleep(time.Millisecond)
	}
	must(t, l.Record(t.Context(), wrote("a")))
	_, err := l.Standing(t.Context())
	must(t, err)
	if waited := l.Database().Stats().WaitCount; waited > 0 {
		t.Errorf("there was no connection %d times", waited)
	}
	done()
	reads.Wait()
	wantEntries(t, l, "a")
}
