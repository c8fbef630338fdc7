package token

import (
	"context"
	"errors"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Each request that writes, and each secret that waits for its sink, asks what the caller has put into the
// context: where that says no, nothing of the kind is sent, and each change says why.
func TestEachWriteAsksItsCaller(t *testing.T) {
	f := newExtended(t)
	f.push(pruned(declare("pruned", zoneA)), declare("changed", zoneA))
	f.converge()
	f.converge()
	f.push(pruned(declare("pruned", zoneA)), declare("changed", zoneA), declare("sealed", zoneA))
	f.sinks.down = 1
	f.work()
	f.push(declare("changed", zoneB), declare("sealed", zoneA), declare("new", zoneA))
	f.taken = nil
	guarded := false
	asks := edge.BeforeSend(t.Context(), func() error {
		if guarded {
			return reconcile.ErrPutBack
		}
		return nil
	})
	o := f.Work(asks, f.scope, func(ctx context.Context, plan diff.Plan) (diff.Plan, error) {
		guarded = true
		return f.guard(ctx, plan)
	})
	f.wantTaken("list")
	if len(o.Results) != 4 {
		t.Errorf("results %v", results(o))
	}
	for _, r := range o.Results {
		if r.Outcome != reconcile.NotStarted || !errors.Is(r.Err, reconcile.ErrPutBack) {
			t.Errorf("%s: %s, %v", r.Change.Token, r.Outcome, r.Err)
		}
	}
	f.converge()
}
