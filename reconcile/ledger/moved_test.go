package ledger_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/ledger/history"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

var binding = ledger.Binding{Platform: "https://api.example/client/v4", Repository: "https://git.example/edge.git"}

const place = "postgres://db.example/seawall"

// fixture is a ledger with something in each part, and an empty database.
type fixture struct {
	*testing.T
	ledger.Move
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	db, err := postgres.Open(postgres.Config{URL: pgtest.Filled(t, "begun", postgres.Migrate)})
	must.Do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	path := filepath.Join(t.TempDir(), "state", "ledger.db")
	f := fixture{t, ledger.Move{File: path, Home: path + " on here", DB: db, Place: place, Binding: binding, Now: time.Now}}
	f.fill()
	return f
}

func (f fixture) open() *ledger.Ledger {
	f.Helper()
	l, err := ledger.Open(f.File)
	must.Do(f.T, err)
	f.Cleanup(func() { _ = l.Close() })
	l.Binding, l.Now, l.User = binding, time.Now, "ada@example"
	return l
}

func (f fixture) fill() {
	f.Helper()
	l, ctx := f.open(), f.Context()
	zone := edge.ZoneScope("0123456789abcdef0123456789abcdef")
	id := diff.ID{Scope: zone, Ruleset: "ruleset"}
	token := func(n int) diff.TokenRecord {
		return diff.TokenRecord{
			Intent: fmt.Sprintf("%016d", n), Key: fmt.Sprint("ci-", n), Hash: "hash",
			Spec: edge.TokenSpec{Name: fmt.Sprint("ci-", n)},
		}
	}
	must.Do(f.T, errors.Join(l.LockTokens(ctx), l.Init(ctx, binding)))
	must.Do(f.T, errors.Join(
		l.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c1", Size: guard.Size{Zones: 2}}),
		l.Prove(ctx, "c1", []reconcile.Proof{{Scope: zone, Fingerprint: "f1", Labels: map[string]string{"tier": "gold", "name": "ä\u2028"}}}, []diff.Settled{{ID: id, Owned: []diff.Member{"a", "b"}}}),
		l.NonConvergent(ctx, id, "fingerprint"),
		l.Hold(ctx, diff.Hold{Zone: "shop.example", Scopes: []edge.Scope{zone}, Until: time.Now().Add(time.Hour), Reason: "INC-1"}, "ada"),
		l.Approve(ctx, []reconcile.Approval{{Digest: "sha256:1", Kind: reconcile.Approved, Who: "ada", Reason: "yes", At: time.Now()}}),
		l.Post(ctx, "ops", "", json.RawMessage(`{"a":1}`), []reconcile.Posted{{ID: "m1", Body: json.RawMessage(`{}`)}}),
		l.SaveState(ctx, "c1", []reconcile.StatePart{reconcile.PartOf([]byte("part one")), reconcile.PartOf([]byte{0, 1, 0xff})}),
		l.Intend(ctx, token(1)), l.Confirm(ctx, token(1).Intent, "id-1", edge.NewSecret("s3cret-value-of-the-token")),
		l.Intend(ctx, token(2)), l.Quarantine(ctx, token(2).Intent, "cut"),
		l.Intend(ctx, token(3)), l.NotCreated(ctx, token(3).Intent),
	))
	for i := range 3 {
		must.Do(f.T, l.Drifted(ctx, []reconcile.Drift{{Scope: zone, At: time.Now().Add(time.Duration(i) * time.Second)}}, time.Time{}))
	}
	must.Do(f.T, l.Close())
}

// rows is all that a ledger has.
func (f fixture) rows() []ledger.TableSum {
	f.Helper()
	dry := f.Move
	dry.DryRun = true
	r, err := dry.ToPostgres(f.Context())
	must.Do(f.T, err)
	return r.Tables
}

