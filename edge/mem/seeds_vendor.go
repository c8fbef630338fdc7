package mem

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// SeedFor is the seed that a platform of a profile begins with.
func SeedFor(profile string) Seed {
	if profile == Vendor {
		return VendorSeed()
	}
	return DefaultSeed()
}

// What [VendorSeed] holds beside what [DefaultSeed] does.
const (
	Staging        = edge.AccountID("0123456789abcdef0123456789abcd02") // the second account
	VendorUser     = "5eed0000000000000000000000000001"
	StagingToken   = "staging"   // name of a token of the second account's own, for its rulesets
	ZoneOnlyToken  = "zone-only" // name of a token that may read and write rulesets of zones, and nothing of accounts
	PlatformReader = "reader"    // name of a token that may only read
)

// Zones of the vendor's seed.
var (
	StagingZone = edge.ZoneScope("00000000000000000000000000000b01") // staging.example, deploys the core ruleset
	FreeZone    = edge.ZoneScope("00000000000000000000000000000b02") // free.example, whose plan has no managed rulesets
)

// vendorGroups are permission groups as the service has them, with ids of our
// own.
var vendorGroups = []struct{ id, name, scope string }{
	{"9a0f0000000000000000000000000001", "Zone Read", "account.zone"},
	{"9a0f0000000000000000000000000002", "Zone WAF Read", "account.zone"},
	{RulesGroup, "Zone WAF Write", "account.zone"},
	{"9a0f0000000000000000000000000003", "Account Rulesets Read", "account"},
	{"9a0f0000000000000000000000000004", "Account Rulesets Write", "account"},
	{"9a0f0000000000000000000000000005", "Account WAF Read", "account"},
	{"9a0f0000000000000000000000000006", "Account WAF Write", "account"},
	{"9a0f0000000000000000000000000007", "Account Settings Read", "account"},
	{"9a0f0000000000000000000000000008", "API Tokens Read", "user"},
	{TokensGroup, "API Tokens Write", "user"},
	{"9a0f0000000000000000000000000009", "Account API Tokens Read", "account"},
	{"9a0f000000000000000000000000000a", "Account API Tokens Write", "account"},
	{ZoneLogsGroup, "Logs Read", "account.zone"},
	{AccountLogsGroup, "Logs Read", "account"},
}

// groupIDs are the ids of groups by name, with "|" between them.
func groupIDs(names ...string) string {
	var ids []string
	for _, name := range names {
		for _, g := range vendorGroups {
			if g.name == name {
				ids = append(ids, g.id)
			}
		}
	}
	return strings.Join(ids, "|")
}

// VendorSeed is a platform as the real service is: two accounts with names,
// zones of which one is not entitled, permissions for every call, and several
// credentials with permissions of their own.
func VendorSeed() Seed {
	seed := DefaultSeed()
	seed.User = VendorUser
	delete(seed.Zones[1].EntryPoint.Rules[0].Extra, "logging") // which the service knows of skip rules only
	seed.Accounts[0].Name = "Production"
	staging := SeedAccount{ID: Staging, Name: "Staging", Rulesets: clone(seed.Accounts[0].Rulesets)}
	seed.Accounts = append(seed.Accounts, staging)
	zone := deployedZone(StagingZone, "staging.example", nil)
	zone.AccountID = Staging
	seed.Zones = append(seed.Zones, zone, SeedZone{ID: edge.ZoneID(FreeZone.ID), AccountID: Staging, Name: "free.example", Plan: PlanFree})
	seed.PermissionGroups = nil
	for _, g := range vendorGroups {
		seed.PermissionGroups = append(seed.PermissionGroups, SeedPermissionGroup{ID: g.id, Name: g.name, Scopes: []string{"com.vendor.api." + g.scope}})
	}
	seed.EndpointPermissions = vendorPermissions()
	seed.Tokens = vendorTokens()
	return seed
}

