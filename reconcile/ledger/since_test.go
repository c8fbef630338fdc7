package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile"
)

// view is what a process knows that reads what is new alone.
type view struct {
	reconcile.Record
	parts map[sum][]byte
	whole int // how often it has read everything

	prints map[edge.Scope]string
	mark   reconcile.Mark // of prints
}

// look takes in what is new, as control does.
func (v *view) look(ctx context.Context, l *Ledger) error {
	before := v.Record
	next, err := l.RestoreSince(ctx, reconcile.Known{Mark: v.Mark, Part: func(s sum) bool { _, has := v.parts[s]; return has }})
	if err != nil {
		return err
	}
	if next.Only == nil {
		v.whole++
	} else {
		only := map[edge.Scope]bool{}
		for _, id := range next.Only {
			only[id] = true
		}
		next.Applied, next.Prunable = joined(before.Applied, next.Applied, only), joined(before.Prunable, next.Prunable, only)
		next.NonConvergent, next.Tries = joined(before.NonConvergent, next.NonConvergent, only), joined(before.Tries, next.Tries, only)
		maps.DeleteFunc(before.Proofs, func(id edge.Scope, _ reconcile.Proof) bool { return only[id] })
		maps.Copy(before.Proofs, next.Proofs)
		next.Proofs = before.Proofs
	}
	for i, p := range next.Accepted.Parts {
		if p.Data == nil {
			next.Accepted.Parts[i].Data = v.parts[p.Sum]
		}
	}
	if parts := next.Accepted.Parts; len(parts) > 0 {
		next.Accepted.State = reconcile.Joined(parts)
		v.parts = map[sum][]byte{}
		for _, p := range parts {
			v.parts[p.Sum] = p.Data
		}
	}
	v.Record = next
	return nil
}

func joined[M ~map[diff.ID]V, V any](before, next M, only map[edge.Scope]bool) M {
	maps.DeleteFunc(before, func(id diff.ID, _ V) bool { return only[id.Scope] })
	maps.Copy(before, next)
	return before
}

// want compares the view with everything on record.
func (v *view) want(t interface {
	Helper()
	Fatalf(string, ...any)
}, l *Ledger,
) {
	t.Helper()
	all, err := l.Restore(context.Background())
	if err != nil {
		t.Fatalf("%v", err)
	}
	ignored := cmpopts.IgnoreFields(reconcile.Record{}, "Mark", "Only")
	if d := cmp.Diff(all, v.Record, ignored, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(reconcile.Accepted{}, "Parts")); d != "" {
		t.Fatalf("what was read bit by bit is not what is on record (-on record +read):\n%s", d)
	}
	prints, err := l.Fingerprints(context.Background())
	if err == nil {
		v.prints, v.mark, err = l.FingerprintsSince(context.Background(), v.prints, v.mark)
	}
	if err != nil || !maps.Equal(prints, v.prints) {
		t.Fatalf("%v: of what was proved is on record %v, and was read %v", err, prints, v.prints)
	}
}

// recording are calls about a few zones that change what is on record of them.
var recording = map[string]func(ctx context.Context, l *Ledger, n, m int) error{
	"accept": func(ctx context.Context, l *Ledger, n, m int) error {
		a := reconcile.Acceptance{Commit: fmt.Sprint("c", n)}
		if m == 0 {
			a.Gone = []edge.Scope{said(n)}
		}
		if m == 1 {
			a.Keep = []diff.ID{{Scope: said(n), Ruleset: "r0"}}
		}
		return l.AcceptCommit(ctx, a)
	},
	"save": func(ctx context.Context, l *Ledger, n, m int) error {
		parts := []reconcile.StatePart{reconcile.PartOf([]byte("head")), reconcile.PartOf([]byte(fmt.Sprint("part ", m))), reconcile.PartOf([]byte("common"))}
		return l.SaveState(ctx, fmt.Sprint("c", n), parts)
	},
	"prove": func(ctx context.Context, l *Ledger, n, m int) error {
		s := diff.Settled{ID: diff.ID{Scope: said(n), Ruleset: "r0"}, Owned: []diff.Member{diff.Member(fmt.Sprint("m", m))}}
		if m == 2 {
			s.Prune = &diff.Prunable{Deployment: "d"}
		}
		proof := reconcile.Proof{Scope: said(n), Fingerprint: fmt.Sprint("f", m), Labels: map[string]string{"m": fmt.Sprint(m)}, Commit: "c1"}
		return l.Prove(ctx, "c1", []reconcile.Proof{proof}, []diff.Settled{s})
	},
	"widen": func(ctx context.Context, l *Ledger, n, m int) error {
		return l.Widen(ctx, []diff.Settled{{ID: diff.ID{Scope: said(n), Ruleset: edge.RulesetID(fmt.Sprint("r", m))}, Owned: []diff.Member{"w"}}})
	},
	"not kept": func(ctx context.Context, l *Ledger, n, m int) error {
		return l.NonConvergent(ctx, diff.ID{Kind: desired.KindName("exception"), Scope: said(n), Ref: "x"}, fmt.Sprint("f", m))
	},
	"tried": func(ctx context.Context, l *Ledger, n, m int) error {
		return l.Tried(ctx, diff.ID{Kind: desired.KindName("exception"), Scope: said(n), Ref: "x"}, diff.Try{At: noon, Next: noon.Add(time.Duration(m) * time.Hour)})
	},
	"forget": func(ctx context.Context, l *Ledger, n, m int) error {
		return l.Forget(ctx, []diff.ID{{Scope: said(n), Ruleset: edge.RulesetID(fmt.Sprint("r", m))}})
	},
	"drift": func(ctx context.Context, l *Ledger, n, m int) error {
		return l.Drifted(ctx, []reconcile.Drift{{Scope: said(n), At: noon.Add(time.Duration(m) * time.Minute)}}, noon)
	},
}

