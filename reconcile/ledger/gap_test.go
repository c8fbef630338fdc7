package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/history"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

const (
	cutTail  = `DELETE FROM history WHERE number > 8`
	moveEnds = `UPDATE history_ends SET head_number = 8, head_hash = (SELECT hash FROM history WHERE number = 8)`
)

func withStatements(statements ...string) func(*testing.T, string) {
	return func(t *testing.T, path string) { tampered(t, path, statements...) }
}

// without removes files of a ledger that is closed.
func without(suffixes ...string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		for _, suffix := range suffixes {
			if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
}

// Whatever is done to the history while no process has it open is found before and after a
// daemon has started and written; what a person can accept is found until then.
func TestTamperingIsFoundBeforeAndAfterAStart(t *testing.T) {
	for name, test := range map[string]struct {
		harm          func(*testing.T, string)
		before, after string // the kinds of findings
		gap           string // what a start warns of
	}{
		"a row changed":               {withStatements(`UPDATE history SET body = replace(body, 'z5', 'z9') WHERE number = 5`), "changed", "changed", ""},
		"a row dropped":               {withStatements(`DELETE FROM history WHERE number = 5`), "dropped", "dropped", ""},
		"rows swapped":                {withStatements(`UPDATE history SET number = -5 WHERE number = 5`, `UPDATE history SET number = 5 WHERE number = 6`, `UPDATE history SET number = 6 WHERE number = -5`), "reordered", "reordered", ""},
		"the tail cut":                {withStatements(cutTail), "cut_tail", "dropped gap", "entries 9 to 10 are missing"},
		"the tail cut with its table": {withStatements(cutTail, moveEnds), "cut_tail", "gap", "entries 9 to 10 are missing"},
		"the head deleted":            {without("-head"), "head_file", "gap", "entries after entry 10 may be missing"},
		"the ledger deleted":          {without("", "-wal", "-shm"), "cut_tail", "gap", "entries 1 to 10 are missing"},
		"nothing":                     {without(), "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := chronicled(t, 10)
			test.harm(t, path)
			wantKinds(t, path, "before", test.before)
			for range 2 { // the second start has nothing to go by but the entry
				l := mustOpen(t, path)
				wantGap(t, l, test.gap)
				must(t, l.Record(t.Context(), wrote("next")))
				wantGap(t, l, test.gap)
				must(t, l.Close())
				wantKinds(t, path, "after", test.after)
			}
			if test.gap == "" {
				return
			}
			l := mustOpen(t, path)
			accepted, err := l.AcceptGap(t.Context(), "INC-7")
			must(t, err)
			wantGap(t, l, "")
			must(t, l.Close())
			if len(accepted) != 1 || !strings.HasPrefix(accepted[0].Missing, test.gap) {
				t.Errorf("accepted %+v", accepted)
			}
			wantKinds(t, path, "accepted", "")
		})
	}
}

