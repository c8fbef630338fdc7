package reconcile

import (
	"context"
	"testing"
	"time"
)

// cutting counts the requests that were ended without an answer.
type cutting struct {
	OnlyProcess
	left time.Duration
	cuts int
}

func (*cutting) Begin(name LeaseName) (Lease, func(), bool) { return Lease{name, 1}, func() {}, true }
func (*cutting) Held(name LeaseName) (Lease, bool)          { return Lease{name, 1}, true }
func (c *cutting) Left(Lease) time.Duration                 { return c.left }
func (c *cutting) Cut(Lease)                                { c.cuts++ }

// A request that was sent and is ended without an answer is told of; one that has its answer is not, nor one
// that never left.
func TestACutRequestIsTold(t *testing.T) {
	for name, test := range map[string]struct {
		left  time.Duration
		sends bool
		stops bool // all is told to stop before the answer is there
		cuts  int
	}{
		"answered":                      {time.Hour, true, false, 0},
		"the lease was about to end":    {time.Microsecond, true, false, 1},
		"all was to stop":               {time.Hour, true, true, 1},
		"all was to stop before it was": {time.Hour, false, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			leases := &cutting{left: test.left}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ctx, _, _ = Begin(ctx, leases, LeaseCommits)
			request, leaves, end := Request(ctx)
			if test.sends {
				if err := leaves(); err != nil {
					t.Fatal(err)
				}
			}
			if test.stops {
				stop()
			}
			if test.left < time.Second {
				<-request.Done()
			}
			end(request.Err())
			if leases.cuts != test.cuts {
				t.Errorf("%d requests were cut, want %d", leases.cuts, test.cuts)
			}
		})
	}
}
