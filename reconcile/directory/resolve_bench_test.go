package directory

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// fleet are the states of commits one after the other, of zones that are found by their names,
// with the names that the platform knows. A commit declares one zone otherwise.
type fleet struct {
	scene
	states [2]desired.State
	n      int
}

func newFleet(t testing.TB, n int) *fleet {
	names, zones := make([]string, n), make([]edge.Zone, n)
	for i := range n {
		names[i] = fmt.Sprintf("z%06d.example", i)
		zones[i] = live(prod, i, names[i])
	}
	f := &fleet{scene: newScene(zones...)}
	f.states[0] = declared(names...)
	f.states[1] = other(f.states[0], func(zones []desired.Zone) []desired.Zone {
		zones[n/2].Deployments = []desired.Deployment{{Ruleset: "core"}}
		return zones
	})
	f.Look(t.Context(), f.states[0])
	f.next()
	return f
}

// other is a state with other zones.
func other(s desired.State, change func([]desired.Zone) []desired.Zone) desired.State {
	s.Accounts = slices.Clone(s.Accounts)
	s.Accounts[0].Zones = change(slices.Clone(s.Accounts[0].Zones))
	return s
}

// next resolves the next commit.
func (f *fleet) next() desired.State {
	f.n++
	return f.Resolve(f.states[f.n%2])
}

// BenchmarkNamesOneChanged puts ids into the state of a commit after others: where all zones
// declare theirs, and where all are found by their names.
func BenchmarkNamesOneChanged(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		f := newFleet(b, n)
		byID := other(f.next(), func(zones []desired.Zone) []desired.Zone {
			for i := range zones {
				zones[i].ByName = false
			}
			return zones
		})
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.Resolve(byID)
			}
		})
		f.next()
		b.Run(fmt.Sprint(n, "_by_name"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.next()
			}
		})
	}
}
