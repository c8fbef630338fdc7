package controller

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/directory"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// silentRecords do not answer who says how far a sweep has come, from some time on.
type silentRecords struct {
	control.Records
	silent *atomic.Bool
}

func (r silentRecords) Swept(ctx context.Context, until time.Time) error {
	if r.silent.Load() {
		<-ctx.Done()
	}
	return cmp.Or(ctx.Err(), r.Records.Swept(ctx, until))
}

// Where all leases end and the records do not answer, a process tells of no zone that it is in sync, of
// whichever lease it was.
func TestLeasesEndWhileRecordsAreSilent(t *testing.T) {
	run(t, func(t *testing.T) {
		var silent atomic.Bool
		r := newReplicas(t, 3)
		r.keep = func() control.Records { return silentRecords{r.records, &silent} }
		names := []reconcile.LeaseName{reconcile.LeaseCommits, reconcile.LeaseTokens, leaseA, leaseB}
		r.leases.Give("r1", names...)
		r.commit("c1", "xss")
		one := r.run("r1")
		r.pass(soon + ticked)
		if s := one.Status(); s.Zones.Outcomes[inspect.InSync] != 6 {
			t.Fatalf("with its leases it says %v", s.Zones.Outcomes)
		}
		silent.Store(true)
		r.leases.Give("", names...)
		r.pass(soon + ticked)
		if s := one.Status(); s.Zones.Outcomes[inspect.InSync] != 0 {
			t.Errorf("without its leases it says %v", s.Zones.Outcomes)
		}
	})
}

// A process that gets the lease on commits while the records do not answer decides about none before it has
// read them, and then the outage is over: nothing else would read them again.
func TestLeadsOnceAllOnRecordIsRead(t *testing.T) {
	run(t, func(t *testing.T) {
		r, _, second := twoReplicas(t, 3, reconcile.Guards{})
		var away atomic.Bool
		r.records.FailBy(func(op string) error {
			if op == "restore" && away.Load() {
				return fmt.Errorf("the database cannot be reached: %w", reconcile.ErrState)
			}
			return nil
		})
		away.Store(true)
		r.leases.Give("r2", reconcile.LeaseCommits, reconcile.LeaseTokens)
		r.pass(ticked)
		if s := second.Status(); len(s.Outages) != 1 || s.Outages[0].Subject != reconcile.OutageState {
			t.Fatalf("outages while the records do not answer: %+v", s.Outages)
		}
		away.Store(false)
		r.pass(soon + ticked)
		if s := second.Status(); len(s.Outages) != 0 {
			t.Errorf("outages once the records answer: %+v", s.Outages)
		}
		r.push("c2", "sqli")
		r.pass(soon + ticked)
		r.wantAll("sqli")
	})
}

// awayNames are names on record that cannot be read meanwhile.
type awayNames struct{ away atomic.Bool }

func (n *awayNames) Names(context.Context) ([]reconcile.Name, error) {
	if n.away.Load() {
		return nil, fmt.Errorf("the database cannot be reached: %w", reconcile.ErrState)
	}
	return nil, nil
}

func (*awayNames) SaveNames(context.Context, []reconcile.Name) error { return nil }

// A process that follows, and could not read all that is on record with a commit, reads it again.
func TestFollowsOnceAllOnRecordIsRead(t *testing.T) {
	run(t, func(t *testing.T) {
		r, names := newReplicas(t, 3), &awayNames{}
		r.Names = directory.New(directory.Config{Now: time.Now, Memory: names})
		r.leases.Give("r1", reconcile.LeaseCommits, reconcile.LeaseTokens, leaseA)
		r.leases.Give("r2", leaseB)
		r.commit("c1", "xss")
		r.run("r1")
		second := r.run("r2")
		r.pass(soon + ticked)
		names.away.Store(true)
		r.push("c2", "sqli")
		r.pass(soon + ticked)
		if s := second.Status(); len(s.Outages) != 1 {
			t.Fatalf("outages while the names cannot be read: %+v", s.Outages)
		}
		names.away.Store(false)
		r.pass(soon + ticked)
		if s := second.Status(); len(s.Outages) != 0 {
			t.Errorf("outages once they can: %+v", s.Outages)
		}
		r.wantAll("sqli")
	})
}
