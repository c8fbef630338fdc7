package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/history"
)

// pages are all pages of what a filter selects, one after the other.
func pages(t testing.TB, l *Ledger, f reconcile.HistoryFilter) (all []reconcile.Entry) {
	for {
		page, earlier, err := l.Page(context.Background(), f)
		must(t, err)
		if all = append(all, page...); !earlier {
			return all
		}
		if len(page) != f.Last {
			t.Fatalf("%d entries on a page that another follows, want %d", len(page), f.Last)
		}
		f.Before = page[len(page)-1].Number
	}
}

// Whatever is in a history, its pages one after the other are what History hands over, from
// its end.
func TestPagesAreTheHistory(t *testing.T) {
	l := mustOpen(t, newPath(t))
	l.Now = func() time.Time { return noon }
	commits := []string{"0123456789abcdef", "0123456fedcba987", "ffffffffffffffff"}
	rapid.Check(t, func(rt *rapid.T) {
		ctx := context.Background()
		for range rapid.IntRange(1, 4).Draw(rt, "transactions") {
			e := wrote(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "zone"))
			e.Asked.Commit = rapid.SampledFrom(commits).Draw(rt, "commit")
			if rapid.Bool().Draw(rt, "token") {
				e.Subject = reconcile.Subject{Token: "ci"}
			}
			number, err := l.RecordWrite(ctx, e, nil)
			must(rt, err)
			for range rapid.IntRange(0, 2).Draw(rt, "results") {
				must(rt, l.Record(ctx, resultOf(number, e.Subject.Zone, "2")))
			}
		}
		f := reconcile.HistoryFilter{Last: rapid.IntRange(1, 7).Draw(rt, "last")}
		switch rapid.IntRange(0, 4).Draw(rt, "filter") {
		case 0:
			f.Scope = edge.ZoneScope("a")
		case 1:
			f.Token = "ci"
		case 2:
			f.Commit = rapid.SampledFrom([]string{"0123456", "0123456789abcdef", "f", "e"}).Draw(rt, "begins")
		case 3:
			f.Commit, f.Scope = "0123456", edge.ZoneScope("b")
		}
		whole := f
		whole.Last = 0
		var want []reconcile.Entry
		_, err := l.History(ctx, whole, func(e reconcile.Entry) error { want = append(want, e); return nil })
		must(rt, err)
		slices.Reverse(want)
		if diff := cmp.Diff(want, pages(t, l, f)); diff != "" {
			rt.Fatalf("%+v: the pages are not the history (-want +got):\n%s", f, diff)
		}
	})
}

// Too short a beginning is refused, and not answered in part.
func TestPageOfManyCommits(t *testing.T) {
	l := mustOpen(t, newPath(t))
	for i := range reconcile.MostCommits + 1 {
		e := wrote("a")
		e.Asked.Commit = fmt.Sprintf("abcdef%02d", i)
		must(t, l.Record(t.Context(), e))
	}
	if _, _, err := l.Page(t.Context(), reconcile.HistoryFilter{Commit: "abcdef", Last: 5}); !errors.Is(err, reconcile.ErrManyCommits) {
		t.Errorf("an ambiguous commit: %v", err)
	}
	if got := pages(t, l, reconcile.HistoryFilter{Commit: "abcdef0", Last: 3}); len(got) != reconcile.MostCommits {
		t.Errorf("%d entries", len(got))
	}
}

