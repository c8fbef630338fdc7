package controller

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// Each process tells of the zones that it has the lease of, and of no others; what fails of a
// credential is forgotten, and not ended, when another process gets it.
func TestPartOfOneOfSeveral(t *testing.T) {
	run(t, func(t *testing.T) {
		r, first, second := twoReplicas(t, 3, reconcile.Guards{})
		held := func(one *replica, name reconcile.LeaseName) reconcile.Lease {
			lease, _ := r.leases.Of(one.name).Held(name)
			return lease
		}
		a, b := held(first, leaseA), held(second, leaseB)
		for _, test := range []struct {
			one   *replica
			lease reconcile.Lease
			has   bool
		}{{first, a, true}, {second, b, true}, {first, b, false}, {second, a, false}, {first, reconcile.Lease{Name: leaseA, Epoch: a.Epoch - 1}, false}} {
			part, has := test.one.PartOf(test.lease)
			if has != test.has || has && (part.Zones.Declared != 3 || part.Zones.Outcomes[inspect.InSync] != 3 || part.Zones.Observed.IsZero()) {
				t.Errorf("%s with %+v: %v, %+v", test.one.name, test.lease, has, part)
			}
		}
		if here := first.Status().Zones.Here; here[inspect.InSync] != 3 || here[inspect.NotRead] != 0 {
			t.Errorf("of its own zones the first says %v", here)
		}
		second.calls["b"].set(func(context.Context, call) error { return edge.ErrUnauthenticated })
		second.look1(t)
		r.pass(time.Minute)
		if part, _ := second.PartOf(b); len(part.Outages) != 1 || part.Outages[0].Subject != reconcile.OutageCredential {
			t.Errorf("the outages of b are %+v", part.Outages)
		}
		r.leases.Give("r1", leaseB)
		r.pass(ticked)
		s := second.Status()
		for _, c := range s.Work.Credentials {
			if c.Down != "" {
				t.Errorf("the credential %s is down, says one that has none: %s", c.Name, c.Down)
			}
		}
		if len(s.Outages) > 0 {
			t.Errorf("a process without zones has the outages %+v", s.Outages)
		}
		if part, has := first.PartOf(held(first, leaseB)); !has || part.Zones.Declared != 3 || len(part.Outages) > 0 {
			t.Errorf("the next holder: %v, %+v", has, part)
		}
	})
}

// What was known of commits and tokens is of an earlier time once another process has had the lease.
func TestLostLeasesAreForgotten(t *testing.T) {
	run(t, func(t *testing.T) {
		r, first, second := twoReplicas(t, 2, reconcile.Guards{})
		r.repo.Commit("c2", commit{Problems: []desired.Problem{{Message: "a mistake"}}})
		first.source.Poke()
		r.pass(ticked)
		if first.Status().Commit.Held == nil {
			t.Fatal("the commit is not held")
		}
		lease, _ := r.leases.Of("r1").Held(reconcile.LeaseTokens)
		if !first.HasTokens(lease) || second.HasTokens(lease) {
			t.Error("not the holder has the tokens")
		}
		r.leases.Give("r2", reconcile.LeaseCommits, reconcile.LeaseTokens)
		r.pass(ticked)
		r.push("c3", "sqli")
		r.pass(ticked)
		r.leases.Give("r1", reconcile.LeaseCommits)
		r.pass(10 * time.Millisecond)
		if held := first.Status().Commit.Held; held != nil && held.Commit == "c2" {
			t.Errorf("a process that leads again says that a commit of before is held: %+v", held)
		}
		if first.HasTokens(lease) || !first.outcomes.tokens.LookedAt.IsZero() {
			t.Error("what is known of tokens is of before")
		}
	})
}

// A process that gets a lease tells at once what has become of the commit in force in the zones under
// it: the one before may have ended when all was proved, and had told nothing.
func TestTakeOverTellsOfTheCommit(t *testing.T) {
	run(t, func(t *testing.T) {
		r, first, second := twoReplicas(t, 5, reconcile.Guards{})
		r.push("c2", "sqli")
		r.pass(ticked)
		r.wantAll("sqli")
		second.journal.take()
		r.end(first, "r2")
		r.pass(soon)
		for _, report := range second.journal.take() {
			if report.Sum && report.Commit == "c2" && report.Unfinished == 0 {
				if s := report.Plan.Summary; s.Zones != 10 || s.InSync != 10 {
					t.Errorf("it tells of %d zones, %d in sync, as %s", s.Zones, s.InSync, report.Trigger)
				}
				return
			}
		}
		t.Error("it tells nothing")
	})
}