// vendorPermissions say which groups a call needs, of which one is enough.
func vendorPermissions() map[string]string {
	permissions := map[string]string{
		"GET /zones/{zone_id}":                                groupIDs("Zone Read"),
		"GET /accounts/{account_id}":                          groupIDs("Account Settings Read"),
		"GET /user/tokens/permission_groups":                  groupIDs("API Tokens Read", "API Tokens Write"),
		"GET /accounts/{account_id}/tokens/permission_groups": groupIDs("Account API Tokens Read", "Account API Tokens Write"),
	}
	read := map[string]string{
		"/zones/{zone_id}":       groupIDs("Zone WAF Read", "Zone WAF Write"),
		"/accounts/{account_id}": groupIDs("Account Rulesets Read", "Account Rulesets Write", "Account WAF Read", "Account WAF Write"),
	}
	write := map[string]string{
		"/zones/{zone_id}":       groupIDs("Zone WAF Write"),
		"/accounts/{account_id}": groupIDs("Account Rulesets Write", "Account WAF Write"),
	}
	for base := range read {
		one := base + "/rulesets/{ruleset_id}"
		entry := base + "/rulesets/phases/{phase}/entrypoint"
		for _, path := range []string{base + "/rulesets", one, one + "/versions", one + "/versions/{version}", entry, entry + "/versions", entry + "/versions/{version}"} {
			permissions[http.MethodGet+" "+path] = read[base]
		}
		for _, call := range []string{
			"POST " + base + "/rulesets", "PUT " + one, "DELETE " + one, "PUT " + entry, "DELETE " + one + "/versions/{version}",
			"POST " + one + "/rules", "PATCH " + one + "/rules/{rule_id}", "DELETE " + one + "/rules/{rule_id}",
		} {
			permissions[call] = write[base]
		}
	}
	for base, kind := range map[string]string{"/user/tokens": "API Tokens", "/accounts/{account_id}/tokens": "Account API Tokens"} {
		permissions["GET "+base] = groupIDs(kind+" Read", kind+" Write")
		permissions["GET "+base+"/{token_id}"] = groupIDs(kind+" Read", kind+" Write")
		for _, call := range []string{"POST " + base, "PUT " + base + "/{token_id}", "DELETE " + base + "/{token_id}", "PUT " + base + "/{token_id}/value"} {
			permissions[call] = groupIDs(kind + " Write")
		}
	}
	return permissions
}

// vendorTokens are the credentials: for rulesets and for tokens of everything,
// and some that may less.
func vendorTokens() []SeedToken {
	const allZones, allAccounts, user = edge.ResourceAllZones, edge.ResourceAllAccounts, edge.ResourceUser + VendorUser
	staging := edge.ResourceAccount + string(Staging)
	tokens := []struct {
		name     string
		account  edge.AccountID
		policies []edge.Policy
	}{
		{RulesetsTokenName, "", []edge.Policy{
			vendorPolicy(allZones, edge.Breadth{}, "Zone Read", "Zone WAF Read", "Zone WAF Write"),
			vendorPolicy(allAccounts, edge.Breadth{}, "Account Rulesets Read", "Account WAF Read", "Account Settings Read"),
		}},
		{TokensTokenName, "", []edge.Policy{
			vendorPolicy(user, edge.Breadth{}, "API Tokens Write"), vendorPolicy(allAccounts, edge.Breadth{}, "Account API Tokens Write"),
		}},
		{StagingToken, Staging, []edge.Policy{
			vendorPolicy(staging, edge.Breadth{AllZones: true}, "Zone Read", "Zone WAF Write"),
			vendorPolicy(staging, edge.Breadth{}, "Account Rulesets Read", "Account Settings Read"),
		}},
		{ZoneOnlyToken, "", []edge.Policy{vendorPolicy(allZones, edge.Breadth{}, "Zone Read", "Zone WAF Write")}},
		{PlatformReader, "", []edge.Policy{
			vendorPolicy(allZones, edge.Breadth{}, "Zone Read", "Zone WAF Read"), vendorPolicy(allAccounts, edge.Breadth{}, "Account Rulesets Read", "Account Settings Read"),
		}},
		{"administrator", "", []edge.Policy{
			vendorPolicy(allZones, edge.Breadth{}, "Zone Read", "Zone WAF Write"),
			vendorPolicy(allAccounts, edge.Breadth{}, "Account Rulesets Write", "Account Settings Read", "Account API Tokens Write"),
			vendorPolicy(user, edge.Breadth{}, "API Tokens Write"),
		}},
	}
	values := map[string]string{RulesetsTokenName: RulesetsTokenValue, TokensTokenName: TokensTokenValue}
	var seeded []SeedToken
	for i, t := range tokens {
		seeded = append(seeded, SeedToken{
			ID: fmt.Sprintf("70ce%028x", i+1), Name: t.name, Value: cmp.Or(values[t.name], fmt.Sprintf("sim-%s-token-%022d", t.name, 1)),
			Status: statusActive, IssuedOn: "2025-01-01T00:00:00Z", Account: t.account, Policies: mustEncode(numberPolicies(t.policies, i)),
		})
	}
	return seeded
}

func numberPolicies(policies []edge.Policy, token int) []edge.Policy {
	for i := range policies {
		policies[i].ID = derivedID[string]("seeded policy", fmt.Sprint(token, " ", i))
	}
	return policies
}

func vendorPolicy(resource string, breadth edge.Breadth, groups ...string) edge.Policy {
	p := edge.Policy{Effect: edge.Allow, Resources: map[string]edge.Breadth{resource: breadth}}
	for id := range strings.SplitSeq(groupIDs(groups...), "|") {
		p.PermissionGroups = append(p.PermissionGroups, edge.PermissionGroup{ID: id})
	}
	return p
}

// rulesPolicy lets the seeded rulesets credential change the rulesets of all
// zones; what a call needs is in [Seed].EndpointPermissions.
func rulesPolicy() json.RawMessage {
	return mustEncode(numberPolicies([]edge.Policy{{
		Effect: edge.Allow, Resources: map[string]edge.Breadth{edge.ResourceAllZones: {}}, PermissionGroups: []edge.PermissionGroup{{ID: RulesGroup}},
	}}, 0))
}