func TestThereAndBack(t *testing.T) {
	f := newFixture(t)
	before := f.rows()
	some := 0
	for _, table := range before {
		if table.Rows > 0 {
			some++
		}
	}
	if some < 12 {
		t.Errorf("only %d tables have rows: %v", some, before)
	}
	f.sound()                   // a dry run has changed nothing
	other := newFixture(t).Move // of a database that has nothing of it
	other.File = f.File
	must.Do(t, other.Here(t.Context()))
	for range 2 {
		r, err := f.ToPostgres(t.Context())
		must.Do(t, err)
		if r.Already || !r.Tokens || r.Sealed != 1 {
			t.Errorf("moved: %+v", r)
		}
		if diff := cmp.Diff(before, r.Tables); diff != "" {
			t.Errorf("to PostgreSQL (-want +got):\n%s", diff)
		}
		if again, err := f.ToPostgres(t.Context()); err != nil || !again.Already {
			t.Errorf("once more: %+v %v", again, err)
		}
		_, err = ledger.Open(f.File)
		wantKind(t, err, ledger.ErrMoved, "it is in "+place)
		must.Do(t, f.Here(t.Context()))
		wantKind(t, other.Here(t.Context()), ledger.ErrMoved, "was moved to "+place)

		r, err = f.ToFile(t.Context())
		must.Do(t, err)
		if diff := cmp.Diff(before, r.Tables); diff != "" || !r.Tokens {
			t.Errorf("to the file (-want +got):\n%s", diff)
		}
		if again, err := f.ToFile(t.Context()); err != nil || !again.Already {
			t.Errorf("once more: %+v %v", again, err)
		}
		wantKind(t, f.Here(t.Context()), ledger.ErrMoved, "it is in "+f.Home)
		f.sound()
	}
	f.countsOn()
}

// sound holds the file to what a ledger is that was never moved.
func (f fixture) sound() {
	f.Helper()
	l := f.open()
	defer l.Close()
	live, err := l.Tokens(f.Context())
	must.Do(f.T, err)
	if live.Unknown != "" {
		f.Errorf("tokens are unknown: %s", live.Unknown)
	}
	secret, err := l.Sealed(f.Context(), fmt.Sprintf("%016d", 1))
	if err != nil || secret.Reveal() != "s3cret-value-of-the-token" {
		f.Errorf("the secret that waits: %v", err)
	}
	report, err := l.VerifyHistory(f.Context())
	if err != nil || len(report.Findings) > 0 {
		f.Errorf("the history: %v %v", report.Findings, err)
	}
	entries, err := os.ReadDir(filepath.Dir(f.File))
	must.Do(f.T, err)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".new") || strings.HasSuffix(e.Name(), "-arriving") {
			f.Errorf("%s is left", e.Name())
		}
	}
}

// TestForeignBytes: a history that an earlier version has written with bytes that PostgreSQL does not
// keep is moved there and back as it was, with its chain; other texts get U+FFFD, as they do there.
func TestForeignBytes(t *testing.T) {
	f := newFixture(t)
	body := func() (text string) {
		file, err := store.Handle(f.File, "ro")
		must.Do(t, err)
		defer file.Close()
		must.Do(t, file.QueryRowContext(t.Context(), `SELECT body FROM history ORDER BY number DESC LIMIT 1`).Scan(&text))
		return text
	}
	file, err := store.Handle(f.File, "rw")
	must.Do(t, err)
	var number int64
	var hash []byte
	must.Do(t, file.QueryRowContext(t.Context(), `SELECT head_number, head_hash FROM history_ends`).Scan(&number, &hash))
	foreign := fmt.Sprintf(`{"before":"%x","number":%d,"at":"2026-01-02T03:04:05Z","kind":"found","action":"changed","subject":{"zone":"shop"},"asked":{},"members":[{"path":"x","old":"a`+"\xff\xed\xa0\x80\U0010FF41"+`"}]}`, hash, number+1)
	sum := sha256.Sum256([]byte(foreign))
	for _, statement := range []string{
		`INSERT INTO history (number, body, hash) VALUES (?1, ?2, ?3)`,
		`UPDATE history_ends SET head_number = ?1, head_hash = ?3, bytes = bytes + length(?2)`,
		`UPDATE accepted SET author = 'kim' || ?2 WHERE ?1 <> 0 AND ?3 <> ''`,
	} {
		_, err = file.ExecContext(t.Context(), statement, number+1, foreign, sum[:])
		must.Do(t, err)
	}
	must.Do(t, file.Close())
	head := history.Head{Number: number + 1, Hash: sum}
	must.Do(t, head.Write(store.HeadPath(f.File)))
	f.sound()
	for range 2 {
		r, err := f.ToPostgres(t.Context())
		must.Do(t, err)
		if want := strings.TrimSpace(fmt.Sprintf("%d:%s", head.Number, head.Hash)); r.Head != want {
			t.Errorf("the head is %s, want %s", r.Head, want)
		}
		must.Do(t, second(f.ToFile(t.Context())))
		f.sound()
		if got := body(); got != foreign {
			t.Errorf("the entry was %q and is %q", foreign, got)
		}
	}
}

