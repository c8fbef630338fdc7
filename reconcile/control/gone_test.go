package control

import (
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// A commit may declare a zone no longer and change its accounts at once: then everything is worked
// out anew, and the zone is gone from the record all the same.
func TestZonesAreGoneWithTheAccountsChanged(t *testing.T) {
	records := &noted{Forgetful: &reconcile.Forgetful{}}
	c, err := New(t.Context(), Config{Records: records, Guards: movedGuards(), Now: func() time.Time { return time.Unix(1e9, 0) }, DriftFor: time.Hour})
	must.Do(t, err)
	state := firstDrawn()
	push := func(commit string) {
		t.Helper()
		state.Commit = commit
		if d, err := c.Propose(t.Context(), reconcile.Proposal{Commit: commit, State: state}); err != nil || d.Accepted == nil {
			t.Fatalf("%+v, %v", d.Held, err)
		}
	}
	push("c1")
	for id := range c.Current().Zones() {
		c.Read(id)
	}
	gone := state.Accounts[0].Zones[0].Scope
	task, _ := c.Task(c.Current(), gone)
	must.Do(t, c.Proved(t.Context(), task, []diff.Settled{{ID: diff.ID{Scope: gone, Ruleset: "id-core"}}}))
	push("c2")
	state.Accounts = slices.Clone(state.Accounts)
	state.Accounts[0].Zones = state.Accounts[0].Zones[1:]
	state.Accounts = append(state.Accounts, desired.Account{Key: "a9", ID: "a9"})
	push("c3")
	if !slices.Equal(records.last.Gone, []edge.Scope{gone}) {
		t.Errorf("gone from the record are %v, want %v", records.last.Gone, gone)
	}
	if left := c.state.zones.records[gone]; left != nil {
		t.Errorf("zone %v is on record still: %+v", gone, left)
	}
}
