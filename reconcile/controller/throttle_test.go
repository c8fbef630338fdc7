package controller

import (
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// A zone that waits because the platform asked to wait says so, and until when: the budget
// may be untouched.
func TestAZoneThatWaitsForTheThrottle(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 1)
		f.room.Store(0)
		f.Controller.lanes.all[0].Pause = func() time.Duration { return 20 * time.Second }
		f.lookNow()
		list, _ := f.Zones(zoneKey(1))
		next := list.Zones[0].Next
		if next.WaitsFor != inspect.WaitsAsked || !next.WaitsUntil.Equal(list.At.Add(20*time.Second)) {
			t.Errorf("next %+v", next)
		}
		if why := strings.Join(list.Zones[0].Why, "\n"); !strings.Contains(why, "the platform asked to wait (429, Retry-After) until ") {
			t.Errorf("why %q", why)
		}
	})
}
