package control

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
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
