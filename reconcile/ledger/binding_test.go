package ledger

import (
	"database/sql/driver"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/tokens"
)

// TestDoubt goes through all that makes a ledger no witness, and each time sees
// that nothing begins and that a person's word ends it.
func TestDoubt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		harm   func(t *testing.T, folder string)
		reason string
	}{
		"backup of the ledger": {put("old", "ledger.db"), "restored: its file is not the original one"},
		"its content":          {refill, "restored from a backup: it is at step 2, but step 3 was already reached"},
		"no mark":              {put("ledger.db-mark", "gone"), "the mark beside it is missing"},
		"broken mark":          {putText("{"), "the mark beside it is missing"},
		"mark of another":      {putText(`{"serial":"x","generation":3}`), "the mark beside it belongs to another ledger"},
		"old mark":             {put("older-mark", "ledger.db-mark"), "the mark beside the ledger was restored from a backup: it is at step 1, the ledger at step 3"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := withHistory(t)
			test.harm(t, filepath.Dir(path))
			wantDoubt(t, path, binding, test.reason)
		})
	}
	t.Run("another platform", func(t *testing.T) {
		path := withHistory(t)
		other := Binding{Platform: "https://other.example", Repository: binding.Repository}
		l := reopen(t, path, other)
		wantUnknown(t, l, "made for another platform")
		wantFault(t, l.Init(t.Context(), other), ErrUnknown, "it has tokens of another platform: 2")
		wantUnknown(t, l, "made for another platform")
	})
	t.Run("another repository", func(t *testing.T) {
		wantDoubt(t, withHistory(t), Binding{Platform: binding.Platform, Repository: "https://other.example"}, "made for another repository")
	})
	t.Run("no binding", func(t *testing.T) {
		wantUnknown(t, reopen(t, withHistory(t), Binding{}), "made for another platform")
	})
}

// TestCopiedFolder: ledger and mark together, in another place.
func TestCopiedFolder(t *testing.T) {
	path := withHistory(t)
	elsewhere := t.TempDir()
	must(t, os.CopyFS(elsewhere, os.DirFS(filepath.Dir(path))))
	must(t, os.Chmod(filepath.Join(elsewhere, "ledger.db-key"), 0o600)) // CopyFS heeds the umask alone
	if born, err := tokens.BornAt(path); err != nil || born == "" {
		must(t, err) // the file system of this test does not tell: the limit that Init speaks of
		reopen(t, filepath.Join(elsewhere, "ledger.db"), binding)
		return
	}
	wantDoubt(t, filepath.Join(elsewhere, "ledger.db"), binding, "its file is not the original one")
}

// TestPruningIsCounted: a ledger that was restored from a backup must not delete
// what may not be deleted any more. It is in doubt; the same word twice is not
// counted, and a word given in doubt ends no doubt.
func TestPruningIsCounted(t *testing.T) {
	l, ctx, intent := ready(t), t.Context(), []string{record(1).Intent}
	must(t, l.Adopt(ctx, adopted(record(1), "id-1")))
	must(t, l.Prunable(ctx, intent, true))
	folder := filepath.Dir(l.file.Path)
	mustExec(t, l, `VACUUM INTO ?`, filepath.Join(folder, "old"))
	must(t, l.Prunable(ctx, intent, true))
	must(t, l.Prunable(ctx, nil, false))
	must(t, l.Prunable(ctx, intent, false))
	must(t, l.Close())
	refill(t, folder)
	l = reopen(t, l.file.Path, binding)
	wantUnknown(t, l, "restored from a backup: it is at step 3, but step 4 was already reached")
	must(t, l.Prunable(ctx, intent, false))
	must(t, l.Prunable(ctx, intent, true))
	wantUnknown(t, l, "restored from a backup: it is at step 3, but step 4 was already reached")
}

// TestNothingThere: what a plan sees before the first run, and the first run.
func TestNothingThere(t *testing.T) {
	path := newPath(t)
	reader := mustRead(t, path)
	wantUnknown(t, reader, "there is no ledger yet")
	_, err := reader.Sealed(t.Context(), record(1).Intent)
	wantFault(t, err, ErrState, "there is no ledger")
	wantUnknown(t, mustOpen(t, path), "first use: seawall token init was not run yet")
}

// TestAdoptingIsNoWord: however many tokens are adopted, a ledger in doubt stays
// so, one behind its mark too.
func TestAdoptingIsNoWord(t *testing.T) {
	path := withHistory(t)
	refill(t, filepath.Dir(path))
	l := reopen(t, path, binding)
	for n := 10; n < 14; n++ {
		must(t, l.Adopt(t.Context(), adopted(record(n), edge.TokenID(record(n).Key))))
		wantUnknown(t, l, "restored from a backup: it is at step 2")
	}
}

// TestKilledBeforeTheMark: the ledger is one ahead of its mark after a crash
// between the two. That is no backup, and it does not add up.
func TestKilledBeforeTheMark(t *testing.T) {
	l := ready(t)
	path := l.file.Path
	must(t, l.Close())
	for n := range 3 {
		l := reopen(t, path, binding)
		var old []byte
		inTheMidst(t, l, func() (err error) { old, err = os.ReadFile(store.MarkPath(path)); return err })
		must(t, l.Intend(t.Context(), record(n)))
		must(t, l.Close())
		must(t, os.WriteFile(store.MarkPath(path), old, 0o600))
		reader := mustRead(t, path)
		reader.Binding = binding
		got, err := reader.Tokens(t.Context())
		if err := errors.Join(err, reader.Close()); err != nil || got.Unknown != "" || len(got.Records) != n+1 {
			t.Fatal(got, err)
		}
	}
}