// What was seen of zones under a lease that has ended counts again, as of when it was seen, where the
// same process gets the next one: no other has worked on them. Else they were not read yet.
func TestLooksCountAgain(t *testing.T) {
	run(t, func(t *testing.T) {
		r, first, _ := twoReplicas(t, 3, reconcile.Guards{})
		looks := func() (ours int, at map[edge.Scope]time.Duration) {
			s := first.Status().Zones
			counts := s.Here
			if counts == nil {
				counts = s.Outcomes
			}
			at = map[edge.Scope]time.Duration{}
			for id := range first.control.Current().Zones() {
				if row, _ := first.outcomes.zones.of(id); row.looked {
					at[id] = row.last.at
				}
			}
			return counts[inspect.InSync], at
		}
		before, at := looks()
		if before != 3 {
			t.Fatalf("%d zones are in sync", before)
		}
		r.leases.Ends(leaseA, 0) // as while the database is away
		r.pass(ticked)
		if ours, _ := looks(); ours != 0 {
			t.Errorf("without the lease %d zones are in sync", ours)
		}
		first.calls["a"].take()
		r.leases.Give("r1", leaseA)
		r.pass(10 * time.Millisecond)
		ours, again := looks()
		if n := len(who(first.calls["a"].take())); ours != 3 || n > 0 || !maps.Equal(at, again) {
			t.Errorf("%d zones are in sync, %d were read; last at %v, before %v", ours, n, again, at)
		}
		r.leases.Ends(leaseA, 0)
		r.pass(ticked)
		r.leases.Give("r2", leaseA)
		r.leases.Give("r1", leaseA)
		r.pass(10 * time.Millisecond)
		if ours, _ := looks(); ours != 0 {
			t.Errorf("after another has had the lease %d zones are in sync, and none was read", ours)
		}
	})
}

// Of a zone that another process works on, what differs is not told from what was read here: the other may
// have written since. Of one that none works on it is not said that it was proved.
func TestWhatDiffersInZonesOfOthers(t *testing.T) {
	run(t, func(t *testing.T) {
		few := reconcile.Guards{Rules: []guard.Rule{{Name: "default", Changes: &guard.Limit{Count: new(9)}}}}
		r, first, _ := twoReplicas(t, 3, few)
		first.replicas = func() *inspect.Replicas {
			return &inspect.Replicas{Name: "r1", Leases: []inspect.Lease{{Name: string(leaseB), Replica: "r2"}, {Name: string(leaseA), Replica: "r1"}}}
		}
		r.push("c2", "sqli") // r1 reads and counts all of them, and r2 writes those of b
		r.pass(2 * ticked)
		r.wantAll("sqli")
		list, _ := first.Zones(zoneKey(4))
		if z := list.Zones[0]; len(z.Fields) > 0 || z.Replica != "r2" || z.NoReplica {
			t.Errorf("it says of a zone of another: %+v", z)
		}
		r.leases.Take(leaseA)
		r.pass(ticked)
		list, _ = first.Zones(zoneKey(1))
		if z := list.Zones[0]; !z.NoReplica || len(z.Fields) > 0 || !strings.Contains(z.Why[0], "by no replica now") {
			t.Errorf("it says of a zone that none works on: %+v", z)
		}
	})
}

// always are records of which others always change much: a commit would wait for that.
type always struct {
	*reconciletest.Records
	caughtUp atomic.Int64
}

func (a *always) Newer(context.Context, reconcile.Mark) (int64, error) { return 1000, nil }

func (a *always) Restore(ctx context.Context) (reconcile.Record, error) {
	r, err := a.Records.Restore(ctx)
	r.Mark = reconcile.Mark{Number: 1}
	return r, err
}

func (a *always) RestoreSince(ctx context.Context, known reconcile.Known) (reconcile.Record, error) {
	r, err := a.Restore(ctx)
	a.caughtUp.Add(1)
	r.Only = slices.Collect(maps.Keys(r.Proofs))
	return r, err
}

// What others put on record while a commit is under way is taken in without a read of any zone: neither
// of those of others, to count the commit anew, nor of those that wait for a person.
func TestCatchingUpReadsNoZone(t *testing.T) {
	run(t, func(t *testing.T) {
		r, first, second := twoReplicas(t, 2, reconcile.Guards{})
		first.stop()
		second.stop()
		records := &always{Records: r.records}
		r.Guards = reconcile.Guards{Rules: []guard.Rule{{Name: "most", Changes: &guard.Limit{Count: new(3)}}}}
		r.keep = func() control.Records { return records }
		all := []*replica{r.run("r1"), r.run("r2")}
		r.pass(soon + ticked)
		r.push("c2", "sqli")
		r.pass(soon + ticked)
		for _, one := range all {
			if n, _ := one.Controller.control.Waiting(); n != 2 {
				t.Fatalf("%d zones of %s wait", n, one.name)
			}
			for _, calls := range one.calls {
				calls.take()
			}
		}
		before := records.caughtUp.Load()
		r.pass(20 * catchUpEvery)
		if n := records.caughtUp.Load() - before; n < 20 {
			t.Errorf("they have caught up %d times, want 20 or more", n)
		}
		for _, one := range all {
			for lane, calls := range one.calls {
				if made := calls.take(); len(made) > 0 {
					t.Errorf("%s has made %d requests for zones of %s, the first %s", one.name, len(made), lane, made[0])
				}
			}
			if control.Uncounted(one.Controller.control) != nil {
				t.Errorf("%s counts a commit that is counted", one.name)
			}
		}
	})
}
