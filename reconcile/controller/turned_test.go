package controller

import (
	"fmt"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/queue"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
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

// The lists of a fleet by its lanes have room for the fleet once, and not once for each lane.
func TestPartsHaveRoomForTheirOwn(t *testing.T) {
	const accounts, zones = 40, 25
	state, of := desired.State{Commit: "c1"}, reconcile.Lanes{Of: map[string]int{}}
	var items []queue.Item[edge.Scope]
	var all []*lane
	for a := range accounts {
		account := desired.Account{Key: fmt.Sprint("account-", a), ID: edge.AccountID(fmt.Sprintf("%032x", a+1))}
		for z := range zones {
			zone := reconciletest.Zone(a*zones+z+1, reconciletest.Core())
			account.Zones, items = append(account.Zones, zone), append(items, queue.Item[edge.Scope]{Key: zone.Scope})
		}
		state.Accounts, of.Of[account.Key] = append(state.Accounts, account), a
		all = append(all, &lane{})
		all[a].held.Store(&reconcile.Lease{})
	}
	c, err := control.New(t.Context(), control.Config{Records: &reconcile.Forgetful{}, Now: time.Now})
	must.Do(t, err)
	_, err = c.Propose(t.Context(), reconcile.Proposal{Commit: state.Commit, State: state})
	must.Do(t, err)
	l := &lanes{of: of, all: all}
	room, placed := 0, 0
	for _, part := range l.part(c.Current(), items) {
		room, placed = room+cap(part), placed+len(part)
	}
	if placed != len(items) || room > 2*len(items) {
		t.Errorf("%d of %d items are in lists with room for %d", placed, len(items), room)
	}
}
