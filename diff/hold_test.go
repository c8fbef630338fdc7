package diff

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// Asked about many zones at once, holds are those that one question after the other finds.
func TestHoldsOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"a.example", "b.example"})
		id := rapid.Custom(func(t *rapid.T) edge.Scope {
			return edge.ZoneScope(rapid.SampledFrom([]edge.ZoneID{"1", "2", "3"}).Draw(t, "id"))
		})
		holds := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Hold {
			if rapid.Bool().Draw(t, "reverted") {
				return Hold{Zone: key.Draw(t, "of"), Scope: id.Draw(t, "zone"), Commit: "c1", Reason: rapid.StringN(1, 3, -1).Draw(t, "reason")}
			}
			return Hold{Zone: key.Draw(t, "of"), Scopes: rapid.SliceOfN(id, 0, 2).Draw(t, "zones"), Reason: rapid.StringN(1, 3, -1).Draw(t, "reason")}
		}), 0, 5).Draw(t, "holds")
		on := HoldsOn(holds)
		k, i := key.Draw(t, "name"), id.Draw(t, "asked")
		got, held := on(k, i)
		if want, is := HoldOn(holds, k, i); held != is || !reflect.DeepEqual(got, want) {
			t.Errorf("%s (%s): %+v, %t; want %+v, %t", k, i, got, held, want, is)
		}
	})
}

// A hold stays with a zone whose id was not known, under another key, once the id is found, and where a
// commit declares the zone anew. It says nothing of a zone of another name.
func TestHoldOfAZoneWhoseIDIsNotKnown(t *testing.T) {
	zone := func(key, name string, id edge.ZoneID) desired.State {
		return desired.State{Accounts: []desired.Account{{Key: "prod", Zones: []desired.Zone{{Key: key, Name: name, Scope: edge.ZoneScope(id), ByName: true}}}}}
	}
	before := zone("shop.example", "shop.example", desired.SoughtZone("prod", "shop.example"))
	called, _ := desired.ByItsName(before.Accounts[0], before.Accounts[0].Zones[0])
	holds := []Hold{{Zone: "shop.example", Scopes: []edge.Scope{called, edge.ZoneScope("known")}, Reason: "INC-1"}}
	for name, c := range map[string]struct {
		state desired.State
		held  bool
	}{
		"as it was":     {before, true},
		"another key":   {zone("x", "Shop.Example.", desired.SoughtZone("prod", "x")), true},
		"its id found":  {zone("x", "shop.example", "f1"), true},
		"another name":  {zone("x", "other.example", "f2"), false},
		"no name":       {zone("x", "", "f3"), false},
		"held by an id": {zone("x", "other.example", "known"), true},
	} {
		z := c.state.Accounts[0].Zones[0]
		found := Find(holds, c.state)
		_, held := HoldOn(found, z.Key, z.Scope)
		_, on := HoldsOn(found)(z.Key, z.Scope)
		if held != c.held || on != c.held {
			t.Errorf("%s: held %t and %t, want %t", name, held, on, c.held)
		}
	}
	if len(holds[0].Scopes) != 2 {
		t.Errorf("what was found was added to what it was asked of: %v", holds[0].Scopes)
	}
	text, err := json.Marshal(holds[0])
	must.Do(t, err)
	if !strings.Contains(string(text), `"zone_ids":["known"]`) {
		t.Errorf("%s", text)
	}
}