// Whatever two processes put on record, and however often a third one looks: what it has read of the
// zones that have changed is what is on record of all.
func TestWhatIsNewIsAllThatIsNew(t *testing.T) {
	t.Parallel()
	server := ledgersOn(t, pgtest.Shared(t))
	pooled, key := server.Pooler(t), newKey(t) // whose connections know their tables
	some := 0
	rapid.Check(t, func(rt *rapid.T) {
		url := pooled(pgtest.Name(server.empty(rapidT{t, rt})))
		a, b := rapidConnected(t, rt, url, key), rapidConnected(t, rt, url, key)
		var v view
		names := slices.Sorted(maps.Keys(recording))
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			l := rapid.SampledFrom([]*Ledger{a, b}).Draw(rt, "by")
			what := rapid.SampledFrom(append([]string{"look", "look"}, names...)).Draw(rt, "what")
			if what == "look" {
				mustRapid(rt, v.look(rt.Context(), l))
				v.want(rt, l)
				continue
			}
			mustRapid(rt, recording[what](rt.Context(), l, rapid.IntRange(0, 3).Draw(rt, "zone"), rapid.IntRange(0, 2).Draw(rt, "how")))
		}
		mustRapid(rt, v.look(rt.Context(), a))
		v.want(rt, a)
		if v.Only != nil {
			some++
		}
	})
	if some == 0 {
		t.Error("each look has read everything")
	}
}

// In whatever order transactions begin, write and end, also those that a person makes by hand, and
// whenever a process looks: none of what they have changed is missed. Numbers are given when a row is
// written and seen when its transaction ends, so without the lock in note_zone a look between the two
// would pass one by.
func TestNoChangeIsPassedBy(t *testing.T) {
	t.Parallel()
	server := ledgersOn(t, pgtest.Shared(t))
	key := newKey(t)
	waited := 0
	rapid.Check(t, func(rt *rapid.T) {
		url := server.empty(rapidT{t, rt})
		l := rapidConnected(t, rt, url, key)
		db, err := sql.Open("pgx", url)
		mustRapid(rt, err)
		defer db.Close()
		mustRapid(rt, l.Prove(rt.Context(), "", []reconcile.Proof{{Scope: said(9), Fingerprint: "f"}}, nil)) // there is a mark
		var v view
		mustRapid(rt, v.look(rt.Context(), l))
		open := map[int]*sql.Tx{}
		for n := range rapid.IntRange(10, 40).Draw(rt, "steps") {
			i := rapid.IntRange(0, 1).Draw(rt, "transaction")
			tx := open[i]
			switch what := rapid.SampledFrom([]string{"write", "write", "end", "undo", "look"}).Draw(rt, "what"); {
			case what == "look":
				mustRapid(rt, v.look(rt.Context(), l))
				v.want(rt, l)
			case what == "write":
				if tx == nil {
					tx, err = db.BeginTx(rt.Context(), nil)
					mustRapid(rt, err)
					open[i] = tx
				}
				const write = `SET LOCAL lock_timeout = '15ms'; INSERT INTO proved (zone_id, fingerprint, labels, "commit") VALUES ('%d', '%d', '{}', 'c')
					ON CONFLICT (zone_id) DO UPDATE SET fingerprint = excluded.fingerprint`
				if _, err := tx.ExecContext(rt.Context(), fmt.Sprintf(write, 3*i+rapid.IntRange(0, 3).Draw(rt, "zone"), n)); err != nil { // another has the lock
					waited++
					_ = tx.Rollback()
					delete(open, i)
				}
			case tx == nil:
			case what == "end":
				mustRapid(rt, tx.Commit())
				delete(open, i)
			default:
				mustRapid(rt, tx.Rollback())
				delete(open, i)
			}
		}
		for _, tx := range open {
			mustRapid(rt, tx.Commit())
		}
		mustRapid(rt, v.look(rt.Context(), l))
		v.want(rt, l)
		if v.whole != 1 {
			rt.Fatalf("everything was read %d times, want once", v.whole)
		}
	})
	if waited == 0 {
		t.Error("no transaction has met another one")
	}
}

