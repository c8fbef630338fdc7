package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/history"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// wrote is the entry of a write to a zone.
func wrote(zone string) reconcile.Entry {
	return reconcile.Entry{
		Kind: reconcile.EntryWrite, Action: "update", Trigger: reconcile.TriggerSync, Asked: reconcile.Asked{Commit: "0123456789abcdef"},
		Subject: reconcile.Subject{Account: "prod", Zone: zone, Scope: edge.ZoneScope(edge.ZoneID(zone)), Deployment: "core", Ruleset: "r"},
	}
}

// chronicled is a ledger with so many writes in its history, closed.
func chronicled(t testing.TB, n int) (path string) {
	path = newPath(t)
	l := mustOpen(t, path)
	l.Now = func() time.Time { return noon }
	for i := range n {
		must(t, l.Record(t.Context(), wrote(fmt.Sprint("z", i+1))))
	}
	must(t, l.Close())
	return path
}

// tampered runs statements on a ledger's file, as someone with a shell would.
func tampered(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("%", "%25", "#", "%23", "?", "%3f").Replace(path))
	must(t, err)
	for _, s := range statements {
		_, err := db.Exec(s)
		must(t, err)
	}
	must(t, db.Close())
}

// entries are those of the history that a filter selects.
func entries(t *testing.T, l *Ledger, filter reconcile.HistoryFilter) (all []reconcile.Entry) {
	t.Helper()
	_, err := l.History(t.Context(), filter, func(e reconcile.Entry) error { all = append(all, e); return nil })
	must(t, err)
	return all
}

func findings(t *testing.T, path string, noted ...history.Head) (kinds []string) {
	t.Helper()
	l := mustRead(t, path)
	report, err := l.VerifyHistory(t.Context(), noted...)
	must(t, err)
	for _, f := range report.Findings {
		kinds = append(kinds, fmt.Sprint(f.Kind, " ", f.Number))
	}
	return kinds
}

// Whatever is done to the rows is found, and told as what it is.
func TestTamperedHistoryIsFound(t *testing.T) {
	const cut = `DELETE FROM history WHERE number > 8`
	for name, test := range map[string]struct {
		statements []string
		want       []string
	}{
		"nothing":         {nil, nil},
		"a changed row":   {[]string{`UPDATE history SET body = replace(body, 'z5', 'z9') WHERE number = 5`}, []string{"changed 5"}},
		"a changed hash":  {[]string{`UPDATE history SET hash = zeroblob(32) WHERE number = 5`}, []string{"changed 5"}},
		"the last row":    {[]string{`UPDATE history SET body = replace(body, 'z10', 'z9') WHERE number = 10`}, []string{"changed 10", "changed 10", "changed 10"}},
		"a dropped row":   {[]string{`DELETE FROM history WHERE number = 5`}, []string{"dropped 5"}},
		"dropped rows":    {[]string{`DELETE FROM history WHERE number IN (3, 4, 7)`}, []string{"dropped 3", "dropped 7"}},
		"the first row":   {[]string{`DELETE FROM history WHERE number = 1`}, []string{"dropped 1"}},
		"reordered rows":  {[]string{`UPDATE history SET number = -5 WHERE number = 5`, `UPDATE history SET number = 5 WHERE number = 6`, `UPDATE history SET number = 6 WHERE number = -5`}, []string{"reordered 5", "reordered 6"}},
		"a cut tail":      {[]string{cut}, []string{"cut_tail 9", "cut_tail 9"}},
		"all of it":       {[]string{`DELETE FROM history`}, []string{"cut_tail 1", "cut_tail 1"}},
		"a closed gap":    {[]string{`DELETE FROM history WHERE number = 5`, `UPDATE history SET number = number - 1 WHERE number > 5`}, []string{"reordered 5", "reordered 6", "reordered 7", "reordered 8", "reordered 9", "cut_tail 10", "cut_tail 10"}},
		"a new beginning": {[]string{`DELETE FROM history WHERE number <= 3`, `UPDATE history_ends SET base_number = 3, base_hash = (SELECT hash FROM history WHERE number = 4)`}, []string{"checkpoint 3", "checkpoint 3"}},
		"a cut tail with its head": {
			[]string{cut, `UPDATE history_ends SET head_number = 8, head_hash = (SELECT hash FROM history WHERE number = 8)`},
			[]string{"cut_tail 9"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := chronicled(t, 10)
			tampered(t, path, test.statements...)
			if got := findings(t, path); !slices.Equal(got, test.want) {
				t.Errorf("found %v, want %v", got, test.want)
			}
		})
	}
}

