package controller

import (
	"cmp"
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
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
