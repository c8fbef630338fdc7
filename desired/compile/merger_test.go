package compile

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

const perFolder = 50

// fleetUnits are the folders of a fleet.
func fleetUnits(zones int) (units []Unit) {
	for first := 0; first < zones; first += perFolder {
		file := fmt.Sprintf("team-%04d/zones.cue", first/perFolder)
		a := desired.Account{Key: "prod", ID: "prod-id", Origin: desired.Origin{File: "base.cue", Line: 1}}
		a.Rulesets = []desired.RulesetRef{{Key: "core", Name: "Core", Origin: desired.Origin{File: "base.cue", Line: 2}}}
		for i := first; i < min(first+perFolder, zones); i++ {
			at := desired.Origin{File: file, Line: i - first + 2, Column: 2}
			a.Zones = append(a.Zones, desired.Zone{
				Key: fmt.Sprintf("z%06d.example", i), Scope: edge.ZoneScope(edge.ZoneID(fmt.Sprintf("%032d", i))), Origin: at,
				Deployments: []desired.Deployment{{Ruleset: "core", Origin: at, Paranoia: &desired.Declared[int]{Value: 1, Origin: at}}},
			})
		}
		units = append(units, Unit{Dir: fmt.Sprintf("team-%04d", first/perFolder), Accounts: []desired.Account{a}})
	}
	return units
}

// inheriting are the folders of a fleet, with a zone that all of them inherit.
func inheriting(zones int) []Unit {
	units := fleetUnits(zones)
	for i := range units {
		at := desired.Origin{File: "base.cue", Line: 9, Column: 2}
		a := &units[i].Accounts[0]
		a.Zones = append([]desired.Zone{{
			Key: "inherited.example", Scope: edge.ZoneScope("inherited"), Origin: at, Deployments: []desired.Deployment{{Ruleset: "core", Origin: at}},
		}}, a.Zones...)
	}
	return units
}

// edited is a folder in which zone n declares another paranoia level.
func edited(u Unit, n, paranoia int) Unit {
	u.Accounts = slices.Clone(u.Accounts)
	zones := slices.Clone(u.Accounts[0].Zones)
	d := zones[n].Deployments[0]
	d.Paranoia = &desired.Declared[int]{Value: paranoia, Origin: d.Origin}
	zones[n].Deployments = []desired.Deployment{d}
	u.Accounts[0].Zones = zones
	return u
}

// Whatever a commit does after another one, merging it as the next one is merging it alone.
func TestMergerIsMerge(t *testing.T) {
	t.Run("inheriting", func(t *testing.T) { mergerIsMerge(t, inheriting) })
	t.Run("alone", func(t *testing.T) { mergerIsMerge(t, fleetUnits) })
}

func mergerIsMerge(t *testing.T, fleet func(zones int) []Unit) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	units := fleet(200)
	var m Merger
	patched := 0
	for n := range 400 {
		was, i := m.whole, random.IntN(len(units))
		units = slices.Clone(units)
		u := units[i]
		zones := u.Accounts[0].Zones
		z := random.IntN(len(zones))
		kind := random.IntN(20)
		if n%8 == 0 { // all mistakes are gone
			units = fleet(200)
			kind = 8
		}
		if random.IntN(10) == 0 {
			z = 0 // a folder changes what it inherits
		}
		switch kind {
		case 0, 17: // a zone leaves
			if len(zones) > 1 {
				u = edited(u, z, 1)
				u.Accounts[0].Zones = slices.Delete(u.Accounts[0].Zones, z, z+1)
			}
		case 14, 15: // a zone comes
			u = edited(u, z, 1)
			fresh := u.Accounts[0].Zones[z]
			fresh.Key, fresh.Scope, fresh.Name = fmt.Sprint("new", random.IntN(5)), edge.ZoneScope(edge.ZoneID(fmt.Sprint("new", random.IntN(5)))), fmt.Sprint("name", random.IntN(5))
			u.Accounts[0].Zones = append(u.Accounts[0].Zones, fresh)
		case 16: // a zone has another key, id or name
			u = edited(u, z, 1)
			switch z := &u.Accounts[0].Zones[z]; random.IntN(3) {
			case 0:
				z.Key = fmt.Sprint("key", random.IntN(5))
			case 1:
				z.Scope = edge.ZoneScope(edge.ZoneID(fmt.Sprint("other", random.IntN(5))))
			case 2:
				z.Name = fmt.Sprint("name", random.IntN(5))
			}
		case 1: // the account is another one
			u = edited(u, z, 2)
			u.Accounts[0].ID = edge.AccountID(fmt.Sprint("id", n%3))
		case 2: // a mistake
			u = edited(u, z, 2)
			u.Problems = []desired.Problem{{Message: "wrong", Origin: zones[z].Origin}}
		case 3: // a warning
			u = edited(u, z, 2)
			u.Problems = []desired.Problem{{Message: "doubtful", Warning: true, Origin: zones[z].Origin}}
		case 4: // a ruleset that is not declared
			u = edited(u, z, 2)
			u.Accounts[0].Zones[z].Deployments[0].Ruleset = "other"
		case 5: // a zone that another folder declares, too
			u = edited(u, z, 2)
			u.Accounts[0].Zones[z] = units[random.IntN(len(units))].Accounts[0].Zones[0]
		case 6: // the id of another zone
			u = edited(u, z, 2)
			u.Accounts[0].Zones[z].Scope = units[random.IntN(len(units))].Accounts[0].Zones[0].Scope
		case 7:
			u.Tokens = []desired.Token{{Key: fmt.Sprint("t", i), Name: fmt.Sprint("t", n%2, i), Origin: zones[z].Origin}}
		case 8:
			u = fleet(200)[i]
		default:
			u = edited(u, z, random.IntN(4)+1)
			u.Accounts[0].Zones[z].Labels = map[string]string{"n": fmt.Sprint(n)}
		}
		units[i] = u
		commit := fmt.Sprint("c", n)
		shuffled := slices.Clone(units)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		want, wantProblems := Merge(units, commit)
		onlyIsMerge(t, shuffled, commit, want, wantProblems, zones[z].Key)
		got, problems := m.Merge(shuffled, commit)
		if diff := differ(want, got); diff != "" {
			t.Fatalf("state of commit %d (-alone +as the next one):\n%s", n, diff)
		}
		if diff := differ(wantProblems, problems); diff != "" {
			t.Fatalf("problems of commit %d (-alone +as the next one):\n%s", n, diff)
		}
		if m.whole == was {
			patched++
		}
	}
	if patched < 50 {
		t.Errorf("%d of 400 commits were merged as a change", patched)
	}
}