// countsOn: a number that was given is not given again on the way.
func (f fixture) countsOn() {
	f.Helper()
	must.Do(f.T, closed(f.open()))
	db, err := store.Handle(f.File, "ro")
	must.Do(f.T, err)
	defer db.Close()
	var seq int64
	must.Do(f.T, db.QueryRowContext(f.Context(), `SELECT seq FROM sqlite_sequence WHERE name = 'token'`).Scan(&seq))
	if seq != 3 {
		f.Errorf("tokens are counted from %d, want 3: the third row is gone", seq)
	}
}

func closed(l *ledger.Ledger) error { return l.Close() }

// TestInterrupted: whichever step it ends at, one side is whole, and the move can be done again or
// taken back.
func TestInterrupted(t *testing.T) {
	t.Run("while copying", func(t *testing.T) {
		f := newFixture(t)
		ctx, stop := context.WithCancel(t.Context())
		f.Progress = func(table string, _ int64) {
			if table == "history" {
				stop()
			}
		}
		if _, err := f.ToPostgres(ctx); err == nil {
			t.Fatal("moved")
		}
		f.Progress = nil
		_, err := ledger.Open(f.File)
		wantKind(t, err, ledger.ErrMoved, "did not end")
		elsewhere := f.Move
		elsewhere.Place = "postgres://other/seawall"
		_, err = elsewhere.ToPostgres(t.Context())
		wantKind(t, err, ledger.ErrMoved, "moving it to "+place)
		if r, err := f.ToFile(t.Context()); err != nil || !r.Already { // taken back
			t.Fatalf("%+v %v", r, err)
		}
		f.sound()
		must.Do(t, second(f.ToPostgres(t.Context())))
	})
	t.Run("before the file knows that all has arrived", func(t *testing.T) {
		f := newFixture(t)
		must.Do(t, second(f.ToPostgres(t.Context())))
		mark, _, err := store.MovedAway(t.Context(), f.File)
		must.Do(t, err)
		mark.Done = false
		must.Do(t, store.SetMoved(t.Context(), f.File, mark))
		if r, err := f.ToPostgres(t.Context()); err != nil || !r.Already {
			t.Errorf("%+v %v", r, err)
		}
		_, err = ledger.Open(f.File)
		wantKind(t, err, ledger.ErrMoved, "it is in ")
	})
	t.Run("before the file is in its place", func(t *testing.T) {
		f := newFixture(t)
		must.Do(t, second(f.ToPostgres(t.Context())))
		mark, err := os.ReadFile(f.File)
		must.Do(t, err)
		must.Do(t, second(f.ToFile(t.Context())))
		var id string
		must.Do(t, f.DB.QueryRowContext(t.Context(), `SELECT id FROM moved`).Scan(&id))
		must.Do(t, os.WriteFile(f.File, mark, 0o600))
		_, err = f.ToFile(t.Context()) // in a folder that nothing was to come to
		wantKind(t, err, ledger.ErrMoved, "it is in "+f.Home)
		must.Do(t, os.WriteFile(f.File+"-arriving", []byte(id), 0o600))
		must.Do(t, second(f.ToFile(t.Context())))
		f.sound()
	})
}

