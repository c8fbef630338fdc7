package client

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// A request that was admitted long ago is admitted anew: a process that was stopped meanwhile does
// not count with the others any more.
func TestARequestLeavesSoonOrIsAdmittedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answer(200, entryJSON))
		c := s.client(t, nil)
		begin, steps := time.Now(), 0
		ctx := edge.BeforeSend(t.Context(), func() error {
			if steps++; steps == 1 {
				time.Sleep(leaveWithin + time.Second)
			}
			return nil
		})
		_, err := c.Send(ctx, edge.UpdateRule(testZone, testEntry, testRule, edge.Rule{Expression: "true"}))
		must.Do(t, err)
		if got := s.arrivals(); len(got) != 1 || got[0].at.Sub(begin) <= leaveWithin+time.Second || steps != 2 {
			t.Errorf("%d requests after %d steps, want one that was tried again", len(got), steps)
		}
		if used := c.config.Budget.State().Used; used != 1 {
			t.Errorf("%d requests count, want 1", used)
		}
	})
}
