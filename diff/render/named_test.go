package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// A key is chosen by the author of a commit. The id of a zone stands beside it, unless the
// key is known to be the zone's name; so do another name and the key that it had before,
// and each rename has a line of its own.
func TestPlanShowsWhatAKeyStandsFor(t *testing.T) {
	state := func(account string, keys ...string) desired.State {
		a := desired.Account{Key: account, ID: "0123456789abcdef0123456789abcdef"}
		for i, key := range keys {
			a.Zones = append(a.Zones, desired.Zone{Key: key, Scope: difftest.FleetChange(i+1, diff.Neutral).Scope})
		}
		return desired.State{Accounts: []desired.Account{a}}
	}
	changes := difftest.ChangesTo(3, 1)
	for i, key := range []string{"sandbox-test", "shop.example", "other.example"} {
		changes[i].Account, changes[i].Zone = "prod", key
		changes[i].Fields[0].Note = key // so that no two are shown as one
	}
	id := func(i int) string { return changes[i].Scope.String() }
	before, after := state("main", "zone-00001.example", "shop.example", "other.example"), state("prod", "sandbox-test", "shop.example", "other.example")
	known := map[edge.Scope]string{changes[0].Scope: "zone-00001.example", changes[1].Scope: "Shop.example"}
	plan := difftest.PlanOf(changes...)
	plan.Deprecations = diff.NewPlan("").Deprecations
	plan = plan.Sealed()
	names := func(_ edge.AccountID, zone edge.Scope) string { return known[zone] }
	for name, c := range map[string]struct {
		plan diff.Plan
		want []string
	}{
		"no names, no renames": {plan, []string{"prod / sandbox-test (" + id(0) + ") / core", "prod / shop.example (" + id(1) + ") / core"}},
		"no names": {plan.Named(before, after, nil), []string{
			"zone sandbox-test (" + id(0) + ") was zone-00001.example", "account prod (0123456789abcdef0123456789abcdef) was main",
			"prod (was main) / sandbox-test (was zone-00001.example, " + id(0) + ") / core",
		}},
		"names": {plan.Named(before, after, names), []string{
			"zone sandbox-test (zone-00001.example on the platform, " + id(0) + ") was zone-00001.example",
			"prod (was main) / sandbox-test (was zone-00001.example, zone-00001.example on the platform, " + id(0) + ") / core",
			"prod (was main) / shop.example / core", "prod (was main) / other.example (" + id(2) + ") / core",
		}},
		"the name is another one": {plan.Named(after, after, names), []string{"prod / sandbox-test (zone-00001.example on the platform, " + id(0) + ") / core"}},
	} {
		for form, write := range map[string]func(*bytes.Buffer, diff.Plan) error{
			"text":     func(b *bytes.Buffer, p diff.Plan) error { return Text(b, p, false) },
			"Markdown": func(b *bytes.Buffer, p diff.Plan) error { return Markdown(b, p) },
		} {
			var b bytes.Buffer
			must.Do(t, write(&b, c.plan))
			for _, want := range c.want {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%s: %s lacks %q:\n%s", name, form, want, b.String())
				}
			}
		}
		if c.plan.Sealed().Digest != plan.Digest {
			t.Errorf("%s: the digest depends on names", name)
		}
		if err := validate(compileSchema(t), c.plan.Sealed()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
