package edgetest_test

import (
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/edgetest"
	"github.com/seawall-dev/seawall/edge/mem"
)

// The suite holds over the memory twin, replacing and merging.
func TestOverMemory(t *testing.T) {
	for _, quirk := range []string{"patch=replace", "patch=merge"} {
		t.Run(quirk, func(t *testing.T) {
			edgetest.Run(t, func(t testing.TB) edgetest.Fixture {
				return fixture(newMem(t, quirk), quirk == "patch=merge")
			})
		})
	}
}

func newMem(t testing.TB, quirks ...string) *mem.Platform {
	platform, err := mem.New(mem.Config{Quirks: quirks, Profile: mem.Extended})
	if err != nil {
		t.Fatal(err)
	}
	return platform
}

// both is what a platform in memory is.
type both interface {
	edge.Platform
	edge.TokenPlatform
	Tokens() []mem.SeedToken
}

func fixture(platform both, merges bool) edgetest.Fixture {
	return edgetest.Fixture{
		Tokens: platform, Extended: platform, TokenCount: func() int { return len(platform.Tokens()) },
		Platform: platform, Merges: merges,
		Account: mem.Account, Core: mem.CoreRuleset, Zone: mem.ShopZone, Other: mem.BlogZone, Bare: mem.NewZone,
	}
}