// Where the last change that a process has seen is not there any more, it reads everything: the server
// was put back to before it, so that its number tells of something else now; or it was dropped, or all
// was emptied at once.
func TestUnknownMark(t *testing.T) {
	l := connected(t, begun(t), newKey(t))
	for _, harm := range []string{
		`UPDATE zone_change SET mark = mark + 1`,
		`DELETE FROM zone_change`,
		`TRUNCATE proved`,
	} {
		prove := func(n int) {
			t.Helper()
			must(t, l.Prove(t.Context(), "", []reconcile.Proof{{Scope: said(n), Fingerprint: "f" + harm}}, nil))
		}
		prove(1)
		var v view
		must(t, v.look(t.Context(), l.Ledger))
		prove(2)
		must(t, v.look(t.Context(), l.Ledger))
		if v.whole != 1 || len(v.Only) != 1 {
			t.Errorf("before: everything was read %d times; %v", v.whole, v.Only)
		}
		mustExec(t, l.Ledger, harm)
		prove(3)
		must(t, v.look(t.Context(), l.Ledger))
		v.want(t, l.Ledger)
		if v.whole != 2 {
			t.Errorf("%s: everything was read %d times, want 2", harm, v.whole)
		}
	}
}

// A part that is missing, and is not at hand, fails all.
func TestPartThatIsNotAtHand(t *testing.T) {
	l := connected(t, begun(t), newKey(t))
	must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "c"}))
	must(t, l.Prove(t.Context(), "c", []reconcile.Proof{{Scope: said(1), Fingerprint: "f"}}, nil))
	must(t, l.SaveState(t.Context(), "c", []reconcile.StatePart{reconcile.PartOf([]byte("head")), reconcile.PartOf([]byte("part"))}))
	record, err := l.Restore(t.Context())
	must(t, err)
	known := reconcile.Known{Mark: record.Mark, Part: func(s sum) bool { return s == reconcile.PartOf([]byte("head")).Sum }}
	got, err := l.RestoreSince(t.Context(), known)
	must(t, err)
	if parts := got.Accepted.Parts; len(parts) != 2 || parts[0].Data != nil || !bytes.Equal(parts[1].Data, []byte("part")) || got.Accepted.State != nil {
		t.Errorf("%+v", got.Accepted)
	}
	mustExec(t, l.Ledger, `DELETE FROM state_part WHERE data = 'part'`)
	if _, err := l.RestoreSince(t.Context(), known); err == nil {
		t.Error("a part is missing, and the rest is read")
	}
}

// rapidT is a test whose cleanup runs after each draw.
type rapidT struct {
	testing.TB
	rt *rapid.T
}

func (r rapidT) Cleanup(do func()) { r.rt.Cleanup(do) }

func mustRapid(rt *rapid.T, err error) {
	rt.Helper()
	if err != nil {
		rt.Fatal(err)
	}
}

func rapidConnected(t *testing.T, rt *rapid.T, url, key string) *Ledger {
	l := connected(rapidT{t, rt}, url, key)
	return l.Ledger
}

// A process that begins over a database with nothing of any zone reads what is new alone from then on, too.
func TestNewsOfAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	l := connected(t, begun(t), newKey(t)).Ledger
	mustLock(t, l)
	var v view
	must(t, v.look(t.Context(), l))
	must(t, v.look(t.Context(), l))
	must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "c1"}))
	for n := range 3 {
		must(t, recording["prove"](t.Context(), l, n, n))
		must(t, v.look(t.Context(), l))
		v.want(t, l)
	}
	if v.whole != 1 {
		t.Errorf("it has read everything %d times, want once", v.whole)
	}
	_, err := l.Database().ExecContext(t.Context(), `TRUNCATE proved, applied, nonconvergent`)
	must(t, err)
	must(t, v.look(t.Context(), l))
	v.want(t, l)
	late := view{}
	must(t, late.look(t.Context(), l))
	must(t, recording["prove"](t.Context(), l, 7, 1))
	must(t, late.look(t.Context(), l))
	late.want(t, l)
}
