package desired

import (
	"fmt"
	"slices"
	"testing"
)

// Where one zone is declared otherwise, the zones of its account are compared, and no others.
func TestOtherAccountsAreNotCompared(t *testing.T) {
	for _, accounts := range []int{1, 10, 100} {
		var before State
		for i := range accounts {
			a := Account{Key: fmt.Sprintf("account-%03d", i)}
			for j := range 50 {
				a.Zones = append(a.Zones, Zone{Key: fmt.Sprintf("zone-%03d", j)})
			}
			before.Accounts = append(before.Accounts, a)
		}
		after := before
		after.Accounts = slices.Clone(before.Accounts)
		changed := &after.Accounts[accounts/2]
		changed.Zones = slices.Clone(changed.Zones)
		changed.Zones[7].Deployments = []Deployment{{Ruleset: "core"}}
		d := Differ(before, after)
		if want := []Index{{accounts / 2, 7}}; d.looked != 50 || !slices.Equal(d.Is, want) || !slices.Equal(d.Was, want) || !d.Same {
			t.Errorf("of %d accounts %d zones are compared, want 50; %+v", accounts, d.looked, d)
		}
	}
}
