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
				return edgetest.Fixture{
					Extended: p,
					Tokens:   p, TokenCount: func() int { return len(p.Tokens()) }, User: p.User(),
					Platform: p, Account: mem.Account, Core: mem.CoreRuleset,
					Zone: mem.ShopZone, Other: mem.BlogZone, Bare: mem.NewZone, Merges: slices.Contains(quirks, "patch=merge"),
				}
			})
		})
	}
}

// A platform that is documented says of every other call that it lacks it.
func TestConformanceOfTheDocumentedProfile(t *testing.T) {
	edgetest.Run(t, func(t testing.TB) edgetest.Fixture {
		p := withUser(t)
		return edgetest.Fixture{
			Tokens: p, TokenCount: func() int { return len(p.Tokens()) }, User: p.User(),
			Platform: p, Account: mem.Account, Core: mem.CoreRuleset, Zone: mem.ShopZone, Other: mem.BlogZone, Bare: mem.NewZone,
		}
	})
}