// TestRefused: nothing is moved over another ledger, beside a daemon, or without a ledger.
func TestRefused(t *testing.T) {
	f := newFixture(t)
	other := newFixture(t)
	other.DB = f.DB
	must.Do(t, second(other.ToPostgres(t.Context())))
	_, err := f.ToPostgres(t.Context())
	wantKind(t, err, ledger.ErrOccupied, "it has a ledger already")
	must.Do(t, second(f.ToFile(t.Context()))) // f's own was marked, and nothing of it has gone
	f.sound()

	_, err = f.DB.ExecContext(t.Context(), `INSERT INTO replica (name, version, started_at, expires_at) VALUES ('two', '1', now(), now() + interval '1 hour')`)
	must.Do(t, err)
	_, err = other.ToFile(t.Context())
	wantKind(t, err, ledger.ErrOccupied, "replicas run on it: two")

	_, err = f.DB.ExecContext(t.Context(), `DELETE FROM replica; INSERT INTO process (place, pid, host, beat) VALUES (2, 7, 'there', now()), (4, 8, 'long ago', now() - interval '2 minutes')`)
	must.Do(t, err)
	_, err = other.ToFile(t.Context()) // a command, which is no replica
	wantKind(t, err, ledger.ErrOccupied, "it is written to by process 7 on there")
	_, err = f.ToPostgres(t.Context())
	wantKind(t, err, ledger.ErrOccupied, "it is written to by process 7 on there")
	if fault := new(ledger.Error); !errors.As(err, &fault) || strings.Contains(err.Error(), "long ago") {
		t.Errorf("a process that has ended counts: %v", err)
	}

	none := f.Move
	none.File = filepath.Join(t.TempDir(), "ledger.db")
	_, err = none.ToPostgres(t.Context())
	wantKind(t, err, ledger.ErrFailed, "there is no ledger")
}

// TestUnknownTokensStayUnknown: a ledger that was restored from a backup does not become one that
// knows all tokens.
func TestUnknownTokensStayUnknown(t *testing.T) {
	f := newFixture(t)
	must.Do(t, os.Remove(f.File+"-mark"))
	r, err := f.ToPostgres(t.Context())
	if err != nil || r.Tokens {
		t.Errorf("%+v %v", r, err)
	}
	r, err = f.ToFile(t.Context())
	if err != nil || r.Tokens {
		t.Errorf("%+v %v", r, err)
	}
	live, err := f.open().Tokens(t.Context())
	if err != nil || live.Unknown == "" {
		t.Errorf("tokens are known: %v", err)
	}
}

// TestAProcessThatHasTheFileOpenWritesNoMore: it would write to a ledger that is none.
func TestAProcessThatHasTheFileOpenWritesNoMore(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	must.Do(t, second(f.ToPostgres(t.Context())))
	if err := l.Forget(t.Context(), []diff.ID{{Scope: edge.ZoneScope("0123456789abcdef0123456789abcdef"), Ruleset: "ruleset"}}); err == nil || !strings.Contains(err.Error(), "moved") {
		t.Errorf("it wrote: %v", err)
	}
}

func second(_ ledger.MoveReport, err error) error { return err }

func wantKind(t *testing.T, err error, kind ledger.Kind, text string) {
	t.Helper()
	var fault *ledger.Error
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) || !errors.As(err, &fault) || fault.Hint == "" {
		t.Errorf("got %v, want %s with %q and a hint", err, kind, text)
	}
}

// A ledger that was put back to an earlier time says so wherever it is moved, also where no process has seen
// it before: the file that shows it stays.
func TestAPutBackIsMoved(t *testing.T) {
	f := newFixture(t)
	kept, err := os.ReadFile(f.File)
	must.Do(t, err)
	l := f.open()
	must.Do(t, errors.Join(l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "c2"}), l.Close()))
	must.Do(t, os.WriteFile(f.File, kept, 0o600))
	_, err = f.ToPostgres(t.Context())
	must.Do(t, err)
	var mark int64
	must.Do(t, f.DB.QueryRowContext(t.Context(), `SELECT mark FROM put_back`).Scan(&mark))
	_, err = f.ToFile(t.Context())
	must.Do(t, err)
	if standing, err := f.open().Standing(t.Context()); err != nil || mark == 0 || standing.PutBack != mark {
		t.Errorf("%d, then %d: %v", mark, standing.PutBack, err)
	}
}