// trimmed is a ledger whose first entries were dropped for size.
func trimmed(t testing.TB) (path string) {
	path = newPath(t)
	l := mustOpen(t, path)
	l.Now, l.Keep = func() time.Time { return noon }, history.Bounds{Bytes: 4000}
	for i := range 40 {
		must(t, l.Record(t.Context(), wrote(fmt.Sprint("z", i+1))))
	}
	must(t, l.Close())
	return path
}

// The checkpoint keeps a history that was trimmed verifiable, and cannot be swapped.
func TestSwappedCheckpointIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		statements []string
		want       string
	}{
		"nothing":           {nil, ""},
		"another base":      {[]string{`UPDATE history_ends SET base_number = base_number + 2, base_hash = (SELECT hash FROM history ORDER BY number LIMIT 1 OFFSET 1)`, `DELETE FROM history WHERE number <= (SELECT base_number FROM history_ends)`}, "checkpoint"},
		"another hash":      {[]string{`UPDATE history_ends SET base_hash = zeroblob(32)`}, "checkpoint"},
		"none":              {[]string{`UPDATE history_ends SET base_number = 0, base_hash = zeroblob(32)`}, "checkpoint"},
		"another row":       {[]string{`UPDATE history SET body = json_set(body, '$.checkpoint.number', 1) WHERE number = (SELECT max(number) FROM history WHERE json_extract(body, '$.kind') = 'checkpoint')`}, "changed"},
		"dropped beginning": {[]string{`DELETE FROM history WHERE number = (SELECT min(number) FROM history)`}, "dropped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := trimmed(t)
			tampered(t, path, test.statements...)
			got := findings(t, path)
			if found := slices.ContainsFunc(got, func(f string) bool { return strings.HasPrefix(f, test.want+" ") }); found != (test.want != "") || test.want == "" && len(got) > 0 {
				t.Errorf("found %v, want %q", got, test.want)
			}
		})
	}
}

// A tail that was cut with its head, by someone who does not know the file beside the
// ledger, is on record for ever once anything is written: the file is overwritten then.
func TestCutTailIsOnRecordLater(t *testing.T) {
	path := chronicled(t, 10)
	tampered(t, path, `DELETE FROM history WHERE number > 8`, `UPDATE history_ends SET head_number = 8, head_hash = (SELECT hash FROM history WHERE number = 8)`)
	l := mustOpen(t, path)
	must(t, l.Record(t.Context(), wrote("next")))
	var gaps []string
	for _, e := range entries(t, l, reconcile.HistoryFilter{}) {
		if e.Kind == reconcile.EntryGap {
			gaps = append(gaps, e.Reason)
		}
	}
	if len(gaps) != 1 || !strings.HasPrefix(gaps[0], "entries 9 to 10 are missing") {
		t.Errorf("gaps %q", gaps)
	}
	if got := findings(t, path); !slices.Equal(got, []string{"gap 10"}) {
		t.Errorf("found %v", got)
	}
}

// A head that was noted elsewhere shows what no file on the host can.
func TestNotedHead(t *testing.T) {
	path := chronicled(t, 5)
	file, err := os.ReadFile(store.HeadPath(path))
	must(t, err)
	noted, err := history.ParseHead(strings.TrimSpace(string(file)))
	must(t, err)
	if got := findings(t, path, noted); len(got) != 0 || noted.Number != 5 {
		t.Errorf("found %v with head %v", got, noted)
	}
	other := noted
	other.Hash[0]++
	if got := findings(t, path, other); !slices.Equal(got, []string{"changed 5"}) {
		t.Errorf("found %v", got)
	}
	for _, text := range []string{"", "x", "5", "5:", "-1:" + noted.Hash.String(), "5:" + noted.Hash.String()[1:]} {
		if _, err := history.ParseHead(text); err == nil {
			t.Errorf("%q is taken for a head", text)
		}
	}
	for harm, want := range map[string]string{"missing": "head_file 5", "incomplete": "head_file 5"} {
		if err := os.Remove(store.HeadPath(path)); err != nil && harm == "missing" {
			t.Fatal(err)
		}
		if harm == "incomplete" {
			must(t, os.WriteFile(store.HeadPath(path), file[:10], 0o600))
		}
		if got := findings(t, path); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: found %v", harm, got)
		}
	}
}

