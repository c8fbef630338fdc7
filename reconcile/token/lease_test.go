package token

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
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

// requests are what makes each request that writes be sent, the delivery of a secret among them.
var requests = map[string]func(*fixture){
	"create":  func(f *fixture) { f.push(declare("ci-dns", zoneA)) },
	"deliver": func(f *fixture) { f.push(declare("ci-dns", zoneA)) },
	"roll":    func(f *fixture) { f.push(declare("ci-dns", zoneA)); f.lose() },
	"put": func(f *fixture) {
		f.push(declare("ci-dns", zoneA))
		f.converge()
		f.push(declare("ci-dns", zoneB))
	},
	"delete": func(f *fixture) {
		f.push(pruned(declare("ci-dns", zoneA)))
		f.converge()
		f.converge()
		f.push()
	},
}

// A request whose answer was lost may still be at work in a server, whatever has lost it: the connection, the
// client's own deadline, or who answers for a server. So it is told of as cut; one that was answered, with a
// refusal, too, is not.
func TestARequestWithoutAnAnswerIsCut(t *testing.T) {
	for step, prepare := range requests {
		for end, want := range map[string]int{"answered": 0, "refused": 0, "lost": 1, "lost to a command": 1} {
			t.Run(step+" "+end, func(t *testing.T) {
				f, leases := newExtended(t), reconciletest.NewLeases()
				prepare(f)
				leases.Give("r1", reconcile.LeaseTokens)
				ctx, done, _ := reconcile.Begin(t.Context(), leases.Of("r1"), reconcile.LeaseTokens)
				defer done()
				if end == "lost to a command" {
					ctx, f.Memory = t.Context(), ownLease{f.memory, leases.Of("r1")}
				}
				switch end {
				case "refused":
					if step == "deliver" {
						t.Skip("what a sink says is not told from no answer")
					}
					f.fail[step] = &edge.Error{Status: http.StatusForbidden}
				case "lost", "lost to a command":
					f.lost[step] = true
				}
				f.taken = nil
				o := f.Work(ctx, f.scope, f.guard)
				if !slices.Contains(f.taken, step) {
					t.Fatalf("took %v: %v", f.taken, results(o))
				}
				if cuts := leases.Cuts(reconcile.LeaseTokens); cuts != want {
					t.Errorf("%d requests were cut, want %d: %v", cuts, want, results(o))
				}
			})
		}
	}
}

// ownLease is the memory of a command, whose work is under no lease: it has taken one by itself.
type ownLease struct {
	*memory
	leases reconcile.Leases
}

func (o ownLease) BeginRequest(ctx context.Context) (context.Context, func(), error) {
	within, end, held := reconcile.Begin(ctx, o.leases, reconcile.LeaseTokens)
	if !held {
		return ctx, end, reconcile.ErrLeaseLost
	}
	return within, end, nil
}

// A command that was stopped for so long that another process has the tokens sends nothing any more.
func TestACommandWhoseLeaseIsLost(t *testing.T) {
	for step, prepare := range requests {
		t.Run(step, func(t *testing.T) {
			f, leases := newExtended(t), reconciletest.NewLeases()
			prepare(f)
			f.Memory = ownLease{f.memory, leases.Of("r1")}
			leases.Give("r2", reconcile.LeaseTokens)
			f.taken = nil
			o := f.Work(t.Context(), f.scope, f.guard)
			if slices.Contains(f.taken, step) {
				t.Errorf("took %v: %v", f.taken, results(o))
			}
		})
	}
}
