package edgetest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/edgetest"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

func newMem(t testing.TB, quirks ...string) *mem.Platform {
	platform, err := mem.New(mem.Config{Quirks: quirks, Profile: mem.Extended})
	must.Do(t, err)
	return platform
}

// both is what a platform in memory is.
type both interface {
	edgetest.Client
	Tokens() []mem.SeedToken
}

func fixture(platform both, merges bool) edgetest.Fixture {
	var forbid func(edge.Scope) error
	if g, ok := platform.(*guarded); ok {
		forbid = g.forbid
	}
	return edgetest.Fixture{
		Forbid: forbid,
		Tokens: platform, Extended: true, TokenCount: func() int { return len(platform.Tokens()) },
		Platform: platform, Merges: merges,
		Account: mem.Account, Core: mem.CoreRuleset, Zone: mem.ShopZone, Other: mem.BlogZone, Bare: mem.NewZone,
	}
}

// guarded is a platform with a zone that may not be touched.
type guarded struct {
	*mem.Platform
	zone    edge.Scope
	refusal error
}

// forbidden is how the service refuses one zone.
var forbidden = &edge.Error{Status: http.StatusForbidden, Details: []edge.ErrorDetail{{Code: edge.CodeAuthentication, Message: "Authentication error"}}}

func (g *guarded) forbid(zone edge.Scope) error { g.zone = zone; return nil }

func (g *guarded) EntryPoint(ctx context.Context, zone edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	if zone == g.zone {
		return edge.Ruleset{}, g.refusal
	}
	return g.Platform.EntryPoint(ctx, zone, edge.PhaseFirewallManaged)
}

func (g *guarded) Send(ctx context.Context, w edge.Write) (*edge.Ruleset, error) {
	if w.Scope == g.zone {
		return nil, g.refusal
	}
	return g.Platform.Send(ctx, w)
}
