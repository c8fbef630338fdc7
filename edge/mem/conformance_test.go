package mem_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/edgetest"
	"github.com/seawall-dev/seawall/edge/mem"
)

// The suite holds under every quirk of meaning, each alone and all together, but
// for the one that loses writes.
func TestConformance(t *testing.T) {
	sets := [][]string{nil}
	var all []string
	for _, quirk := range mem.Quirks() {
		for value := range strings.SplitSeq(string(quirk.Argument), "|") {
			switch quirk.Argument {
			case mem.Number:
				value = "20" // enough for every case
			}
			if value == "ignored" {
				continue // nothing that is written is there afterwards
			}
			item := strings.TrimSuffix(quirk.Name+"="+strings.ReplaceAll(value, "N", "2"), "=")
			sets = append(sets, []string{item})
			if item != "patch=replace" {
				all = append(all, item)
			}
		}
	}
	for _, quirks := range append(sets, all) {
		t.Run(strings.Join(quirks, ","), func(t *testing.T) {
			edgetest.Run(t, func(t testing.TB) edgetest.Fixture {
				p := extended(t, quirks...)
				f := fixture(p)
				f.Extended, f.Merges = true, slices.Contains(quirks, "patch=merge")
				return f
			})
		})
	}
}

// A platform that is documented says of every other call that it lacks it.
func TestConformanceOfTheDocumentedProfile(t *testing.T) {
	edgetest.Run(t, func(t testing.TB) edgetest.Fixture { return fixture(withUser(t)) })
}

// A platform that is as strict as the vendor is one all the same.
func TestConformanceOfTheVendorProfile(t *testing.T) {
	edgetest.Run(t, func(t testing.TB) edgetest.Fixture {
		seed := withGroups(mem.VendorSeed())
		p := start(t, mem.Config{Seed: seed, Profile: mem.Vendor})
		f := fixture(p)
		f.Extended, f.Strict = true, true
		return f
	})
}

// fixture is a platform with the calls of the reference.
func fixture(p *mem.Platform) edgetest.Fixture {
	return edgetest.Fixture{
		Tokens: p, TokenCount: func() int { return userTokens(p) }, User: p.User(),
		Platform: p, Account: mem.Account, Core: mem.CoreRuleset, Zone: mem.ShopZone, Other: mem.BlogZone, Bare: mem.NewZone,
	}
}

// withGroups adds the permission groups that the suite names.
func withGroups(seed mem.Seed) mem.Seed {
	for _, id := range []string{"f00d", "beef"} {
		seed.PermissionGroups = append(seed.PermissionGroups, mem.SeedPermissionGroup{
			ID: id, Name: "Suite " + id, Scopes: []string{"com.vendor.api.account", "com.vendor.api.account.zone", "com.vendor.api.user"},
		})
	}
	return seed
}

func userTokens(p *mem.Platform) int {
	n := 0
	for _, token := range p.Tokens() {
		if token.Account == "" {
			n++
		}
	}
	return n
}
