package mem

import (
	"encoding/json"
	"fmt"

	"github.com/seawall-dev/seawall/edge"
)

// What [DefaultSeed] holds.
const (
	Account            edge.AccountID = "0123456789abcdef0123456789abcdef"
	CoreRuleset        edge.RulesetID = "c04e0000000000000000000000000001"
	CredentialsRuleset edge.RulesetID = "c04e0000000000000000000000000002"
	CustomRuleset      edge.RulesetID = "c04e0000000000000000000000000003"
)

// Zones of [DefaultSeed].
var (
	ShopZone = edge.ZoneScope("00000000000000000000000000000a01") // deploys the core ruleset, no overrides
	BlogZone = edge.ZoneScope("00000000000000000000000000000a02") // deploys it with an override nobody declared
	NewZone  = edge.ZoneScope("00000000000000000000000000000a03") // no entry point
)

// Permission groups of [DefaultSeed], and which endpoint needs them. Two have one
// name and different scopes, as on the service.
const (
	RulesGroup       = "9a0e0000000000000000000000000001" // Zone WAF Write: updates of a rule
	TokensGroup      = "9a0e0000000000000000000000000002" // API Tokens Write: all calls on tokens but verify
	ZoneLogsGroup    = "9a0e0000000000000000000000000003" // Logs Read, of a zone: no endpoint
	AccountLogsGroup = "9a0e0000000000000000000000000004" // Logs Read, of an account: no endpoint
)

// Names of the two tokens of [DefaultSeed]; a server greets with them.
const (
	RulesetsTokenName = "rulesets"
	TokensTokenName   = "tokens"
)

// Values of these two tokens, made up. They share no word with names of files and fields,
// such as rulesets-token: where a value is taken out of a text, those stay readable.
const (
	RulesetsTokenValue = "sim-key-225c709542b0ce5d74da716d2c2514d2"
	TokensTokenValue   = "sim-key-d8f36e99cf46d7bc17bd433c53bcccf2"
)

const seededAt = "2025-01-01T00:00:00.000000Z"

// DefaultSeed is a small platform to try things on: one account whose core
// ruleset is neither the first in the list nor alone in its phase, and three
// zones. Ids, versions and times are the same in every run.
func DefaultSeed() Seed {
	seed := emptySeed()
	seed.Zones = []SeedZone{
		deployedZone(ShopZone, "shop.example", nil),
		deployedZone(BlogZone, "blog.example", tune),
		{ID: edge.ZoneID(NewZone.ID), AccountID: Account, Name: "new.example"},
	}
	return seed
}

// Fleet is the platform of [DefaultSeed] with n other zones, zone-00001.example
// and so on, all of which deploy the core ruleset without overrides. Zone i has
// the scope [FleetZone](i), counted from 1.
func Fleet(n int) Seed {
	seed := emptySeed()
	seed.Zones = make([]SeedZone, n)
	for i := range seed.Zones {
		seed.Zones[i] = deployedZone(FleetZone(i+1), fmt.Sprintf("zone-%05d.example", i+1), nil)
	}
	return seed
}

// FleetZone is the ith zone of a [Fleet], counted from 1.
func FleetZone(i int) edge.Scope { return edge.ZoneScope(edge.ZoneID(fmt.Sprintf("f1ee%028d", i))) }

// emptySeed has everything but zones.
func emptySeed() Seed {
	return Seed{
		Accounts: []SeedAccount{{ID: Account, Rulesets: []edge.Ruleset{credentialsRuleset(), customRuleset(), coreRuleset()}}},
		PermissionGroups: []SeedPermissionGroup{
			{ID: RulesGroup, Name: "Zone WAF Write", Scopes: []string{"com.vendor.api.account.zone"}},
			{ID: TokensGroup, Name: "API Tokens Write", Scopes: []string{"com.vendor.api.user"}, Meta: json.RawMessage(`{"key":"tokens","value":"write"}`)},
			{ID: ZoneLogsGroup, Name: "Logs Read", Scopes: []string{"com.vendor.api.account.zone"}},
			{ID: AccountLogsGroup, Name: "Logs Read", Scopes: []string{"com.vendor.api.account"}},
		},
		Tokens:              DefaultTokens(),
		EndpointPermissions: endpointPermissions(),
	}
}

// endpointPermissions are of our own making: the reference says of one call only
// that it needs a permission, and of none which. Who may verify is not in it, so
// every token may.
func endpointPermissions() map[string]string {
	permissions := map[string]string{
		"PATCH /zones/{zone_id}/rulesets/{ruleset_id}/rules/{rule_id}":  RulesGroup,
		"DELETE /zones/{zone_id}/rulesets/{ruleset_id}/rules/{rule_id}": RulesGroup,
		"POST /zones/{zone_id}/rulesets/{ruleset_id}/rules":             RulesGroup,
		"POST /zones/{zone_id}/rulesets":                                RulesGroup,
	}
	for _, base := range []string{"/user/tokens", "/accounts/{account_id}/tokens"} {
		for _, call := range []string{
			"POST " + base, "GET " + base, "GET " + base + "/permission_groups", "GET " + base + "/{token_id}", "PUT " + base + "/{token_id}",
			"DELETE " + base + "/{token_id}", "PUT " + base + "/{token_id}/value",
		} {
			permissions[call] = TokensGroup
		}
	}
	return permissions
}

// DefaultTokens are the two tokens of [DefaultSeed]: one for rulesets, which may
// not create tokens, and one that may do everything.
func DefaultTokens() []SeedToken {
	return []SeedToken{
		{ID: "70ce0000000000000000000000000001", Name: RulesetsTokenName, Value: RulesetsTokenValue, Status: "active", IssuedOn: seededAt, Policies: rulesPolicy()},
		{ID: "70ce0000000000000000000000000002", Name: TokensTokenName, Value: TokensTokenValue, Status: "active", IssuedOn: seededAt},
	}
}

// deployedZone is a zone whose entry point runs the core ruleset.
func deployedZone(scope edge.Scope, name string, change func(*edge.Rule)) SeedZone {
	rule := edge.Rule{
		ID: derivedID[edge.RuleID](scope.ID, "execute"), Version: "1", Action: edge.ActionExecute,
		ActionParameters: &edge.ActionParameters{ID: CoreRuleset, Version: "latest"},
		Expression:       "true", Description: new("Run the Core Ruleset"), LastUpdated: seededAt,
		Ref: "core-" + name, Enabled: new(true),
	}
	if change != nil {
		change(&rule)
	}
	return SeedZone{ID: edge.ZoneID(scope.ID), AccountID: Account, Name: name, EntryPoint: &edge.Ruleset{
		ID: entryPointID(edge.Place{Scope: scope, Phase: edge.PhaseFirewallManaged}), Name: "default", Kind: edge.KindZone, Version: "1",
		LastUpdated: seededAt, Phase: edge.PhaseFirewallManaged, Rules: []edge.Rule{rule},
	}}
}

// tune is what somebody clicked in a dashboard: an override that no file
// declares, and members that Seawall does not know and must not lose.
func tune(rule *edge.Rule) {
	rule.ActionParameters.Overrides = &edge.Overrides{Rules: []edge.RuleOverride{
		{ID: coreRuleID(3), Action: new(edge.ActionLog)},
	}}
	rule.ActionParameters.Extra = map[string]json.RawMessage{"matched_data": json.RawMessage(`{"public_key":"c2ltdWxhdGVk"}`)}
	rule.Extra = map[string]json.RawMessage{"logging": json.RawMessage(`{"enabled":true}`)}
}
