package revert_test

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/revert"
)

// plan is what the daemon would do in a zone.
func (w *world) plan(i int) diff.Plan {
	g, id := w.control.Current(), mem.FleetZone(i)
	t, _ := w.control.Task(g, id)
	sight, err := w.worker.Read(context.Background(), t)
	must.Do(w, err)
	plan, _ := w.control.Guard(g, id, w.worker.Plan(t, sight))
	return plan
}

// agree has a person agree, in another process, to all that waits: zone by zone, or to
// everything with one digest.
func (w *world) agree(once bool) {
	var list []reconcile.Approval
	var all []diff.Change
	say := func(digest string) {
		list = append(list, reconcile.Approval{Digest: digest, Kind: reconcile.Approved, Who: "kim", At: w.Now()})
	}
	for _, i := range w.all() {
		w.look(i)
	}
	for _, i := range w.all() {
		for _, c := range w.plan(i).Changes {
			if all = append(all, c); !once {
				say(c.ApprovalDigest())
			}
		}
	}
	if once {
		say(diff.ApprovalDigest(all))
	}
	must.Do(w, w.open().Approve(context.Background(), list))
	w.tick()
}

func (w *world) tick() {
	_, err := w.control.Tick(context.Background())
	must.Do(w, err)
}

// TestWhatWasAgreedToEndsWithItsCommit: an approval of a commit that was stopped before it
// was in all zones counts for no later commit that declares the same, in any process.
func TestWhatWasAgreedToEndsWithItsCommit(t *testing.T) {
	soak.Draws(t, 30) // each writes to a disk many times
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rt, dir)
		w.guards.Rules = []guard.Rule{{Name: "all", Approve: guard.ApproveAll}}
		good, bad := func(int) string { return "xss" }, func(int) string { return "php" }
		w.start()
		w.push("c1good", good)
		w.agree(false)
		w.sweep()
		w.wantOff("before", good)

		w.later(rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(rt, "later"))
		w.push("c2bad", bad)
		w.agree(rapid.Bool().Draw(rt, "with one digest"))
		order := rapid.Permutation(w.all()).Draw(rt, "order")
		for _, i := range order[:rapid.IntRange(0, w.n).Draw(rt, "reached")] {
			w.look(i)
			if rapid.Bool().Draw(rt, "tick") {
				w.tick()
			}
		}
		if rapid.Bool().Draw(rt, "the daemon starts anew") {
			w.start()
		}
		run := &revert.Run{
			Records: w.open(), Guards: w.guards, Now: w.Now,
			Lanes: reconcile.OneLane(reconcile.Lane{Reader: w.platform, Writer: w.platform, Concurrency: 2}),
		}
		planned, err := run.Plan(context.Background(), revert.Order{Filter: reconcile.HistoryFilter{Commit: "c2bad"}, Who: "lee"})
		must.Do(w, err)
		report := run.Apply(context.Background(), planned)
		must.Do(w, report.Err)
		w.tick()

		reached := map[int]bool{} // what a guard kept from being put back stays as it is
		for _, i := range w.all() {
			reached[i] = w.off(i)[0] == "php"
		}
		w.push("c3good", func(i int) string { return map[bool]string{true: "php", false: "xss"}[reached[i]] })
		w.sweep()
		if rapid.Bool().Draw(rt, "another daemon") {
			w.start()
		}
		w.push("c4bad", bad)
		for range 2 {
			w.sweep()
		}
		for _, i := range w.all() {
			if !reached[i] && w.off(i)[0] == "php" {
				rt.Fatalf("zone %d is as commit c2bad declared it, and nobody agreed to c4bad", i)
			}
		}
	})
}
