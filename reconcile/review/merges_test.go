package review

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/outage"
)

func TestMergesSettleOnce(t *testing.T) {
	sent := make(chan string, 10)
	fail := true
	m := NewMerges(func(_ context.Context, commit string, mark reconcile.CommitStatus) error {
		if fail {
			fail = false
			return errors.New("503")
		}
		sent <- commit + " " + mark.String()
		return nil
	}, slog.New(slog.DiscardHandler), outage.New(outage.Config{Now: time.Now}))
	m.Begin("c1")
	m.Begin("c1")
	unfinished := reconcile.Report{Commit: "c1", Fleet: reconcile.Fleet{Unfinished: 3}}
	m.Report(t.Context(), unfinished)
	m.Report(t.Context(), reconcile.Report{Commit: "c1", Results: []reconcile.Result{{Outcome: reconcile.Converged}}})
	m.Report(t.Context(), reconcile.Report{Commit: "c1"})
	m.Report(t.Context(), reconcile.Report{Commit: "c1", Held: &reconcile.Held{Commit: "c2", Reason: "2 mistakes\nin it"}})
	m.Report(t.Context(), reconcile.Report{Commit: "c1", Held: &reconcile.Held{Commit: "c2", Reason: "2 mistakes\nin it", Again: true}})
	m.Begin("c1")
	want := []string{"c1 seawall/apply pending: applying", "c1 seawall/apply success: converged: 1 applied and proved", "c2 seawall/apply failure: held: 2 mistakes in it"}
	if len(m.statuses.queue) != len(want) {
		t.Fatalf("queued %+v", m.statuses.queue)
	}
	for i, q := range m.statuses.queue {
		if got := q.commit + " " + q.status.String(); got != want[i] {
			t.Errorf("queued %q, want %q", got, want[i])
		}
	}
	for range 200 {
		m.push("c", reconcile.CommitStatus{})
	}
	if len(m.statuses.queue) != mostStatuses {
		t.Errorf("%d wait for a forge that is down", len(m.statuses.queue))
	}
}

func TestMergesSettleWhatIsReplaced(t *testing.T) {
	m := NewMerges(nil, slog.New(slog.DiscardHandler), outage.New(outage.Config{Now: time.Now}))
	m.Begin("c1")
	m.Report(t.Context(), reconcile.Report{Commit: "c1"})
	m.Begin("c2")
	m.Report(t.Context(), reconcile.Report{Commit: "c2", Fleet: reconcile.Fleet{Unfinished: 1}})
	m.Begin("c3")
	m.Begin("c1") // somebody moved the branch back
	m.Report(t.Context(), reconcile.Report{Commit: "c1"})
	var got []string
	for _, q := range m.statuses.queue {
		got = append(got, q.commit+" "+string(q.status.State))
	}
	want := []string{"c1 pending", "c1 success", "c2 pending", "c2 failure", "c3 pending", "c3 failure"}
	if !slices.Equal(got, want) {
		t.Errorf("queued %v", got)
	}
}

func TestMergesAreNotHeldUpByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []string
		m := NewMerges(func(_ context.Context, commit string, mark reconcile.CommitStatus) error {
			if commit == "gone" {
				return errors.New("422: no commit found")
			}
			sent = append(sent, commit+" "+string(mark.State))
			return nil
		}, slog.New(slog.DiscardHandler), outage.New(outage.Config{Now: time.Now}))
		m.Begin("gone")
		m.Report(t.Context(), reconcile.Report{Commit: "gone"})
		m.Begin("c2")
		m.Report(t.Context(), reconcile.Report{Commit: "c2"})
		ctx, cancel := context.WithCancel(t.Context())
		go m.Run(ctx)
		time.Sleep(5 * retry.Status.First)
		synctest.Wait()
		cancel()
		if !slices.Equal(sent, []string{"c2 pending", "c2 success"}) || len(m.statuses.queue) != 2 {
			t.Errorf("sent %v, %d wait", sent, len(m.statuses.queue))
		}
	})
}

func TestMergesOfSeveralRuns(t *testing.T) {
	change := func(n int, refused bool) diff.Change {
		c := diff.Change{Zone: fmt.Sprint("zone-", n), Operation: diff.RuleOperation{Do: diff.ActionUpdate}}
		if refused {
			c.Refused = &diff.Refusal{Guard: diff.GuardApproval}
		}
		return c
	}
	run := func(unfinished int, results []reconcile.Result, changes ...diff.Change) reconcile.Report {
		return reconcile.Report{Commit: "c1", Fleet: reconcile.Fleet{Unfinished: unfinished}, Results: results, Plan: diff.Plan{Changes: changes}}
	}
	m := NewMerges(nil, slog.New(slog.DiscardHandler), outage.New(outage.Config{Now: time.Now}))
	last := func() string { return m.statuses.queue[len(m.statuses.queue)-1].status.String() }
	m.Begin("c1")
	m.Report(t.Context(), run(1, []reconcile.Result{{Change: change(2, false), Outcome: reconcile.Failed}}, change(1, true), change(2, false)))
	if len(m.statuses.queue) != 1 {
		t.Errorf("settled too early: %s", last())
	}
	m.Report(t.Context(), run(0, []reconcile.Result{{Change: change(2, false), Outcome: reconcile.Converged}}, change(2, false)))
	if got := last(); got != "seawall/apply failure: not converged: 1 change was not made" {
		t.Errorf("marked %q", got)
	}
	m.Report(t.Context(), run(0, nil))
	m.Report(t.Context(), run(0, nil, change(1, true)))
	if len(m.statuses.queue) != 2 {
		t.Errorf("marked again: %s", last())
	}
	m.Report(t.Context(), run(0, []reconcile.Result{{Change: change(1, false), Outcome: reconcile.Converged}}, change(1, false)))
	m.Report(t.Context(), run(0, nil))
	if got := last(); len(m.statuses.queue) != 3 || got != "seawall/apply success: converged: 1 applied and proved" {
		t.Errorf("%d marks, the last %q", len(m.statuses.queue), got)
	}
}
