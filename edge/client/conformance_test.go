package client

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/edgetest"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

// quirkValues says under which values of each quirk the contract must hold.
// Every third request rather than every second: with one read between two
// writes, a fault on every second request would hit every write.
var quirkValues = map[string][]string{
	mem.QuirkPatch:          {"replace", "merge"},
	mem.QuirkReorder:        {""},
	mem.QuirkDefaults:       {""},
	mem.QuirkOmitEmptyRules: {""},
	mem.QuirkRulesetBump:    {"1"},
	mem.QuirkQuota:          {"20"},
	sim.QuirkRequestIP:      {""},
	sim.QuirkAnnounce:       {""},
	sim.QuirkSRVEnd:         {"2024-01-01"},
	sim.QuirkMessagesNull:   {""},
	sim.QuirkMessages:       {""},
	sim.QuirkThrottle:       {"3"},
	sim.QuirkErrorBefore:    {"2"},
	sim.QuirkErrorAfter:     {"1", "2"},
	sim.QuirkCutAfter:       {"1", "2"},
	sim.QuirkTruncate:       {"2", "3"},
	sim.QuirkHTML:           {"3"},
	sim.QuirkSlow:           {"2ms"},
	// What befalls one zone is nothing to the others.
	sim.QuirkZoneSlow:      {mem.BlogZone.String() + ":2ms"},
	sim.QuirkZoneForbidden: {elsewhere},
	sim.QuirkZoneHang:      {elsewhere},

	sim.QuirkZoneUnauthorized: {elsewhere},
}

// elsewhere is a zone of which the suite knows nothing. (Under patch=ignored it
// cannot hold: nothing that is written is there afterwards.)
const elsewhere = "77777777777777777777777777777777"

// The contract holds over HTTP: client, simulator, twin; without quirks, under
// each, and under many at once.
func TestConformance(t *testing.T) {
	conform(t, "no quirk")
	for _, q := range sim.Quirks() {
		values, ok := quirkValues[q.Name]
		if !ok {
			t.Errorf("the suite is not run under the quirk %s", q.Name)
		}
		if ok && !soak.On {
			if badDay(q.Name) {
				continue
			}
			values = values[:1]
		}
		for _, value := range values {
			conform(t, quirk(q.Name, value), quirk(q.Name, value))
		}
	}
	conformProfile(t, "vendor", mem.Vendor)
	conformProfile(t, "vendor, on a bad day", mem.Vendor, "messages-null", "throttle=7", "error-after=3", "truncate=3", "html=11", "patch=merge", "defaults")
	conformProfile(t, "documented", mem.Documented)
	conform(t, "a bad day", badDayQuirks...)
	if !soak.On { // the vendor's bad day has what this has
		return
	}
	conformProfile(t, "documented, on a bad day", mem.Documented, "messages-null", "throttle=7", "error-after=3", "truncate=3", "html=11")
}

// badDayQuirks are quirks that the suite is run under all at once.
var badDayQuirks = []string{"patch=merge", "reorder", "defaults", "messages-null", "throttle=7", "error-after=3", "truncate=3", "html=11", "request-ip"}

func badDay(name string) bool {
	return slices.ContainsFunc(badDayQuirks, func(q string) bool { return q == name || strings.HasPrefix(q, name+"=") })
}

// testVendor is not that of the nouns, so that every token is translated.
const testVendor = "acme"

func quirk(name, value string) string {
	if value == "" {
		return name
	}
	return name + "=" + value
}

func conform(t *testing.T, name string, quirks ...string) {
	conformProfile(t, name, mem.Extended, quirks...)
}

func conformProfile(t *testing.T, name, profile string, quirks ...string) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		edgetest.Run(t, func(t testing.TB) edgetest.Fixture { return simFixture(t, profile, quirks) })
	})
}