// TestReadBetweenLedgerAndMark: who reads while another process has recorded the word of a
// person in the ledger, and not yet in the mark, waits for the mark. Where it does not come, the
// ledger was copied or restored.
func TestReadBetweenLedgerAndMark(t *testing.T) {
	l := ready(t)
	name := store.MarkPath(l.file.Path)
	before, err := os.ReadFile(name)
	must(t, err)
	must(t, l.Init(t.Context(), binding))
	after, err := os.ReadFile(name)
	must(t, err)
	must(t, os.WriteFile(name, before, 0o600))
	reader := mustRead(t, l.file.Path)
	reader.Binding = binding
	written := make(chan error, 1)
	time.AfterFunc(100*time.Millisecond, func() { written <- os.WriteFile(name, after, 0o600) })
	got, err := reader.Tokens(t.Context())
	must(t, errors.Join(err, <-written))
	if got.Unknown != "" {
		t.Errorf("beside a process that writes: %q", got.Unknown)
	}
	must(t, os.WriteFile(name, before, 0o600))
	wantUnknown(t, reader, "the mark beside it belongs to another ledger")
}

// TestMarkFails: an attempt whose mark cannot be written has not begun, however
// often that is tried, and leaves the ledger as sure of itself as it was.
func TestMarkFails(t *testing.T) {
	l := ready(t)
	name := store.MarkPath(l.file.Path)
	var old []byte
	inTheMidst(t, l, func() (err error) {
		old, err = os.ReadFile(name)
		return errors.Join(err, os.Remove(name), os.Mkdir(name, 0o700))
	})
	for n := range 3 {
		if err := l.Intend(t.Context(), record(n)); err == nil || !strings.Contains(err.Error(), "ledger.db-mark") {
			t.Fatalf("intending: %v", err)
		}
		must(t, os.Remove(name))
		must(t, os.WriteFile(name, old, 0o600))
		wantTokens(t, l)
	}
}

// inTheMidst calls do inside every transaction that adds a token.
func inTheMidst(t *testing.T, l *Ledger, do func() error) {
	t.Helper()
	mustExec(t, l, `CREATE TEMP TRIGGER midst AFTER INSERT ON main.token BEGIN SELECT in_the_midst(); END`)
	inMidst = do
}

var inMidst func() error

func init() { //nolint:gochecknoinits // the function is the driver's, before any connection
	sqlite.MustRegisterScalarFunction("in_the_midst", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		return nil, inMidst()
	})
}

// withHistory is a closed ledger of three steps, with copies of what was there
// in between: the ledger after the second (old), the mark after the first.
func withHistory(t *testing.T) string {
	t.Helper()
	l := ready(t)
	folder := filepath.Dir(l.file.Path)
	keep := func(from, to string) {
		data, err := os.ReadFile(filepath.Join(folder, from))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(folder, to), data, 0o600))
	}
	keep("ledger.db-mark", "older-mark")
	must(t, l.Intend(t.Context(), record(1)))
	mustExec(t, l, `VACUUM INTO ?`, filepath.Join(folder, "old"))
	must(t, l.Intend(t.Context(), record(2)))
	must(t, l.Close())
	return l.file.Path
}

func reopen(t *testing.T, path string, b Binding) *Ledger {
	t.Helper()
	l := mustOpen(t, path)
	l.Binding = b
	mustLock(t, l)
	return l
}

// wantDoubt holds a ledger to what follows from doubt: told to whoever reads,
// nothing begins, what began before goes on, and a person's word ends it.
func wantDoubt(t *testing.T, path string, b Binding, reason string) {
	t.Helper()
	reader := mustRead(t, path)
	reader.Binding = b
	wantUnknown(t, reader, reason)
	must(t, reader.Close())
	l := reopen(t, path, b)
	wantUnknown(t, l, reason)
	wantFault(t, l.Intend(t.Context(), record(9)), ErrUnknown, reason)
	must(t, l.Confirm(t.Context(), record(1).Intent, "id-1", secret(1)))
	wantSealed(t, l, record(1).Intent, secret(1))
	wantUnknown(t, l, reason)
	must(t, l.Init(t.Context(), b))
	must(t, l.Intend(t.Context(), record(9)))
	if got, err := l.Tokens(t.Context()); err != nil || got.Unknown != "" {
		t.Errorf("after the word: %q %v", got.Unknown, err)
	}
}

// refill puts the old content into the file that is there, as cp does.
func refill(t *testing.T, folder string) {
	old, err := os.ReadFile(filepath.Join(folder, "old"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(folder, "ledger.db"), old, 0o600))
}

// put moves one file of a folder over another.
func put(from, to string) func(*testing.T, string) {
	return func(t *testing.T, folder string) {
		must(t, os.Rename(filepath.Join(folder, from), filepath.Join(folder, to)))
	}
}

func putText(text string) func(*testing.T, string) {
	return func(t *testing.T, folder string) {
		must(t, os.WriteFile(filepath.Join(folder, "ledger.db-mark"), []byte(text), 0o600))
	}
}
