package controller

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
)

// What earlier processes have read is known of the lanes that this one works on, whichever these are.
func TestTurnedOfOwnLanes(t *testing.T) {
	records := &reconcile.Forgetful{}
	own := reconcile.Lease{Name: "credential b", Epoch: 1}
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	must.Do(t, records.Swept(reconcile.Under(t.Context(), own), at))
	c, err := control.New(t.Context(), control.Config{Records: records, Now: time.Now})
	must.Do(t, err)
	all := []*lane{{}, {}}
	all[1].held.Store(&own)
	v := view{parts: &parts{control: c, lanes: &lanes{all: all}}}
	if turned := v.turned(); !turned.Equal(at) {
		t.Errorf("turned until %v", turned)
	}
}
