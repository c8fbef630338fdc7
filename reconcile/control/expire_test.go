package control

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// Approvals expire unless a rollout has begun on them, and that goes on record.
func TestApprovalsExpire(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := noon
	records := &reconcile.Forgetful{}
	c, err := New(t.Context(), Config{
		Records: records, Now: func() time.Time { return now },
		Guards: reconcile.Guards{ApprovalsExpire: 7 * 24 * time.Hour, Rules: []guard.Rule{{Name: "calm", Approve: guard.ApproveAll}}},
	})
	must.Do(t, err)
	tick := func(at time.Duration, want ...string) {
		t.Helper()
		now = noon.Add(at)
		if _, err := c.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		standing, err := records.Standing(t.Context())
		if err != nil || len(standing.Approvals) != len(want) || len(c.state.approvals.digests) != len(want) {
			t.Errorf("after %v: on record %+v, counted %v, want %v", at, standing.Approvals, c.state.approvals.digests, want)
		}
		for _, digest := range want {
			if !c.state.approvals.digests[digest] {
				t.Errorf("after %v: %s does not count", at, digest)
			}
		}
	}
	early, late := reconcile.Approval{Digest: "early", Kind: reconcile.Approved, At: noon}, reconcile.Approval{Digest: "late", Kind: reconcile.Approved, At: noon.Add(48 * time.Hour)}
	used := reconcile.Approval{Digest: "used", Kind: reconcile.Approved, At: noon}
	must.Do(t, records.Approve(t.Context(), []reconcile.Approval{early, late, used}))
	tick(time.Hour, "early", "late", "used")
	c.state.approvals.used.add("used")
	tick(2*time.Hour, "early", "late", "used")
	if standing, _ := records.Standing(t.Context()); !standing.Approvals[2].Used {
		t.Errorf("on record %+v", standing.Approvals)
	}
	tick(7*24*time.Hour-time.Second, "early", "late", "used")
	tick(7*24*time.Hour, "late", "used")
	tick(9*24*time.Hour, "used")
	tick(900*24*time.Hour, "used")
}

// stillSaid are records that nobody else writes to.
type stillSaid struct {
	*reconcile.Forgetful
	reads int
}

func (r *stillSaid) Standing(ctx context.Context) (reconcile.Standing, error) {
	r.reads++
	s, err := r.Forgetful.Standing(ctx)
	s.Said = 1
	return s, err
}

func (r *stillSaid) StillSaid(_ context.Context, said int64) (bool, error) { return said == 1, nil }

// An approval does not outlive its time until the next tick: whoever asks before a write sees it
// end, and where none has ended nothing is read.
func TestApprovalExpiresBetweenTicks(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	records := &stillSaid{Forgetful: &reconcile.Forgetful{}}
	c, err := New(t.Context(), Config{
		Records: records, Now: func() time.Time { return now },
		Guards: reconcile.Guards{ApprovalsExpire: time.Hour, Rules: []guard.Rule{{Name: "calm", Approve: guard.ApproveAll}}},
	})
	must.Do(t, err)
	must.Do(t, records.Approve(t.Context(), []reconcile.Approval{
		{Digest: "first", Kind: reconcile.Approved, At: now},
		{Digest: "second", Kind: reconcile.Approved, At: now.Add(30 * time.Minute)},
		{Digest: "used", Kind: reconcile.Approved, At: now, Used: true},
	}))
	_, err = c.Tick(t.Context())
	must.Do(t, err)
	records.reads = 0
	for _, step := range []struct {
		after time.Duration
		want  []string
		reads int
	}{
		{59 * time.Minute, []string{"first", "second", "used"}, 0},
		{time.Minute, []string{"second", "used"}, 1},
		{29 * time.Minute, []string{"second", "used"}, 1},
		{time.Minute, []string{"used"}, 2},
		{1000 * time.Hour, []string{"used"}, 2},
	} {
		now = now.Add(step.after)
		must.Do(t, c.listen(t.Context()))
		if got := slices.Sorted(maps.Keys(c.state.approvals.digests)); !slices.Equal(got, step.want) || records.reads != step.reads {
			t.Errorf("%v later: %v count after %d reads, want %v after %d", step.after, got, records.reads, step.want, step.reads)
		}
	}
}

// A failed write may be on record all the same, so that what is said is read anew.
func TestFailedSpendIsReadAnew(t *testing.T) {
	records := &lostAnswer{stillSaid{Forgetful: &reconcile.Forgetful{}}}
	c, err := New(t.Context(), Config{Records: records, Now: time.Now})
	must.Do(t, err)
	must.Do(t, records.Approve(t.Context(), []reconcile.Approval{{Digest: "a", Kind: reconcile.Approved}}))
	_, err = c.Tick(t.Context())
	must.Do(t, err)
	if c.spend(t.Context(), []string{"a"}) == nil || !c.state.approvals.digests["a"] {
		t.Fatal("the write has not failed")
	}
	if must.Do(t, c.listen(t.Context())); c.state.approvals.digests["a"] {
		t.Error("an approval counts that is spent")
	}
}

// lostAnswer are records of which nobody learns that an approval is spent.
type lostAnswer struct{ stillSaid }

func (r *lostAnswer) Spend(ctx context.Context, digests []string) error {
	return errors.Join(r.Forgetful.Spend(ctx, digests), errors.New("the disk does not answer"))
}

// An approval counts as used from when a change that it approves of passes the guards.
func TestApprovalIsUsed(t *testing.T) {
	change := diff.Change{Zone: "a", Approved: true, Operation: diff.RuleOperation{Do: diff.ActionUpdate, Body: edge.Rule{Expression: "true"}}}
	digest := change.ApprovalDigest()
	var a approvals
	a.restore([]reconcile.Approval{{Digest: digest}})
	a.divide(diff.Plan{Changes: []diff.Change{change}}, time.Time{})
	a.divide(diff.Plan{Changes: []diff.Change{change}}, time.Time{})
	if !slices.Equal(a.used.list, []string{digest}) || len(a.divided.single) != 0 {
		t.Errorf("used %v, divided %+v", a.used.list, a.divided)
	}
	other := change
	other.Approved, other.Deployment = false, "b"
	a = approvals{}
	a.restore([]reconcile.Approval{{Digest: other.ApprovalDigest()}})
	if a.divide(diff.Plan{Changes: []diff.Change{other}}, time.Time{}); len(a.used.list) != 0 {
		t.Errorf("used %v", a.used.list)
	}
}
