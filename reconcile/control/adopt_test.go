package control

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// After a start, what is in force was read from the record. Once it was evaluated again and adopted, a
// commit that changes one zone has one zone compared and one part encoded, in any fleet.
func TestTheFirstCommitAfterAStartCostsWhatItChanges(t *testing.T) {
	for _, n := range []int{100, 1000, 10_000} {
		records := &reconcile.Forgetful{}
		first, after := oneOtherZone(n)
		started := func() *Control {
			c, err := New(t.Context(), Config{Records: records, Now: time.Now})
			must.Do(t, err)
			return c
		}
		c := started()
		d, err := c.Propose(t.Context(), reconcile.Proposal{State: first, Commit: first.Commit})
		must.Do(t, err)
		must.Do(t, c.SaveState(t.Context(), d.Accepted))

		for _, adopts := range []bool{false, true} {
			c = started()
			before := c.Current()
			if adopts && !c.Adopt(first) {
				t.Fatal("what is in force was not adopted")
			}
			if now := c.Current(); now.self != before.self || !reflect.DeepEqual(now.prints, before.prints) || now.size != before.size {
				t.Error("what is in force is another generation")
			}
			if differs, same, ok := c.Current().Differs(before); len(differs) > 0 || !same || !ok || !c.Current().Same(before) {
				t.Error("what is in force is not the same as before")
			}
			made := c.saved.made
			must.Do(t, c.SaveState(t.Context(), before)) // of the values in force
			if c.saved.made != made {
				t.Errorf("of %d zones, adopted %v: parts are encoded again", n, adopts)
			}
			next := newGeneration(after, c.Current())
			_, err := c.saved.encode(after)
			must.Do(t, err)
			if few := len(next.since.is) == 1 && c.saved.made == made+1; few != adopts {
				t.Errorf("of %d zones, adopted %v: %d are compared and %d parts encoded", n, adopts, len(next.since.is), c.saved.made-made)
			}
			if len(next.since.changed) != 1 {
				t.Errorf("of %d zones, adopted %v: %d have changed", n, adopts, len(next.since.changed))
			}
		}
	}
}

// What differs in anything from what is in force is not adopted: it was never decided about.
func TestWhatDiffersIsNotAdopted(t *testing.T) {
	first, after := oneOtherZone(100)
	c, err := New(t.Context(), Config{Records: &reconcile.Forgetful{}, Now: time.Now})
	must.Do(t, err)
	if c.Adopt(first) || c.Current() != nil {
		t.Error("a state was adopted where none is in force")
	}
	d, err := c.Propose(t.Context(), reconcile.Proposal{State: first, Commit: first.Commit})
	must.Do(t, err)
	after.Commit = first.Commit // as another version of the program may have it
	moved := first
	moved.Accounts = []desired.Account{first.Accounts[0]}
	moved.Accounts[0].Zones = slices.Clone(first.Accounts[0].Zones)
	moved.Accounts[0].Zones[7].Origin.Line++
	for name, state := range map[string]desired.State{"another declaration": after, "another place": moved, "nothing": {Commit: first.Commit}} {
		if c.Adopt(state) || c.Current() != d.Accepted {
			t.Errorf("%s was adopted", name)
		}
	}
}

// What came into force while a state was compared is not replaced by it.
func TestWhatIsNotInForceAnyMoreIsNotAdopted(t *testing.T) {
	first, after := oneOtherZone(100)
	c, err := New(t.Context(), Config{Records: &reconcile.Forgetful{}, Now: time.Now})
	must.Do(t, err)
	d, err := c.Propose(t.Context(), reconcile.Proposal{State: first, Commit: first.Commit})
	must.Do(t, err)
	next, err := c.Propose(t.Context(), reconcile.Proposal{State: after, Commit: after.Commit})
	must.Do(t, err)
	if c.adopt(d.Accepted, first, encoder{made: 1}) || c.Current() != next.Accepted || c.saved.made != 0 {
		t.Error("what is not in force any more was adopted")
	}
}
