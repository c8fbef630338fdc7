package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// saying are calls about the zones z0 to z2, of which each changes what was said or does not.
var saying = map[string]func(ctx context.Context, l *Ledger, n int) error{
	"accept": func(ctx context.Context, l *Ledger, n int) error {
		return l.AcceptCommit(ctx, reconcile.Acceptance{Commit: fmt.Sprint("c", n), Declared: func(edge.Scope) string { return fmt.Sprint("d", n) }})
	},
	"save state": func(ctx context.Context, l *Ledger, n int) error {
		return l.SaveState(ctx, fmt.Sprint("c", n), []reconcile.StatePart{reconcile.PartOf([]byte("state"))})
	},
	"hold": func(ctx context.Context, l *Ledger, n int) error {
		hold := diff.Hold{Zone: fmt.Sprint("z", n), Reason: "INC", Until: noon.Add(time.Duration(n-1) * time.Hour), Scopes: []edge.Scope{said(2 - n)}}
		return l.Hold(ctx, hold, "kim")
	},
	"release": func(ctx context.Context, l *Ledger, n int) error {
		_, err := l.Release(ctx, fmt.Sprint("z", n), noon)
		return err
	},
	"approve": func(ctx context.Context, l *Ledger, n int) error {
		return l.Approve(ctx, []reconcile.Approval{{Digest: fmt.Sprint("a", n), Kind: reconcile.Approved, Who: "kim"}})
	},
	"use":   func(ctx context.Context, l *Ledger, n int) error { return l.Use(ctx, []string{fmt.Sprint("a", n)}) },
	"spend": func(ctx context.Context, l *Ledger, n int) error { return l.Spend(ctx, []string{fmt.Sprint("a", n)}) },
	"withdraw": func(ctx context.Context, l *Ledger, n int) error {
		return l.Withdraw(ctx, []string{fmt.Sprint("a", n)}, "old")
	},
	"roll": func(ctx context.Context, l *Ledger, n int) error {
		return l.Roll(ctx, func(reconcile.Rollout) reconcile.Rollout {
			return reconcile.Rollout{Commit: "c1", Wave: 1 + n, Zones: map[edge.Scope]reconcile.RolloutZone{said(n): {Wave: 1}}}
		})
	},
	"depart": func(ctx context.Context, l *Ledger, _ int) error { return l.Depart(ctx, reconcile.Memory{}, nil) },
	"stop": func(ctx context.Context, l *Ledger, n int) error {
		hold := diff.Hold{Zone: fmt.Sprint("z", n), Scope: said(n), Declaration: "d1", Commit: "c1", Reason: "bad"}
		err := l.Stop(ctx, "c1", []diff.Hold{hold}, noApproval, reconcile.Entry{})
		if errors.Is(err, reconcile.ErrSuperseded) {
			return nil
		}
		return err
	},
	"drop": func(ctx context.Context, l *Ledger, n int) error { return l.DropRevert(ctx, []edge.Scope{said(n)}) },
	"prove": func(ctx context.Context, l *Ledger, n int) error {
		return l.Prove(ctx, "c1", []reconcile.Proof{{Scope: said(n), Fingerprint: "d1"}}, settled(deployment(n), "a"))
	},
	"record": func(ctx context.Context, l *Ledger, n int) error { return l.Record(ctx, wrote(fmt.Sprint("z", n))) },
	"undo": func(ctx context.Context, l *Ledger, n int) error { // after it was seen in its transaction
		err := l.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE accepted SET "commit" = ?`, fmt.Sprint("undone ", n))
			if err == nil {
				_, err = tx.ExecContext(ctx, `DELETE FROM hold`)
			}
			return errors.Join(err, errUndo)
		})
		if errors.Is(err, errUndo) {
			return nil
		}
		return err
	},
}

var errUndo = errors.New("undone")

func said(n int) edge.Scope { return edge.ZoneScope(edge.ZoneID(fmt.Sprint("z", n))) }

// What stands, and whether a write is permitted, is what the rows say, whoever has said it, in
// whichever process, and whether it was undone.
func TestSaidIsWhatIsOnRecord(t *testing.T) {
	t.Parallel()
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		path := newPath(outer)
		ledgers := []*Ledger{mustOpen(outer, path), mustOpen(outer, path)}
		for _, l := range ledgers {
			l.Now = func() time.Time { return noon }
		}
		last, spent := map[*Ledger]reconcile.Standing{}, map[*Ledger]map[string]bool{ledgers[0]: {}, ledgers[1]: {}}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			l := rapid.SampledFrom(ledgers).Draw(t, "who")
			what := rapid.SampledFrom(slices.Sorted(maps.Keys(saying))).Draw(t, "what")
			n := rapid.IntRange(0, 2).Draw(t, "n")
			must(outer, saying[what](outer.Context(), l, n))
			if what == "spend" {
				spent[l][fmt.Sprint("a", n)] = true
			}
			for _, l := range ledgers {
				if rapid.Bool().Draw(t, "several at once") {
					continue
				}
				wantStillSaid(outer, t, l, last[l], spent[l])
				last[l], spent[l] = wantSaid(outer, t, l, rapid.IntRange(0, 2).Draw(t, "zone")), map[string]bool{}
			}
		}
	})
}

// wantStillSaid: what a ledger says to be as it was last is so, but for what it has spent itself.
func wantStillSaid(outer *testing.T, t *rapid.T, l *Ledger, last reconcile.Standing, spent map[string]bool) {
	same, err := l.StillSaid(outer.Context(), last.Said)
	must(outer, err)
	if !same {
		return
	}
	want, err := store.Read(outer.Context(), l.file, l.recallStanding)
	must(outer, err)
	last.Approvals = slices.DeleteFunc(slices.Clone(last.Approvals), func(a reconcile.Approval) bool { return spent[a.Digest] })
	if d := cmp.Diff(want, last, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(reconcile.Standing{}, "Newest", "Said")); d != "" {
		t.Fatalf("still said (-rows +last):\n%s", d)
	}
}

func wantSaid(outer *testing.T, t *rapid.T, l *Ledger, n int) reconcile.Standing {
	want, err := store.Read(outer.Context(), l.file, l.recallStanding)
	must(outer, err)
	got, err := l.Standing(outer.Context())
	must(outer, err)
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(reconcile.Standing{}, "Newest", "Said")); d != "" {
		t.Fatalf("standing (-rows +got):\n%s", d)
	}
	write := writeOf(fmt.Sprint("z", n), "1")
	write.Trigger = rapid.SampledFrom([]reconcile.Trigger{reconcile.TriggerSync, reconcile.TriggerRevert}).Draw(t, "trigger")
	_, got1 := l.RecordWrite(outer.Context(), write, nil)
	var h *reconcile.HeldError
	if held, superseded := errors.As(got1, &h), errors.Is(got1, reconcile.ErrSuperseded); !held && !superseded {
		must(outer, got1)
		must(outer, l.Unclaim(outer.Context(), write.Subject.Scope, "1"))
	}
	if want := permittedBy(want, write); fmt.Sprint(want) != fmt.Sprint(got1) {
		t.Fatalf("a write: %v, want %v", got1, want)
	}
	return got
}

// permittedBy says by what stands why a write must not be recorded.
func permittedBy(s reconcile.Standing, write reconcile.Entry) error {
	if s.Commit == "" {
		s.Commit = write.Asked.Commit
	}
	var longest []diff.Hold
	var reverted []diff.Hold
	for _, h := range s.Holds {
		_, on := diff.HoldOn([]diff.Hold{h}, write.Subject.Zone, write.Subject.Scope)
		switch {
		case !on:
		case !h.Reverted() && (len(longest) == 0 || h.Until.After(longest[0].Until)):
			longest = []diff.Hold{h}
		case h.Reverted() && write.Trigger != reconcile.TriggerRevert:
			reverted = append(reverted, h)
		}
	}
	return write.Permitted(s.Commit, diff.Active(append(longest, reverted...), noon, nil))
}

// The approvals that a commit has carried are known once they are spent or withdrawn, by its hash or by
// what was signed of it, whatever the hash is then.
func TestSpentTrailers(t *testing.T) {
	l, ctx := mustOpen(t, newPath(t)), t.Context()
	commit, other, text := strings.Repeat("1a", 20), strings.Repeat("2b", 20), strings.Repeat("3c", 20)
	agree := func(digest, reason string) {
		must(t, l.Approve(ctx, []reconcile.Approval{{Digest: digest, Kind: reconcile.Approved, Who: "ana", Reason: reason, At: noon}}))
	}
	agree("spent", reconcile.ReasonOfTrailer(commit, text))
	agree("withdrawn", reconcile.ReasonOfTrailer(commit, text))
	agree("counts", reconcile.ReasonOfTrailer(commit, text))
	agree("by an earlier version", "trailer of commit "+commit)
	agree("of another", reconcile.ReasonOfTrailer(other, other))
	agree("of nobody", "on the page: trailer of commit "+commit)
	must(t, errors.Join(l.Spend(ctx, []string{"spent", "by an earlier version", "of another", "of nobody"}), l.Withdraw(ctx, []string{"withdrawn"}, "expired")))
	for asked, want := range map[[2]string][]string{
		{commit, text}:  {"by an earlier version", "spent", "withdrawn"},
		{other, text}:   {"spent", "withdrawn"}, // its signature was written otherwise
		{other, commit}: nil,
	} {
		if got, err := l.SpentTrailers(ctx, asked[0], asked[1]); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: %q, %v", asked, got, err)
		}
	}
}

// What a commit carries is on record also where another word was there first, and counts no more once
// that is spent; nor is what is spent put on record again by who has asked before.
func TestTrailersThatAreNotTheFirstWord(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { wantCountedOnce(t, mustOpen(t, newPath(t))) })
	t.Run("PostgreSQL", func(t *testing.T) { wantCountedOnce(t, connected(t, pgtest.Database(t), "").Ledger) })
}

func wantCountedOnce(t *testing.T, l *Ledger) {
	ctx := t.Context()
	commit, text := strings.Repeat("1a", 20), strings.Repeat("3c", 20)
	agree := func(digest, reason string) {
		must(t, l.Approve(ctx, []reconcile.Approval{{Digest: digest, Kind: reconcile.Approved, Who: "ana", Reason: reason, At: noon}}))
	}
	trailer := reconcile.ReasonOfTrailer(commit, text)
	counts := func() (all []string) {
		standing, err := l.Standing(ctx)
		must(t, err)
		for _, a := range standing.Approvals {
			all = append(all, a.Digest)
		}
		return all
	}
	agree("a review was first", reconcile.ReasonOfReview(7, noon))
	agree("a review was first", trailer)
	agree("a review was first", trailer)
	agree("asked before", trailer)
	must(t, l.Spend(ctx, []string{"a review was first", "asked before"}))
	agree("asked before", trailer)
	agree("asked before", reconcile.ReasonOfTrailer(strings.Repeat("2b", 20), text)) // its signature written otherwise
	if got := counts(); len(got) > 0 {
		t.Errorf("%q count", got)
	}
	want := []string{"a review was first", "asked before"}
	if got, err := l.SpentTrailers(ctx, commit, text); err != nil || !slices.Equal(got, want) {
		t.Errorf("spent are %q, %v", got, err)
	}
	agree("asked before", reconcile.ReasonOfReview(7, noon)) // is another word
	if got := counts(); !slices.Equal(got, want[1:]) {
		t.Errorf("%q count", got)
	}
}

// A review approves a change once, whoever records it. Another review of the pull request may approve it
// again, as may people who say no plan.
func TestAReviewCountsOnce(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { wantReviewedOnce(t, mustOpen(t, newPath(t))) })
	t.Run("PostgreSQL", func(t *testing.T) { wantReviewedOnce(t, connected(t, pgtest.Database(t), "").Ledger) })
}

func wantReviewedOnce(t *testing.T, l *Ledger) {
	ctx := t.Context()
	first, later := reconcile.ReasonOfReview(7, noon), reconcile.ReasonOfReview(7, noon.Add(time.Nanosecond))
	approve := func(digest, reason string) (counts bool) {
		must(t, l.Approve(ctx, []reconcile.Approval{{Digest: digest, Kind: reconcile.Approved, Who: "ana", Reason: reason, At: noon}}))
		standing, err := l.Standing(ctx)
		must(t, err)
		return slices.ContainsFunc(standing.Approvals, func(a reconcile.Approval) bool { return a.Digest == digest })
	}
	for _, c := range []struct {
		digest, reason string
		want           bool
	}{
		{"d1", first, true},
		{"d1", first, false},
		{"d2", first, true},
		{"d1", later, true},
		{"d1", later, false},
		{"d1", "because", true},
		{"d1", "because", true},
		{"d2", first, false},
		{"d1", "review of pull request 7", true},
		{"d1", "review of pull request 7", true},
	} {
		if got := approve(c.digest, c.reason); got != c.want {
			t.Errorf("%s by %q counts: %t", c.digest, c.reason, got)
		}
		must(t, l.Spend(ctx, []string{c.digest}))
	}
	must(t, l.Approve(ctx, []reconcile.Approval{{Digest: "d3", Kind: reconcile.Approved, Who: "bob", At: noon}}))
	approve("d3", first) // bob's word counts for both
	must(t, l.Spend(ctx, []string{"d3"}))
	if approve("d3", first) {
		t.Error("a review counts that another word has counted for")
	}
	for reason, want := range map[string]bool{first: true, "review of pull request 7": true, "review of pull request 7 of": false, "on the page: " + first: false} {
		if number, is := (reconcile.Approval{Reason: reason}).OfReview(); is != want || want && number != 7 {
			t.Errorf("%q is of a review: %t, of %d", reason, is, number)
		}
	}
}
