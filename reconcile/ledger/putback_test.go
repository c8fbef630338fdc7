package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile"
)

// A database that was put back to an earlier time, as a whole, does not know that. A machine that has
// written to it since does, by its own file: from then on tokens are unknown to all, until a person says
// otherwise, and the history has a gap.
func TestDatabasePutBack(t *testing.T) {
	t.Parallel()
	server, ctx, key, url := pgtest.Shared(t), t.Context(), newKey(t), begun(t)
	live := pgtest.Name(url)
	backup := live + "_backup"
	seen := filepath.Join(t.TempDir(), "seen")
	open := func(seen string) *Ledger {
		l := connected(t, url, key).Ledger
		l.Seen = seen
		return l
	}
	unknown := func(l *Ledger) string {
		t.Helper()
		live, err := l.Tokens(ctx)
		must(t, err)
		return live.Unknown
	}
	l := open(seen)
	mustLock(t, l)
	must(t, l.Init(ctx, binding))
	must(t, l.Intend(ctx, record(1)))
	must(t, l.Close())
	server.Copy(t, live, backup)
	l = open(seen)
	mustLock(t, l)
	must(t, l.NotCreated(ctx, record(1).Intent))
	must(t, l.Intend(ctx, record(2)))
	if text := unknown(l); text != "" {
		t.Errorf("tokens are unknown: %s", text)
	}
	must(t, l.Close())

	server.Copy(t, backup, live)
	l, other := open(seen), open(filepath.Join(t.TempDir(), "none", "seen"))
	_, err := l.Database().ExecContext(ctx, `UPDATE completeness SET home = ledger_home()`) // as a whole cluster would say
	must(t, err)
	if text := unknown(other); text != "" {
		t.Errorf("a machine that knows nothing says that tokens are unknown: %s", text)
	}
	other.Seen = t.TempDir() // it cannot be read
	if text := unknown(other); text != "" {
		t.Errorf("a machine whose file cannot be read says that tokens are unknown: %s", text)
	}
	if text := unknown(l); !strings.Contains(text, "put back to an earlier time") {
		t.Errorf("tokens are known: %s", text)
	}
	mustLock(t, l)
	if err := l.Intend(ctx, record(3)); !errors.Is(err, ErrUnknown) {
		t.Errorf("a token may be created: %v", err)
	}
	must(t, l.Record(ctx, wrote("shop")))
	for _, one := range []*Ledger{l, other, open("")} {
		if text := unknown(one); !strings.Contains(text, "put back to an earlier time") {
			t.Errorf("after a write tokens are known: %s", text)
		}
	}
	if gaps, err := l.Gaps(ctx); err != nil || len(gaps) != 1 || gaps[0].Number == 0 {
		t.Errorf("%+v %v", gaps, err)
	}
	must(t, l.Init(ctx, binding))
	for _, one := range []*Ledger{l, other, open(seen)} {
		if text := unknown(one); text != "" {
			t.Errorf("after a person's word: %s", text)
		}
	}
	must(t, l.Close())

	server.Copy(t, "template1", live) // a word that is the first write counts, too
	l = open(seen)
	mustLock(t, l)
	must(t, l.Init(ctx, binding))
	if text := unknown(l); text != "" {
		t.Errorf("after a person's word on an empty database: %s", text)
	}
}

// A process that has written nothing since knows of it, too, where it has looked at the database before: no
// process may create a token that is forgotten.
func TestForgottenTokensAreUnknown(t *testing.T) {
	t.Parallel()
	l := connected(t, begun(t), newKey(t)).Ledger
	mustLock(t, l)
	must(t, l.Init(t.Context(), binding))
	_, err := Forgot(t.Context(), l.Database())
	must(t, err)
	live, err := l.Tokens(t.Context())
	if must(t, err); !strings.Contains(live.Unknown, "put back to an earlier time") {
		t.Errorf("tokens are known: %q", live.Unknown)
	}
	if err := l.Intend(t.Context(), record(1)); !errors.Is(err, ErrUnknown) {
		t.Errorf("a token may be created: %v", err)
	}
	must(t, l.Init(t.Context(), binding))
	must(t, l.Intend(t.Context(), record(1)))
}

// putBackStore is a ledger that is put back to an earlier time, and what is beside it stays.
type putBackStore struct {
	open       func() *Ledger
	keep, back func()
}

func putBackFile(t *testing.T) putBackStore {
	path := newPath(t)
	var kept []byte
	return putBackStore{
		open: func() *Ledger { return mustOpen(t, path) },
		keep: func() {
			var err error
			kept, err = os.ReadFile(path)
			must(t, err)
		},
		back: func() {
			without("-wal", "-shm")(t, path)
			must(t, os.WriteFile(path, kept, 0o600))
		},
	}
}

func putBackDatabase(t *testing.T) putBackStore {
	server, url := pgtest.Shared(t), begun(t)
	seen, key := filepath.Join(t.TempDir(), "seen"), newKey(t)
	live := pgtest.Name(url)
	kept := live + "_kept"
	return putBackStore{
		open: func() *Ledger {
			l := connected(t, url, key).Ledger
			l.Seen = seen
			return l
		},
		keep: func() { server.Copy(t, live, kept) },
		back: func() { server.Copy(t, kept, live) },
	}
}