// pathOf is where a check of rapid has its ledger.
func pathOf(rt *rapid.T, folder string) string {
	dir, err := os.MkdirTemp(folder, "")
	must(rt, err)
	return filepath.Join(dir, "ledger.db")
}

// Whatever is written, and whenever, a history with bounds is whole, stays within them, and
// keeps the newest entry.
func TestBoundedHistoryIsWhole(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		l, err := Open(pathOf(rt, folder))
		must(rt, err)
		defer l.Close()
		clock := noon
		l.Now = func() time.Time { return clock }
		l.Keep = history.Bounds{
			Bytes: rapid.SampledFrom([]int64{0, 1, 3000, 6000}).Draw(rt, "bytes"),
			Keep:  rapid.SampledFrom([]time.Duration{0, time.Hour, 10 * time.Hour}).Draw(rt, "keep"),
		}
		last := ""
		for i := range rapid.IntRange(1, 12).Draw(rt, "transactions") {
			clock = clock.Add(time.Duration(rapid.IntRange(-10, 300).Draw(rt, "minutes")) * time.Minute)
			last = fmt.Sprint("z", i)
			entries := make([]reconcile.Entry, rapid.IntRange(1, 4).Draw(rt, "entries"))
			for j := range entries {
				entries[j] = wrote(last)
			}
			must(rt, l.Record(rt.Context(), entries...))
		}
		report, err := l.VerifyHistory(rt.Context())
		if err != nil || len(report.Findings) > 0 {
			rt.Fatalf("found %+v, %v", report.Findings, err)
		}
		var bytes, kept int64
		must(rt, l.file.DB.QueryRow(`SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM history`).Scan(&kept))
		if err := l.file.DB.QueryRow(`SELECT bytes FROM history_ends`).Scan(&bytes); err != nil || bytes != kept {
			rt.Fatalf("%d bytes are counted, %d are there: %v", bytes, kept, err)
		}
		const aFew = 2500 // a transaction's own entries and a checkpoint stay
		if most := l.Keep.Bytes; most > 0 && kept > most+aFew {
			rt.Fatalf("%d bytes are kept, %d may be", kept, most)
		}
		found := false
		if _, err := l.History(rt.Context(), reconcile.HistoryFilter{Zone: last}, func(reconcile.Entry) error { found = true; return nil }); err != nil || !found {
			rt.Fatalf("the newest write is not on record: %v", err)
		}
	})
}

// Entries come in their order, each write with its result, by what they are about.
func TestHistoryIsSelected(t *testing.T) {
	l := mustOpen(t, newPath(t))
	clock := noon
	l.Now, l.User = func() time.Time { return clock }, "kim@host"
	first, err := l.RecordWrite(t.Context(), wrote("a"), settled(deployment(1), "m"))
	must(t, err)
	other := wrote("b")
	other.Asked.Commit = "fedcba9876543210"
	_, err = l.RecordWrite(t.Context(), other, nil)
	must(t, err)
	clock = noon.Add(time.Hour)
	must(t, l.Prove(t.Context(), "c", nil, nil, resultOf(first, "a", "2")))
	must(t, l.Hold(t.Context(), diff.Hold{Zone: "a", Until: noon.Add(time.Hour), Reason: "x"}, "kim@host"))
	for name, test := range map[string]struct {
		filter  reconcile.HistoryFilter
		want    string
		earlier int64
	}{
		"all":         {reconcile.HistoryFilter{}, "1 update a converged; 2 update b ; 4 hold a ", 0},
		"a zone":      {reconcile.HistoryFilter{Zone: "a"}, "1 update a converged; 4 hold a ", 0},
		"a commit":    {reconcile.HistoryFilter{Commit: "fedcba9"}, "2 update b ", 0},
		"a time":      {reconcile.HistoryFilter{Since: noon.Add(time.Minute)}, "4 hold a ", 0},
		"the last":    {reconcile.HistoryFilter{Last: 1}, "4 hold a ", 2},
		"both":        {reconcile.HistoryFilter{Zone: "b", Since: noon}, "2 update b ", 0},
		"nothing":     {reconcile.HistoryFilter{Token: "a"}, "", 0},
		"not its end": {reconcile.HistoryFilter{Commit: "edcba98"}, "", 0},
	} {
		var got []string
		earlier, err := l.History(t.Context(), test.filter, func(e reconcile.Entry) error {
			outcome := reconcile.Outcome("")
			if e.Result != nil {
				outcome = e.Result.Outcome
			}
			got = append(got, fmt.Sprint(e.Number, " ", e.Action, " ", e.Subject.Zone, " ", outcome))
			return nil
		})
		must(t, err)
		if text := strings.Join(got, "; "); text != test.want || earlier != test.earlier {
			t.Errorf("%s: %q and %d earlier, want %q and %d", name, text, earlier, test.want, test.earlier)
		}
	}
	stop := errors.New("enough")
	if _, err := l.History(t.Context(), reconcile.HistoryFilter{}, func(reconcile.Entry) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("yield's error is %v", err)
	}
}

