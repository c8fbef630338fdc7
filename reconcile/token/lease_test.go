package token

import (
	"errors"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// What another process has left open is quarantined with each lease, and nothing is sent once the
// lease is gone.
func TestTokensUnderALease(t *testing.T) {
	f, leases := newFixture(t), reconciletest.NewLeases()
	work := func() Outcome {
		ctx, end, held := reconcile.Begin(t.Context(), leases.Of("r1"), reconcile.LeaseTokens)
		defer end()
		if !held {
			t.Fatal("the lease is not held")
		}
		return f.Work(ctx, f.scope, nil)
	}
	leases.Give("r1", reconcile.LeaseTokens)
	work()
	leases.Give("r2", reconcile.LeaseTokens)
	f.unfinished("1") // by r2
	leases.Give("r1", reconcile.LeaseTokens)
	work()
	f.wantTaken("quarantine")
	f.wantStates(diff.TokenQuarantined)

	f.push(declare("ci-dns", zoneA))
	ctx, end, _ := reconcile.Begin(t.Context(), leases.Of("r1"), reconcile.LeaseTokens)
	defer end()
	leases.Give("r2", reconcile.LeaseTokens)
	o := f.Work(ctx, f.scope, nil)
	f.wantMade()
	for _, r := range o.Results {
		if r.Outcome != reconcile.NotStarted || !errors.Is(r.Err, reconcile.ErrLeaseLost) {
			t.Errorf("%s: %v", r.Outcome, r.Err)
		}
	}
	if len(o.Results) != 1 {
		t.Errorf("results %+v", o.Results)
	}
}