// Whatever is the first that is written to a ledger which was put back, and whoever does that: from then on no
// process writes what is on record, until git was looked at; and this is so once.
func TestNothingIsWrittenAfterAPutBackWhoeverIsFirst(t *testing.T) {
	t.Parallel()
	firsts := map[string]func(ctx context.Context, l *Ledger) error{
		"start": func(ctx context.Context, l *Ledger) error { return l.NotePutBack(ctx) },
		"hold": func(ctx context.Context, l *Ledger) error {
			return l.Hold(ctx, diff.Hold{Zone: "other", Until: noon.AddDate(99, 0, 0), Reason: "INC-1"}, "ada")
		},
		"approve": func(ctx context.Context, l *Ledger) error {
			return l.Approve(ctx, []reconcile.Approval{{Digest: "sha256:1", Kind: reconcile.Approved, Who: "ada", Reason: "yes"}})
		},
		"accept": func(ctx context.Context, l *Ledger) error { _, err := l.AcceptGap(ctx, "INC-1"); return err },
		"init": func(ctx context.Context, l *Ledger) error {
			return errors.Join(l.LockTokens(ctx), l.Init(ctx, binding))
		},
		"write": func(ctx context.Context, l *Ledger) error {
			if _, err := l.RecordWrite(ctx, writeOf("shop", "1"), nil); !errors.Is(err, reconcile.ErrPutBack) {
				return fmt.Errorf("it is written: %w", err)
			}
			return nil
		},
	}
	for name, first := range firsts {
		for where, in := range map[string]func(*testing.T) putBackStore{"file": putBackFile, "server": putBackDatabase} {
			t.Run(name+" "+where, func(t *testing.T) {
				ctx, s := t.Context(), in(t)
				with := func(do func(*Ledger)) {
					t.Helper()
					l := s.open()
					do(l)
					must(t, l.Close())
				}
				mark := func(l *Ledger) int64 {
					t.Helper()
					standing, err := l.Standing(ctx)
					must(t, err)
					return standing.PutBack
				}
				with(func(l *Ledger) { must(t, l.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c1"})) })
				s.keep()
				with(func(l *Ledger) {
					must(t, l.NotePutBack(ctx))
					must(t, l.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c2"}))
					if mark(l) != 0 {
						t.Error("it was not put back")
					}
				})
				for range 2 { // the same backup
					s.back()
					with(func(l *Ledger) { must(t, first(ctx, l)) })
					with(func(l *Ledger) {
						must(t, l.NotePutBack(ctx))
						if _, err := l.RecordWrite(ctx, writeOf("shop", "1"), nil); !errors.Is(err, reconcile.ErrPutBack) {
							t.Errorf("it is written: %v", err)
						}
					})
				}
				with(func(l *Ledger) {
					must(t, l.LookedAt(ctx, mark(l), "c2"))
					if mark(l) == 0 {
						t.Error("a commit that is not accepted was looked at")
					}
					must(t, l.LookedAt(ctx, mark(l), "c1"))
				})
				for n := range 2 {
					with(func(l *Ledger) {
						if must(t, l.NotePutBack(ctx)); mark(l) != 0 {
							t.Error("after git was looked at it waits again")
						}
						_, err := l.RecordWrite(ctx, writeOf(fmt.Sprint("zone", n), "1"), nil)
						must(t, err)
					})
				}
			})
		}
	}
}

// A process whose entries a server has forgotten since its last look at it records no write either.
func TestAWriteInTheTransactionThatSeesAPutBack(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), putBackDatabase(t)
	l := s.open()
	must(t, l.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c1"}))
	must(t, l.Close())
	s.keep()
	for name, last := range map[string]func(l *Ledger) error{
		"a commit": func(l *Ledger) error { return l.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c2"}) },
		"a write":  func(l *Ledger) error { _, err := l.RecordWrite(ctx, writeOf("other", "1"), nil); return err },
	} {
		l = s.open()
		l.Seen = ""
		must(t, last(l))
		s.back()
		for range 2 {
			if _, err := l.RecordWrite(ctx, writeOf("shop", "1"), nil); !errors.Is(err, reconcile.ErrPutBack) {
				t.Errorf("after %s is forgotten it is written: %v", name, err)
			}
		}
		_ = l.Close() // its claims were forgotten, too
		s.back()
	}
}

// Who puts on record that the database was put back waits for a writer, which then can go on.
func TestForgotWaitsForAWriter(t *testing.T) {
	t.Parallel()
	l := connected(t, begun(t), newKey(t)).Ledger
	_, err := Forgot(t.Context(), l.Database())
	must(t, err)
	answer := make(chan error, 1)
	must(t, l.file.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		go func() { _, err := Forgot(context.Background(), l.Database()); answer <- err }()
		for waits := false; !waits; {
			if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory')`).Scan(&waits); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `UPDATE put_back SET mark = 0`)
		return err
	}))
	must(t, <-answer)
	if standing, err := l.Standing(t.Context()); err != nil || standing.PutBack == 0 {
		t.Errorf("%+v %v", standing, err)
	}
}