// What apply and revert have written is told apart from what the daemon has.
func TestWrittenByCommands(t *testing.T) {
	l := mustOpen(t, newPath(t))
	before, err := l.Standing(t.Context())
	must(t, err)
	for zone, trigger := range map[string]reconcile.Trigger{
		"a": reconcile.TriggerManual, "b": reconcile.TriggerSync, "c": reconcile.TriggerRevert, "d": reconcile.TriggerSweep,
	} {
		write := wrote(zone)
		write.Trigger = trigger
		number, err := l.RecordWrite(t.Context(), write, nil)
		must(t, err)
		result := resultOf(number, zone, "")
		result.Trigger = trigger
		for range 2 { // two deployments of one zone
			must(t, l.Record(t.Context(), result))
		}
	}
	unfinished := wrote("e")
	unfinished.Trigger = reconcile.TriggerManual
	must(t, l.Record(t.Context(), unfinished))

	got, err := l.WrittenByCommands(t.Context(), before.Newest)
	must(t, err)
	if slices.SortFunc(got, edge.Scope.Compare); !slices.Equal(got, []edge.Scope{edge.ZoneScope("a"), edge.ZoneScope("c")}) {
		t.Errorf("written by commands: %v", got)
	}
	after, err := l.Standing(t.Context())
	must(t, err)
	if got, err := l.WrittenByCommands(t.Context(), after.Newest); err != nil || len(got) > 0 {
		t.Errorf("since then: %v, %v", got, err)
	}
}

// What a process has written itself is not read for commands, unless one of another process, or of
// its own, came between.
func TestOwnEntriesAreNotReadForCommands(t *testing.T) {
	path := newPath(t)
	l := mustOpen(t, path)
	foreign := func(after int64) bool {
		t.Helper()
		standing, err := l.Standing(t.Context())
		must(t, err)
		return l.file.Foreign(after, standing.Newest)
	}
	result := func(of *Ledger, zone string, trigger reconcile.Trigger) {
		t.Helper()
		e := resultOf(1, zone, "")
		e.Trigger = trigger
		must(t, of.Record(t.Context(), e))
	}
	result(l, "a", reconcile.TriggerSync)
	result(l, "b", reconcile.TriggerSweep)
	if foreign(0) {
		t.Error("all entries are its own")
	}
	other := mustOpen(t, path)
	result(other, "c", reconcile.TriggerManual)
	if !foreign(2) {
		t.Error("the last entry is of another process")
	}
	result(l, "d", reconcile.TriggerSync)
	if !foreign(2) || foreign(3) {
		t.Error("the third entry is of another process, and the fourth is not")
	}
	result(l, "e", reconcile.TriggerRevert)
	if !foreign(4) || foreign(5) {
		t.Error("the fifth entry is of a command")
	}
	got, err := l.WrittenByCommands(t.Context(), 2)
	must(t, err)
	if slices.SortFunc(got, edge.Scope.Compare); !slices.Equal(got, []edge.Scope{edge.ZoneScope("c"), edge.ZoneScope("e")}) {
		t.Errorf("written by commands: %v", got)
	}
}
