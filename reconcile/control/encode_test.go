package control

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
)

// encodedStates are states of several shapes.
func encodedStates() map[string]desired.State {
	zones := func(n int) (all []desired.Zone) {
		for i := range n {
			all = append(all, desired.Zone{
				Key: fmt.Sprint("zone-", i), Scope: edge.ZoneScope(edge.ZoneID(fmt.Sprint("z", i))), Labels: map[string]string{"tier": "gold"},
				Deployments: []desired.Deployment{{Ruleset: "core", Paranoia: &desired.Declared[int]{Value: 2, Origin: desired.Origin{File: "a.cue", Line: i}}}},
			})
		}
		return all
	}
	account := func(key string, n int) desired.Account {
		return desired.Account{Key: key, ID: edge.AccountID(key), Zones: zones(n), Rulesets: []desired.RulesetRef{{Key: "core", Name: "Core"}}}
	}
	return map[string]desired.State{
		"nothing declared": {Commit: "c1"},
		"tokens alone":     {Commit: "c1", Tokens: []desired.Token{{Key: "ci"}}},
		"no zones":         {Commit: "c1", Accounts: []desired.Account{account("a", 0)}},
		"two accounts":     {Commit: "c1", Accounts: []desired.Account{account("a", 3), account("b", 0), account("c", 2)}, Tokens: []desired.Token{{Key: "ci"}}},
	}
}

func TestEncodedStateIsDecoded(t *testing.T) {
	for name, state := range encodedStates() {
		data, err := EncodeState(state)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := DecodeState(data); err != nil || !reflect.DeepEqual(got, state) {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, state)
		}
	}
}

// What is cut short anywhere is an error, and never a smaller state.
func TestCutStateIsRefused(t *testing.T) {
	for name, state := range encodedStates() {
		data, err := EncodeState(state)
		must.Do(t, err)
		for n := 1; n < len(data); n++ {
			if got, err := DecodeState(data[:n]); err == nil || !reflect.DeepEqual(got, desired.State{}) {
				t.Fatalf("%s, %d of %d bytes: %+v, %v", name, n, len(data), got, err)
			}
		}
	}
}

// oneOtherZone is a fleet, and the same with another declaration of one zone: all others are shared.
func oneOtherZone(n int) (before, after desired.State) {
	zones := make([]desired.Zone, n)
	for i := range zones {
		zones[i] = desired.Zone{
			Key: fmt.Sprintf("z%06d.example", i), Scope: edge.ZoneScope(edge.ZoneID(fmt.Sprint("z", i))),
			Deployments: []desired.Deployment{{Ruleset: "core", Paranoia: &desired.Declared[int]{Value: 2, Origin: desired.Origin{File: "a.cue", Line: i}}}},
		}
	}
	before = desired.State{Commit: "c1", Accounts: []desired.Account{{Key: "prod", Zones: zones}}}
	after = desired.State{Commit: "c2", Accounts: []desired.Account{{Key: "prod", Zones: slices.Clone(zones)}}}
	after.Accounts[0].Zones[n/2].Deployments = []desired.Deployment{{Ruleset: "core"}}
	return before, after
}

// One changed zone of any fleet has one part encoded, and what is on record is as if all had been.
func TestEncodingCostsWhatChanges(t *testing.T) {
	var smallest float64
	for _, n := range []int{100, 1000, 10_000} {
		var e encoder
		before, after := oneOtherZone(n)
		_, err := e.encode(before)
		must.Do(t, err)
		made := e.made
		got, err := e.encode(after)
		must.Do(t, err)
		if e.made != made+1 {
			t.Errorf("one changed zone of %d has %d parts encoded, want 1", n, e.made-made)
		}
		if want, _ := EncodeState(after); !bytes.Equal(reconcile.Joined(got), want) {
			t.Errorf("one changed zone of %d: what is encoded is not what encoding all of it makes", n)
		}
		states, i := []desired.State{before, after}, 0
		allocs := testing.AllocsPerRun(10, func() {
			i++
			if _, err := e.encode(states[i%2]); err != nil {
				t.Fatal(err)
			}
		})
		if smallest == 0 {
			smallest = allocs
		}
		if allocs > 5*smallest { // a part has 64 zones on the average, and a fleet of 100 has one or two
			t.Errorf("one changed zone of %d costs %.0f allocations, and one of 100 costs %.0f", n, allocs, smallest)
		}
	}
}

// What one more zone, one less, and another account make of the parts that were kept is never
// another state.
func TestEncodedStatesFollow(t *testing.T) {
	zones, cuts := 240, 20
	if soak.On {
		zones, cuts = 2000, 1000
	}
	var e encoder
	before, after := oneOtherZone(zones)
	less := before
	less.Accounts = []desired.Account{{Key: "prod", Zones: slices.Delete(slices.Clone(before.Accounts[0].Zones), zones/2, zones/2+1)}}
	other := before
	other.Accounts = []desired.Account{{Key: "first"}, before.Accounts[0]}
	for i, state := range []desired.State{before, after, less, before, other, after, {Commit: "c9"}, other} {
		parts, err := e.encode(state)
		must.Do(t, err)
		data := reconcile.Joined(parts)
		if got, err := DecodeState(data); err != nil || !reflect.DeepEqual(got, state) {
			t.Fatalf("state %d is decoded as another one: %v", i, err)
		}
		for cut := len(data) - 1; cut > 0; cut -= len(data)/cuts + 1 {
			if _, err := DecodeState(data[:cut]); err == nil {
				t.Fatalf("state %d, cut to %d of %d bytes, is decoded", i, cut, len(data))
			}
		}
	}
}

func BenchmarkEncodeOneChanged(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var e encoder
			before, after := oneOtherZone(n)
			states, i := []desired.State{before, after}, 0
			_, err := e.encode(before)
			must.Do(b, err)
			b.ReportAllocs()
			for b.Loop() {
				i++
				if _, err := e.encode(states[i%2]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprint(n, "_whole"), func(b *testing.B) {
			state, _ := oneOtherZone(n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := EncodeState(state); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What was decoded or encoded before is not decoded again, and its zones are the very same; nor is it
// encoded again.
func TestDecodingCostsWhatChanges(t *testing.T) {
	before, after := oneOtherZone(3000)
	first, err := EncodeState(before)
	must.Do(t, err)
	second, err := EncodeState(after)
	must.Do(t, err)
	for name, know := range map[string]func(*encoder) error{
		"decoded": func(e *encoder) error { _, err := e.decode(first); return err },
		"encoded": func(e *encoder) error { _, err := e.encode(before); return err },
	} {
		var e encoder
		must.Do(t, know(&e))
		known := e.parts
		e.made = 0
		got, err := e.decode(second)
		if err != nil || !reflect.DeepEqual(got, after) || e.made != 1 {
			t.Errorf("%s before: %d parts were decoded: %v", name, e.made, err)
		}
		same := 0
		for key, p := range e.parts {
			if slices.EqualFunc(known[key].zones, p.zones, desired.Zone.Is) {
				same++
			}
		}
		if same != len(e.parts)-1 {
			t.Errorf("%s before: %d of %d parts are the same", name, same, len(e.parts))
		}
		if e.made = 0; len(members(second)) != len(e.parts)+1 {
			t.Errorf("%d pieces of %d parts", len(members(second)), len(e.parts))
		}
		if data, err := e.encode(got); err != nil || !bytes.Equal(reconcile.Joined(data), second) || e.made != 0 {
			t.Errorf("%s before: %d parts were encoded again: %v", name, e.made, err)
		}
	}
}
