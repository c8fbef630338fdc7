package control

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// manyAccounts is a fleet of accounts of so many zones each, and the same with another declaration of one zone.
func manyAccounts(accounts, zones int) (before, after desired.State) {
	before.Commit = "c1"
	for a := range accounts {
		of := desired.Account{Key: fmt.Sprintf("a%04d", a), ID: edge.AccountID(fmt.Sprint("a", a))}
		for i := range zones {
			of.Zones = append(of.Zones, desired.Zone{
				Key: fmt.Sprintf("z%04d.example", i), Scope: edge.ZoneScope(edge.ZoneID(fmt.Sprint(a, "-", i))), Deployments: []desired.Deployment{{Ruleset: "core"}},
			})
		}
		before.Accounts = append(before.Accounts, of)
	}
	return before, otherZone(before, "c2", accounts/2)
}

// otherZone is a state with another declaration of one zone of an account.
func otherZone(s desired.State, commit string, account int) desired.State {
	s.Commit, s.Accounts = commit, slices.Clone(s.Accounts)
	a := &s.Accounts[account]
	a.Zones = slices.Clone(a.Zones)
	a.Zones[len(a.Zones)/2].Deployments = []desired.Deployment{{Ruleset: "core", Prune: true}}
	return s
}

// A commit that changes one zone looks at the zones of its account alone, and copies no others: whoever
// accepts it, whoever puts it on record, and whoever takes it in from there.
func TestOtherAccountsAreNotLookedAt(t *testing.T) {
	for _, accounts := range []int{1, 10, 100} {
		before, after := manyAccounts(accounts, 100)
		var writes, reads encoder
		_, err := writes.encode(before)
		must.Do(t, err)
		first, err := reads.join(mustEncode(t, &writes, before))
		must.Do(t, err)
		for _, e := range []*encoder{&writes, &reads} {
			e.walks = 0
		}
		second, err := reads.join(mustEncode(t, &writes, after))
		must.Do(t, err)
		if !reflect.DeepEqual(second, after) {
			t.Fatalf("of %d accounts another state is taken in", accounts)
		}
		g := newGeneration(first, nil)
		next := newGeneration(second, g)
		if writes.walks != 100 || reads.walks != 100 {
			t.Errorf("of %d accounts %d zones are looked at to put one on record, and %d to take it in, want 100", accounts, writes.walks, reads.walks)
		}
		for i := range g.prints {
			if same := &g.prints[i][0] == &next.prints[i][0]; same != (i != accounts/2) {
				t.Errorf("the fingerprints of account %d of %d are the same: %t", i, accounts, same)
			}
			if same := &first.Accounts[i].Zones[0] == &second.Accounts[i].Zones[0]; same != (i != accounts/2) { // else who compares them walks over both
				t.Errorf("the zones of account %d of %d are the very same: %t", i, accounts, same)
			}
		}
		back, err := reads.join(mustEncode(t, &writes, otherZone(before, "c3", 0)))
		must.Do(t, err)
		if want := otherZone(before, "c3", 0); !reflect.DeepEqual(back, want) || !reflect.DeepEqual(second, after) {
			t.Errorf("of %d accounts what follows is another state", accounts)
		}
	}
}

// mustEncode is a state as it is read by who has all parts but those that were made for it.
func mustEncode(t *testing.T, e *encoder, state desired.State) []reconcile.StatePart {
	t.Helper()
	parts, err := e.encode(state)
	must.Do(t, err)
	return parts
}
