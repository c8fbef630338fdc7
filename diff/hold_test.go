package diff

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge"
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
