package directory

import (
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
)

// A commit that declares one zone otherwise, adds it, removes it or gives it another name takes
// as many allocations in any fleet, and all other zones are the very same as before it.
func TestResolvingCostsWhatChanges(t *testing.T) {
	smallest := map[string]float64{}
	for _, n := range []int{100, 1000, 10_000} {
		f := newFleet(t, n)
		f.states[0].Accounts = append(f.states[0].Accounts, desired.Account{Key: "staging", ID: staging, Zones: declared("else.example").Accounts[0].Zones})
		for _, kind := range []struct {
			name   string
			change func([]desired.Zone) []desired.Zone
			was    int // how many zones of before it touches
			is     int // how many of after
		}{
			{"declared otherwise", func(all []desired.Zone) []desired.Zone {
				all[n/2].Deployments = []desired.Deployment{{Ruleset: "core"}}
				return all
			}, 1, 1},
			{"removed", func(all []desired.Zone) []desired.Zone { return slices.Delete(all, n/2, n/2+1) }, 1, 0},
			{"added", func(all []desired.Zone) []desired.Zone {
				return slices.Insert(all, n/2, desired.Zone{Key: all[n/2-1].Key + "-a", Name: "unknown.example", ByName: true})
			}, 0, 1},
			{"renamed", func(all []desired.Zone) []desired.Zone {
				all[n/2].Key += "-b"
				return all
			}, 1, 1},
			{"named otherwise", func(all []desired.Zone) []desired.Zone {
				all[n/2].Name = strings.ToUpper(all[n/2].Name)
				return all
			}, 1, 1},
		} {
			f.states[1] = other(f.states[0], kind.change)
			before := f.Resolve(f.states[0])
			after := f.Resolve(f.states[1])
			if d := desired.Differ(before, after); len(d.Was) != kind.was || len(d.Is) != kind.is {
				t.Errorf("one of %d zones %s: %d zones differ from %d", n, kind.name, len(d.Is), len(d.Was))
			}
			if a, b := before.Accounts[1].Zones, after.Accounts[1].Zones; &a[0] != &b[0] {
				t.Error("an account in which nothing changes has another list of zones")
			}
			if again := f.Resolve(after); &again.Accounts[0].Zones[0] != &after.Accounts[0].Zones[0] {
				t.Error("a resolved state is copied")
			}
			allocs := testing.AllocsPerRun(10, func() { f.next() })
			if smallest[kind.name] == 0 {
				smallest[kind.name] = allocs
			}
			if t.Logf("one of %d zones %s: %.0f allocations", n, kind.name, allocs); allocs > smallest[kind.name]+10 {
				t.Errorf("one of %d zones %s costs %.0f allocations, and one of 100 costs %.0f", n, kind.name, allocs, smallest[kind.name])
			}
		}
	}
}