// Commits come with what was written for them, by what became of it last.
func TestAcceptedCommits(t *testing.T) {
	l := mustOpen(t, newPath(t))
	l.Now = func() time.Time { return noon }
	accept := func(commit string) {
		must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: commit, Author: "Ada", Message: "say " + commit}))
	}
	write := func(commit, zone string, trigger reconcile.Trigger, outcomes ...reconcile.Outcome) {
		e := wrote(zone)
		e.Asked.Commit, e.Trigger = commit, trigger
		number, err := l.RecordWrite(t.Context(), e, nil)
		must(t, err)
		for _, outcome := range outcomes {
			r := resultOf(number, zone, "")
			r.Result.Outcome = outcome
			must(t, l.Record(t.Context(), r))
		}
	}
	accept("aaaaaaa")
	write("aaaaaaa", "a", reconcile.TriggerSync, reconcile.Converged)
	write("aaaaaaa", "a", reconcile.TriggerSync, reconcile.Failed, reconcile.Converged)
	write("aaaaaaa", "b", reconcile.TriggerSync, reconcile.Converged, reconcile.NonConvergent)
	write("aaaaaaa", "c", reconcile.TriggerManual) // not proved
	write("aaaaaaa", "d", reconcile.TriggerSweep, reconcile.Failed)
	accept("bbbbbbb")
	accept("aaaaaaa")
	var got []string
	before, earlier := int64(0), true
	for earlier {
		var page []reconcile.AcceptedCommit
		var err error
		page, earlier, err = l.Accepted(t.Context(), before, 2)
		must(t, err)
		for _, c := range page {
			got = append(got, fmt.Sprint(c.Asked.Commit, " ", c.Asked.Message, " ", c.Writes, " ", c.Zones, " ", c.Failed))
			before = c.Number
		}
	}
	want := []string{"aaaaaaa say aaaaaaa 4 3 1", "bbbbbbb say bbbbbbb 0 0 0", "aaaaaaa say aaaaaaa 4 3 1"}
	if !slices.Equal(got, want) {
		t.Errorf("commits %q, want %q", got, want)
	}
}

// Counts follow what is written, at the latest after a while.
func TestCountsFollow(t *testing.T) {
	l := mustOpen(t, newPath(t))
	must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "aaaaaaa"}))
	e := wrote("a")
	e.Asked.Commit = "aaaaaaa"
	var written history.Written
	at := noon
	count := func() (text string) {
		must(t, l.file.ReadBeside(t.Context(), func(tx *sql.Tx) error {
			commits, _, err := written.Accepted(t.Context(), tx, 0, 5, at)
			text = fmt.Sprint(commits[0].Writes, " ", commits[0].Failed)
			return err
		}))
		return text
	}
	want := func(text string) {
		t.Helper()
		if got := count(); got != text {
			t.Errorf("counted %s, want %s", got, text)
		}
	}
	want("0 0")
	number, err := l.RecordWrite(t.Context(), e, nil)
	must(t, err)
	want("0 0") // for a moment
	at = at.Add(time.Second)
	want("1 0")
	r := resultOf(number, "a", "")
	r.Asked.Commit, r.Result.Outcome = "", reconcile.Failed // as of a token
	must(t, l.Record(t.Context(), r))
	at = at.Add(time.Second)
	want("1 0")
	at = at.Add(time.Minute)
	want("1 1")
}

// A ledger of the version before gets what pages need, over the entries that it has.
func TestMigrationFromVersion13(t *testing.T) {
	path := ofVersion(t, 13)
	tampered(t, path,
		`INSERT INTO history (number, body, hash) VALUES (1, '{"number":1,"at":"2026-03-01T12:00:00Z","kind":"write","action":"update","subject":{"zone_id":"a"}}', x'00')`,
		`INSERT INTO history (number, body, hash) VALUES (2, '{"number":2,"at":"2026-03-01T12:00:00Z","kind":"result","action":"conclude","result":{"write":1,"outcome":"converged"}}', x'00')`)
	l := mustOpen(t, path)
	if got := pages(t, l, reconcile.HistoryFilter{Scope: edge.ZoneScope("a"), Last: 5}); len(got) != 1 || got[0].Result == nil || got[0].Result.Outcome != reconcile.Converged {
		t.Errorf("entries %+v", got)
	}
}

// A reader is in no writer's way: both go on while the other does.
func TestPagesWaitForNoWrite(t *testing.T) {
	l := mustOpen(t, newPath(t))
	must(t, l.Record(t.Context(), wrote("a")))
	must(t, l.file.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		got, _, err := l.Page(ctx, reconcile.HistoryFilter{Last: 5})
		if len(got) != 1 {
			t.Errorf("%d entries beside a write", len(got))
		}
		return err
	}))
	must(t, l.file.ReadBeside(t.Context(), func(*sql.Tx) error { return l.Record(t.Context(), wrote("b")) }))
}
