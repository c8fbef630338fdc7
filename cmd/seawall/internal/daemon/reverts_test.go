package daemon

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// planned plans a revert and returns the plan.
func (h *house) planned(t *testing.T, commit string) page.RevertPlan {
	t.Helper()
	if _, err := h.PlanRevert(t.Context(), operatorOf(), commit); err != nil {
		t.Fatal(err)
	}
	h.pass(time.Second)
	going := h.Reverting()
	if going.Stage != page.RevertPlanned || going.Plan == nil {
		t.Fatalf("not planned: %+v", going)
	}
	return *going.Plan
}

func (h *house) want(t *testing.T, tags ...string) {
	t.Helper()
	for i, want := range tags {
		if got := tagsOff(h, i+1); got != want {
			t.Errorf("zone %d has %q off, want %q", i+1, got, want)
		}
	}
}

// A revert does what was shown, once, whoever goes on waiting for it, and the daemon leaves the
// zones so.
func TestRevert(t *testing.T) {
	t.Parallel()
	inBubble(t, 3, reconcile.Guards{}, reconciletest.Zones(3, core("xss")), func(t *testing.T, h *house) {
		h.push("c2", reconciletest.Zones(2, core("sqli"))...)
		h.want(t, "sqli", "sqli", "xss")
		if _, err := h.PlanRevert(t.Context(), operatorOf("tier", "gold"), "c2"); refused(err) != 403 {
			t.Errorf("by a right to some zones: %v", err)
		}
		if _, err := h.PlanRevert(t.Context(), operatorOf(), "c9"); refused(err) != 404 {
			t.Errorf("an unknown commit: %v", err)
		}
		if _, err := h.PlanRevert(t.Context(), operatorOf(), "c"); refused(err) != 400 {
			t.Errorf("several commits: %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := h.PlanRevert(gone, operatorOf(), "c2"); err == nil { // its entry was not made
			t.Error("planned without an entry in the history")
		}
		plan := h.planned(t, "c2")
		if plan.Zones != 2 || plan.Stops != 0 || !strings.Contains(plan.Text, "zone-00001.example") {
			t.Errorf("%+v", plan)
		}
		h.want(t, "sqli", "sqli", "xss")
		who := operatorOf()
		for name, order := range map[string][2]string{"another digest": {"c2", "sha256:1"}, "another commit": {"c1", plan.Digest}, "none": {"c2", ""}} {
			if _, err := h.Revert(t.Context(), who, order[0], order[1]); refused(err) != 409 {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := h.Revert(t.Context(), operatorOf("tier", "gold"), "c2", plan.Digest); refused(err) != 403 {
			t.Errorf("by a right to some zones: %v", err)
		}
		said, err := h.Revert(gone, who, "c2", plan.Digest)
		again, second := h.Revert(t.Context(), who, "c2", plan.Digest)
		if err != nil || second != nil || said == again {
			t.Errorf("%s, %s: %v %v", said, again, err, second)
		}
		h.pass(2 * time.Minute)
		h.want(t, "xss", "xss", "xss")
		if going := h.Reverting(); going.Stage != page.RevertEnded || going.Failed || !strings.Contains(going.Result, "2 zones put back") || going.Who != who.Name {
			t.Errorf("%+v", going)
		}
		if again, err = h.Revert(t.Context(), who, "c2", plan.Digest); err != nil || !strings.Contains(again, "has ended") {
			t.Errorf("%s %v", again, err)
		}
		if e := h.entries(reconcile.ActionRevert); len(e) != 1 || e[0].Asked.User != who.Name {
			t.Errorf("history: %+v", e)
		}
		if _, err := h.Release(t.Context(), who, mem.FleetZone(1)); err != nil {
			t.Error(err)
		}
		h.pass(soon)
		h.want(t, "sqli", "xss", "xss")
	})
}

// What was shown is done only while it stands.
func TestRevertOfAnOldPlan(t *testing.T) {
	t.Parallel()
	inBubble(t, 2, reconcile.Guards{}, reconciletest.Zones(2, core("xss")), func(t *testing.T, h *house) {
		h.push("c2", reconciletest.Zones(2, core("sqli"))...)
		old := h.planned(t, "c2")
		h.push("c3", labelled(reconciletest.Zone(1, core("sqli")), "tier", "gold"), reconciletest.Zone(2, core("sqli")))
		if _, err := h.Revert(t.Context(), operatorOf(), "c2", old.Digest); refused(err) != 409 {
			t.Errorf("after another commit: %v", err)
		}
		late := h.planned(t, "c2")
		if late.Digest == old.Digest {
			t.Error("two plans of different commits in force have one digest")
		}
		h.pass(planCounts)
		if _, err := h.Revert(t.Context(), operatorOf(), "c2", late.Digest); refused(err) != 409 {
			t.Errorf("after a long time: %v", err)
		}
		h.want(t, "sqli", "sqli")
		// A zone was changed since: the plan is shown once more, without it.
		fresh := h.planned(t, "c2")
		h.Click(1, reconciletest.SwitchedOff("rfi"))
		if _, err := h.Revert(t.Context(), operatorOf(), "c2", fresh.Digest); refused(err) != 409 {
			t.Errorf("after a change by hand: %v", err)
		}
		h.want(t, "rfi", "sqli")
		newest := h.Reverting()
		if newest.Stage != page.RevertPlanned || newest.Plan.Digest == fresh.Digest || newest.Plan.Zones != 1 || newest.Result == "" {
			t.Errorf("%+v", newest)
		}
		if _, err := h.Revert(t.Context(), operatorOf(), "c2", newest.Plan.Digest); err != nil {
			t.Error(err)
		}
		h.pass(soon)
		h.want(t, "rfi", "xss")
	})
}

// When the daemon is stopped, a write that was sent is finished, and none begins.
func TestRevertEndsWithTheDaemon(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inTime(t, func(t *testing.T) {
		h := newHouse(t, dir, 40, reconcile.Guards{}, reconciletest.Zones(40, core("xss"))...)
		h.push("c2", reconciletest.Zones(40, core("sqli"))...)
		plan := h.planned(t, "c2")
		var writes atomic.Int64
		h.hand.hear(func(call string, _ edge.Scope) error {
			if call == "write" {
				writes.Add(1)
				time.Sleep(3 * time.Second)
			}
			return nil
		})
		if _, err := h.Revert(t.Context(), operatorOf(), "c2", plan.Digest); err != nil {
			t.Fatal(err)
		}
		h.pass(time.Second)
		before := writes.Load()
		h.stop()
		back := 0
		for i := range 40 {
			if tagsOff(h, i+1) == "xss" {
				back++
			}
		}
		going := h.Reverting()
		if before == 0 || before == 40 || writes.Load() != before || back != int(before) || going.Stage != page.RevertEnded || !going.Failed || !strings.Contains(going.Result, "ended early") {
			t.Errorf("%d of %d writes, %d zones put back: %+v", before, writes.Load(), back, going)
		}
		if _, err := h.Revert(t.Context(), operatorOf(), "c2", "sha256:1"); refused(err) != 503 {
			t.Errorf("after the end: %v", err)
		}
	})
}

// A commit that is still being written is stopped: what was written between the plan and the
// order is put back, and no zone is written twice at the same time.
func TestRevertBesideWorkers(t *testing.T) {
	t.Parallel()
	const n = 150
	inBubble(t, n, reconcile.Guards{}, reconciletest.Zones(n, core("xss")), func(t *testing.T, h *house) {
		atOnce := map[edge.Scope]*atomic.Int64{}
		for _, id := range scopes(n) {
			atOnce[id] = &atomic.Int64{}
		}
		var together, writes atomic.Int64
		h.hand.hear(func(call string, zone edge.Scope) error {
			if call == "write" {
				writes.Add(1)
				if atOnce[zone].Add(1) > 1 {
					together.Add(1)
				}
				time.Sleep(time.Second)
				atOnce[zone].Add(-1)
			}
			return nil
		})
		h.repo.Push("c2", reconciletest.Zones(n, core("sqli"))...)
		h.git.Poke()
		h.pass(2500 * time.Millisecond)
		plan := h.planned(t, "c2")
		if plan.Stops == 0 || plan.Zones == 0 || plan.Zones+plan.Stops > n {
			t.Fatalf("%+v", plan)
		}
		h.pass(time.Second)
		if _, err := h.Revert(t.Context(), operatorOf(), "c2", plan.Digest); err != nil {
			t.Fatal(err)
		}
		h.pass(5 * time.Minute)
		want := make([]string, n)
		for i := range want {
			want[i] = "xss"
		}
		h.want(t, want...)
		if going := h.Reverting(); together.Load() > 0 || int(writes.Load()) <= 2*plan.Zones || writes.Load() >= 2*n || going.Failed {
			t.Errorf("%d writes, %d at the same time as another: %+v; planned: %d, %d", writes.Load(), together.Load(), going, plan.Zones, plan.Stops)
		}
	})
}

func scopes(n int) (all []edge.Scope) {
	for i := range n {
		all = append(all, mem.FleetZone(i+1))
	}
	return all
}