func wantKinds(t *testing.T, path, when, want string) {
	t.Helper()
	var kinds []string
	for _, finding := range findings(t, path) {
		kind, _, _ := strings.Cut(finding, " ")
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	if got := strings.Join(slices.Compact(kinds), " "); got != want {
		t.Errorf("%s: verify finds %q, want %q", when, got, want)
	}
}

func wantGap(t *testing.T, l *Ledger, want string) {
	t.Helper()
	open, err := l.Gaps(t.Context())
	must(t, err)
	if want == "" && len(open) > 0 || want != "" && (len(open) != 1 || !strings.HasPrefix(open[0].Missing, want)) {
		t.Errorf("gaps %+v, want %q", open, want)
	}
}

// A person accepts a gap before any daemon has started, too, and what was accepted is said.
func TestAcceptedGapIsReported(t *testing.T) {
	path := chronicled(t, 10)
	without("", "-wal", "-shm")(t, path)
	l := mustOpen(t, path)
	if created, _ := l.Created(); !created {
		t.Error("a new ledger is not said to be one")
	}
	l.User = "kim@host"
	_, err := l.AcceptGap(t.Context(), "the disk was replaced")
	must(t, err)
	if again, err := l.AcceptGap(t.Context(), "once more"); err != nil || len(again) != 0 {
		t.Errorf("accepted again: %v, %v", again, err)
	}
	report, err := l.VerifyHistory(t.Context())
	must(t, err)
	want := []history.Gap{{Number: 1, Missing: "entries 1 to 10 are missing: the ledger was deleted, or replaced by an empty one", MissingEntries: reconcile.MissingEntries{From: 1, To: 10}, Accepted: 2, By: "kim@host", Reason: "the disk was replaced"}}
	if report.Rows != 2 || len(report.Findings) > 0 || !slices.Equal(report.Accepted, want) {
		t.Errorf("reported %+v", report)
	}
}

// What is as the documents say is no gap: a first start, a start after it in which nothing
// was written, a backup that was put back with its head into a new folder.
func TestNoGap(t *testing.T) {
	path := newPath(t)
	for range 2 {
		l := mustOpen(t, path)
		wantGap(t, l, "")
		must(t, l.Close())
	}
	wantKinds(t, path, "nothing written", "")

	source := chronicled(t, 10)
	backup, l := newPath(t), mustOpen(t, source)
	must(t, l.Close())
	must(t, os.MkdirAll(filepath.Dir(backup), 0o700))
	for _, suffix := range []string{"", "-head"} {
		data, err := os.ReadFile(source + suffix)
		must(t, err)
		must(t, os.WriteFile(backup+suffix, data, 0o600))
	}
	l = mustOpen(t, backup)
	wantGap(t, l, "")
	must(t, l.Record(t.Context(), wrote("next")))
	wantGap(t, l, "")
	wantKinds(t, backup, "restored", "")
}

// A process that has written knows what it has written, whatever becomes of the file with
// the head.
func TestTailCutBelowAWriter(t *testing.T) {
	path := chronicled(t, 10)
	l := mustOpen(t, path)
	must(t, l.Record(t.Context(), wrote("z11")))
	tampered(t, path, cutTail, moveEnds)
	must(t, os.Remove(store.HeadPath(path)))
	must(t, l.Record(t.Context(), wrote("z12")))
	wantGap(t, l, "entries 9 to 11 are missing")
}

// An open gap outlives the bounds of the history, and an accepted one does not come back.
func TestOpenGapIsNotDropped(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		path := pathOf(rt, folder)
		lost := history.Head{Number: 28}
		must(rt, lost.Write(store.HeadPath(path)))
		l, err := Open(path)
		must(rt, err)
		defer l.Close()
		clock := noon
		l.Now = func() time.Time { return clock }
		l.Keep = history.Bounds{Bytes: rapid.SampledFrom([]int64{1, 3000}).Draw(rt, "bytes"), Keep: rapid.SampledFrom([]time.Duration{0, time.Hour}).Draw(rt, "keep")}
		want := 1
		for i := range rapid.IntRange(1, 15).Draw(rt, "steps") {
			clock = clock.Add(time.Duration(rapid.IntRange(0, 300).Draw(rt, "minutes")) * time.Minute)
			if rapid.IntRange(0, 9).Draw(rt, "accept") == 0 {
				_, err = l.AcceptGap(rt.Context(), "seen")
				want = 0
			} else {
				err = l.Record(rt.Context(), wrote(fmt.Sprint("z", i)), wrote("y"))
			}
			must(rt, err)
			report, err := l.VerifyHistory(rt.Context())
			if err != nil || len(report.Findings) != want || want == 1 && report.Findings[0].Kind != history.Missing {
				rt.Fatalf("found %+v, want %d; %v", report.Findings, want, err)
			}
			if open, err := l.Gaps(rt.Context()); err != nil || len(open) != want || want == 1 && !strings.HasPrefix(open[0].Missing, "entries 1 to 28 are missing") {
				rt.Fatalf("gaps %+v, want %d; %v", open, want, err)
			}
		}
	})
}

// A process whose file is gone writes nothing more, and goes on once the file is back.
func TestLedgerThatIsGone(t *testing.T) {
	for name, test := range map[string]struct {
		harm func(path string) error
		mend func(path string) error // nil: a restart alone helps
	}{
		"moved": {
			func(path string) error { return os.Rename(path, path+".away") },
			func(path string) error { return os.Rename(path+".away", path) },
		},
		"moved with its companions": {
			func(path string) error { return renameAll(path, path+".away", "", "-wal", "-shm") },
			func(path string) error { return renameAll(path+".away", path, "", "-wal", "-shm") },
		},
		"deleted": {func(path string) error {
			return errors.Join(os.Remove(path), os.Remove(path+"-wal"), os.Remove(path+"-shm"))
		}, nil},
		"log deleted": {func(path string) error { return os.Remove(path + "-wal") }, nil},
		"replaced": {
			func(path string) error { return errors.Join(os.Rename(path, path+".away"), store.Create(path)) },
			func(path string) error { return os.Rename(path+".away", path) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := chronicled(t, 3)
			l := mustOpen(t, path)
			must(t, l.Record(t.Context(), wrote("before")))
			_, err := l.Standing(t.Context())
			must(t, err)
			must(t, test.harm(path))
			_, err = l.RecordWrite(t.Context(), wrote("after"), settled(deployment(1), "m"))
			wantGone(t, err)
			_, err = l.Standing(t.Context())
			wantGone(t, err)
			if test.mend == nil {
				return
			}
			must(t, test.mend(path))
			must(t, l.Record(t.Context(), wrote("after")))
			_, err = l.Standing(t.Context())
			must(t, err)
			must(t, l.Close())
			wantKinds(t, path, "mended", "")
		})
	}
}

func wantGone(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, ErrGone) || !errors.Is(err, reconcile.ErrState) || !strings.Contains(err.Error(), "approvals") {
		t.Errorf("got %v", err)
	}
}

func renameAll(from, to string, suffixes ...string) (err error) {
	for _, suffix := range suffixes {
		err = errors.Join(err, os.Rename(from+suffix, to+suffix))
	}
	return err
}