func simFixture(t testing.TB, profile string, quirks []string) edgetest.Fixture {
	seed := mem.DefaultSeed()
	seed.User = "me"
	if profile == mem.Vendor {
		seed = withGroups(mem.VendorSeed())
	}
	running := simulate(t, sim.Config{Seed: seed, Quirks: quirks, Vendor: testVendor, Profile: profile})
	greeting := running.Greeting(running.network.Addr())
	if profile == mem.Vendor {
		greeting.RulesetsToken = "sim-administrator-token-0000000000000000000001" // which may write in the account, too
	}
	tokens, platform := running.client(t, greeting.TokensToken), running.client(t, greeting.RulesetsToken)
	return edgetest.Fixture{
		Extended: profile != mem.Documented, Strict: profile == mem.Vendor,
		Platform: platform,
		Denied:   running.client(t, "not-a-token"),
		Account:  mem.Account, Core: mem.CoreRuleset, Zone: mem.ShopZone, Other: mem.BlogZone, Bare: mem.NewZone,
		Merges: slices.Contains(quirks, "patch=merge"),
		Tokens: tokens, TokenCount: func() int { return userTokens(running.Platform) },
		Forbid: func(zone edge.Scope) error {
			others := slices.DeleteFunc(slices.Clone(quirks), func(q string) bool { return strings.HasPrefix(q, sim.QuirkZoneForbidden) })
			return running.SetQuirks(append(others, quirk(sim.QuirkZoneForbidden, zone.String())))
		},
		SignIn: func(secret edge.Secret) edgetest.Client { return running.client(t, secret.Reveal()) }, User: seed.User,
		Mute: slices.Contains(quirks, "error-after=1") || slices.Contains(quirks, "cut-after=1"),
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

// simulation is a simulator on a network in memory.
type simulation struct {
	*sim.Server
	network *network
}

// simulate starts a simulator. It ends with the test.
func simulate(t testing.TB, config sim.Config) simulation {
	server, err := sim.New(config)
	must.Do(t, err)
	s := simulation{server, newNetwork()}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error)
	go func() { done <- s.Serve(ctx, s.network) }()
	t.Cleanup(func() { stop(); <-done })
	return s
}

// client returns a client that signs in with a token.
func (s simulation) client(t testing.TB, token string) *Client {
	return s.network.client(t, func(config *Config) {
		config.Vendor, config.ConditionKey = testVendor, "request_ip"
		config.Token = func() (edge.Secret, error) { return edge.NewSecret(token), nil }
	})
}

// The calls on the tokens of an account are those on the tokens of a user.
func TestConformanceOfAccountTokens(t *testing.T) {
	edgetest.Run(t, func(t testing.TB) edgetest.Fixture {
		seed := mem.DefaultSeed()
		seed.Tokens = append(seed.Tokens, mem.SeedToken{ID: "account", Name: "tokens", Value: "of-the-account", Account: mem.Account})
		running := simulate(t, sim.Config{Seed: seed, Vendor: testVendor, Profile: mem.Extended})
		signIn := func(token string) accountClient {
			c := running.client(t, token)
			return accountClient{c, c.AccountTokens(mem.Account)}
		}
		own := signIn("of-the-account")
		return edgetest.Fixture{
			Platform: own, Extended: true, Tokens: own.tokens,
			TokenCount: func() int { return len(running.Platform.Tokens()) - userTokens(running.Platform) },
			SignIn:     func(secret edge.Secret) edgetest.Client { return signIn(secret.Reveal()) },
			Denied:     signIn("not-a-token"),
			Account:    mem.Account, Core: mem.CoreRuleset, Zone: mem.ShopZone, Other: mem.BlogZone, Bare: mem.NewZone,
		}
	})
}

// accountClient is a client whose tokens are those of an account.
type accountClient struct {
	edge.Platform
	tokens
}

type tokens = edge.Tokens

func (a accountClient) Offers(call edge.Call, level edge.Level) bool {
	return a.Platform.Offers(call, level)
}