// differ is cmp.Diff, which takes long for what is equal.
func differ[T any](want, got T) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

// onlyIsMerge holds a merge of what one zone needs to that of all.
func onlyIsMerge(t *testing.T, units []Unit, commit string, state desired.State, problems []desired.Problem, key string) {
	t.Helper()
	wanted := func(_ desired.Account, z desired.Zone) bool { return z.Key == key }
	var outlined []Unit
	for _, u := range units {
		o, err := u.Encode().Outlined()
		must.Do(t, err)
		outlined = append(outlined, o)
	}
	whole, left := Whole(outlined, wanted), 0
	for i, u := range units {
		if whole[u.Dir] {
			var err error
			outlined[i], err = u.Encode().Unit()
			must.Do(t, err)
		} else {
			left++
		}
	}
	got, gotProblems := MergeOnly(outlined, commit, wanted)
	if diff := differ(problems, gotProblems); diff != "" {
		t.Fatalf("problems of %s (-whole +of one zone):\n%s", commit, diff)
	}
	state.Accounts = eachZone(state.Accounts, func(a desired.Account, z desired.Zone) desired.Zone {
		if !wanted(a, z) {
			z.Labels, z.Deployments, z.Others = nil, nil, nil
		}
		return z
	})
	if diff := differ(state, got); diff != "" {
		t.Fatalf("state of %s (-whole +of one zone):\n%s", commit, diff)
	}
}

// To ask about one zone takes one folder, in any fleet, and the names in the others.
func TestOneZoneTakesItsFolder(t *testing.T) {
	for _, zones := range []int{100, 1000, 10_000} {
		var outlined []Unit
		for _, u := range fleetUnits(zones) {
			outlined = append(outlined, u.outline())
		}
		whole := Whole(outlined, func(_ desired.Account, z desired.Zone) bool { return z.Key == "z000042.example" })
		if len(whole) != 1 || !whole["team-0000"] {
			t.Errorf("of %d zones, one takes the folders %v", zones, whole)
		}
	}
}

// One changed zone costs its folder, in any fleet, and so does one that comes and goes.
func TestMergerCostsWhatChanges(t *testing.T) {
	t.Run("otherwise", func(t *testing.T) {
		mergerCosts(t, func(u Unit) (Unit, Unit) { return edited(u, 7, 2), edited(u, 7, 3) })
	})
	t.Run("removed and added", func(t *testing.T) {
		mergerCosts(t, func(u Unit) (Unit, Unit) {
			without := edited(u, 7, 1)
			without.Accounts[0].Zones = slices.Delete(without.Accounts[0].Zones, 7, 8)
			return without, u
		})
	})
}

func mergerCosts(t *testing.T, change func(Unit) (Unit, Unit)) {
	var smallest float64
	for _, zones := range []int{100, 1000, 10_000} {
		units, n := fleetUnits(zones), 0
		var m Merger
		m.Merge(units, "first")
		one, other := change(units[1])
		folders := []Unit{other, one}
		allocs := testing.AllocsPerRun(20, func() {
			n++
			units[1] = folders[n%2]
			if state, problems := m.Merge(units, "next"); len(problems) > 0 || state.Zones() < zones-1 {
				t.Fatal(problems)
			}
		})
		if m.whole != 1 {
			t.Errorf("of %d zones, %d commits were merged as a whole, want the first one", zones, m.whole)
		}
		if smallest == 0 {
			smallest = allocs
		}
		if allocs > smallest*1.1 {
			t.Errorf("one changed zone of %d costs %.0f allocations, and one of 100 costs %.0f", zones, allocs, smallest)
		}
	}
}

func BenchmarkMergeOneChanged(b *testing.B) {
	for _, zones := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(zones), func(b *testing.B) {
			units, n := fleetUnits(zones), 0
			var m Merger
			m.Merge(units, "first")
			folders := []Unit{edited(units[1], 7, 2), edited(units[1], 7, 3)}
			b.ReportAllocs()
			for b.Loop() {
				n++
				units[1] = folders[n%2]
				m.Merge(units, "next")
			}
		})
		b.Run(fmt.Sprint(zones, "_whole"), func(b *testing.B) {
			units := fleetUnits(zones)
			b.ReportAllocs()
			for b.Loop() {
				Merge(units, "next")
			}
		})
	}
}
