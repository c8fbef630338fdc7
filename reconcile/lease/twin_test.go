package lease

import (
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

	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
)

// twin is what the statements are held to: the tables, in memory.
type twin struct {
	rules
	now  time.Time
	rows map[reconcile.LeaseName]Row
	move move
	live map[string]time.Time // replicas, and until when they are seen
}

func (w *twin) all() (rows []Row) {
	for _, name := range slices.Sorted(maps.Keys(w.rows)) {
		r := w.rows[name]
		_, r.Free = r.free(w.now)
		if w.move.lease == name && w.move.epoch == r.Epoch && w.now.Before(w.move.until) {
			r.MovesTo = w.move.replica
		}
		r.Live = w.live[r.Replica].After(w.now)
		rows = append(rows, r)
	}
	return rows
}

// TestStatementsAreTheProtocol: each statement does to the tables what its twin does to values.
func TestStatementsAreTheProtocol(t *testing.T) {
	soak.Draws(t, 40) // each sends some hundred statements
	db := open(t, clocked(t))
	names := []reconcile.LeaseName{"a", "b"}
	rapid.Check(t, func(t *rapid.T) {
		w := &twin{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), rows: map[reconcile.LeaseName]Row{}, live: map[string]time.Time{}}
		do := func(statement string, args ...any) {
			if _, err := db.ExecContext(context.Background(), statement, args...); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		do(`TRUNCATE lease, replica`)
		do(`UPDATE fake.clock SET at = $1`, w.now)
		do(`UPDATE lease_move SET lease = '', epoch = 0, replica = '', until = '-infinity'`)
		for _, name := range names {
			do(makeLease, string(name))
			w.rows[name] = Row{Name: name, GivenUp: true, Since: w.now, ExpiresAt: w.now}
		}
		replicas := rapid.SampledFrom([]string{"one", "two"})
		epochs := rapid.Int64Range(0, 4)
		t.Repeat(map[string]func(*rapid.T){
			"pass": func(t *rapid.T) {
				w.now = w.now.Add(rapid.SampledFrom([]time.Duration{1, 2, 4, 6, 12, 14, 61}).Draw(t, "seconds") * time.Second)
				do(`UPDATE fake.clock SET at = $1`, w.now)
			},
			"take": func(t *rapid.T) {
				name, replica := rapid.SampledFrom(names).Draw(t, "name"), replicas.Draw(t, "replica")
				row, ok := w.take(w.rows[name], w.now, replica)
				w.rows[name] = row
				got := take(t, db, name, replica)
				if want := map[bool][]int64{true: {row.Epoch}}[ok]; !slices.Equal(got, want) {
					t.Fatalf("taken under %v, want %v", got, want)
				}
			},
			"renew": func(t *rapid.T) {
				replica := replicas.Draw(t, "replica")
				all := []int64{epochs.Draw(t, "epoch"), epochs.Draw(t, "epoch")}
				got, err := query(context.Background(), db, renewLeases, scan[string], replica, []string{"a", "b"}, all, lasts.Seconds())
				if err != nil {
					t.Fatal(err)
				}
				for i, name := range names {
					row, ok := w.renew(w.rows[name], w.now, replica, all[i])
					if w.rows[name] = row; ok != slices.Contains(got, string(name)) {
						t.Fatalf("renewed: %v", got)
					}
				}
			},
			"give up": func(t *rapid.T) {
				name, replica, epoch := rapid.SampledFrom(names).Draw(t, "name"), replicas.Draw(t, "replica"), epochs.Draw(t, "epoch")
				do(giveUpLease, string(name), replica, epoch)
				w.rows[name], _ = w.giveUp(w.rows[name], w.now, replica, epoch)
			},
			"move": func(t *rapid.T) {
				name, replica, epoch := rapid.SampledFrom(names).Draw(t, "name"), replicas.Draw(t, "replica"), epochs.Draw(t, "epoch")
				do(beginMove, string(name), epoch, replica, moveWithin.Seconds())
				w.move, _ = w.move.begin(w.now, name, epoch, replica, w.all())
			},
			"beat": func(t *rapid.T) {
				replica := replicas.Draw(t, "replica")
				do(setReplica, replica, "v", lasts.Seconds(), rapid.Bool().Draw(t, "first"))
				w.live[replica] = w.now.Add(lasts)
			},
			"forget": func(t *rapid.T) {
				replica := replicas.Draw(t, "replica")
				do(forgetReplicas, replica)
				delete(w.live, replica)
			},
			"": func(t *rapid.T) {
				look, err := LookAt(context.Background(), db)
				if err != nil {
					t.Fatal(err)
				}
				got := look.view(names)
				if diff := cmp.Diff(w.all(), got.rows, cmpopts.EquateApproxTime(0)); diff != "" {
					t.Fatalf("(-twin +database)\n%s", diff)
				}
				live := 0
				for _, until := range w.live {
					if until.After(w.now) {
						live++
					}
				}
				if got.live != live || !got.now.Equal(w.now) {
					t.Fatalf("%d live at %v, want %d at %v", got.live, got.now, live, w.now)
				}
			},
		})
	})
}

func take(t interface{ Fatal(...any) }, db *sql.DB, name reconcile.LeaseName, replica string) []int64 {
	got, err := query(context.Background(), db, takeLease, scan[int64], string(name), rest.Seconds(), replica, lasts.Seconds())
	if err != nil {
		t.Fatal(fmt.Errorf("taking: %w", err))
	}
	return got
}
