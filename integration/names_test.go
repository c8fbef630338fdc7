package integration

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/soak"
)

// accountNames are those of the platform of [namedFleet].
var accountNames = []string{"Production", "Staging", "Partners"}

// everything is the value of a token that may do everything.
const everything = "sim-all-token-000000000000000000000000001"

// namedFleet is a platform as the real service is, with n zones in three accounts.
func namedFleet(n int) sim.Config {
	seed := mem.VendorSeed()
	rulesets := seed.Accounts[0].Rulesets
	seed.Accounts, seed.Zones = nil, mem.Fleet(n).Zones
	for i, name := range accountNames {
		seed.Accounts = append(seed.Accounts, mem.SeedAccount{ID: accountID(i), Name: name, Rulesets: rulesets})
	}
	for i := range seed.Zones {
		seed.Zones[i].AccountID = accountID(i % len(accountNames))
	}
	seed.Tokens = []mem.SeedToken{{ID: "00000000000000000000000000000001", Name: "all", Value: everything}}
	return sim.Config{Seed: seed, Profile: mem.Vendor, RateLimit: sim.RateLimit{Off: true}}
}

func accountID(i int) edge.AccountID { return edge.AccountID(fmt.Sprintf("acc0%028d", i)) }

// declareNames declares zones by their names alone.
func declareNames(n, threshold int) string {
	var b strings.Builder
	b.WriteString("package edge\n\naccount: [string]: ruleset: core: name: \"Core Ruleset\"\n")
	for i := range n {
		fmt.Fprintf(&b, "account: %q: zone: \"zone-%05d.example\": waf: core: threshold: {score: %d, action: \"block\"}\n", accountNames[i%len(accountNames)], i+1, threshold)
	}
	return b.String()
}

// requests counts the calls so far whose path has a beginning.
func requests(calls []string, of ...string) (n int) {
	for _, call := range calls {
		if slices.Contains(of, strings.SplitN(call, "?", 2)[0]) {
			n++
		}
	}
	return n
}

// TestARepositoryWithoutIDs: a fleet of a thousand zones in three accounts is planned and
// applied by names alone. They are listed once, page by page, and not again: the ledger
// has them.
func TestARepositoryWithoutIDs(t *testing.T) {
	t.Parallel()
	zones := 300
	if soak.On {
		zones = 1000
	}
	p := startPlatform(t, namedFleet(zones))
	s := newService(t, p, serviceConfig{Token: everything})
	s.configure(strings.Replace(s.config.text(s), "base_url:", "profile: \"extended\"\nplatform: base_url:", 1))
	s.repo.Commit("edge.cue", declareNames(zones, 25))

	pages := 0
	for i := range accountNames {
		pages += (zones/3 + min(1, max(0, zones%3-i)) + 49) / 50
	}
	for _, c := range []struct {
		verb        string
		list, write int
	}{{"plan", pages, 0}, {"apply", pages, zones}, {"plan", 0, 0}, {"apply", 0, 0}} {
		p.ClearTranscript()
		out := run(t, nil, c.verb, "--config", s.configFile())
		if out.code != 0 {
			t.Fatalf("%s: %d\n%.2000s\n%s", c.verb, out.code, out.stdout, out.stderr)
		}
		calls := p.calls()
		if got := requests(calls, "GET /zones"); got != c.list {
			t.Errorf("%s: %d requests for zones, want %d", c.verb, got, c.list)
		}
		if got := requests(calls, "GET /accounts"); got != min(1, c.list) {
			t.Errorf("%s: %d requests for accounts, want %d", c.verb, got, min(1, c.list))
		}
		if got := len(p.writes()); got != c.write {
			t.Errorf("%s: %d zones are written, want %d", c.verb, got, c.write)
		}
	}
	for i := 1; i <= zones; i++ {
		if got := p.threshold(mem.FleetZone(i)); got != 25 {
			t.Fatalf("zone %d has the threshold %d", i, got)
		}
	}

	s.start()
	s.pollReady()
	p.ClearTranscript()
	s.repo.Commit("edge.cue", strings.Replace(declareNames(zones, 25), "score: 25", "score: 26", 1)+
		"account: Production: zone: \"zone-99999.example\": waf: core: paranoia: 2\n")
	s.poll("the commit is live", func() bool { return p.threshold(mem.FleetZone(1)) == 26 })
	s.poll("the unknown zone is told of", func() bool { return strings.Contains(s.output(), `no zone named \"zone-99999.example\"`) })
	if writes := p.writes(); len(writes) != 1 {
		t.Errorf("writes %v", writes)
	}
	out := run(t, nil, "why", "zone-99999.example", "--config", s.configFile())
	if !strings.Contains(out.stdout, "no zone named") || strings.Contains(out.stdout+out.stderr, string(desired.SoughtZone("Production", ""))) {
		t.Errorf("%s%s", out.stdout, out.stderr)
	}
}

// permissionsOfReadme are those of the API token that the README names.
var permissionsOfReadme = regexp.MustCompile("Create an API token with the permissions `([^`]+)` and `([^`]+)`")

// TestReadmeOnTheRealPlatform does the steps that the README has for the real platform, with
// its configuration, against a platform that is as strict as the real one. The credential
// has exactly the permissions that the README names: it may read nothing of accounts.
func TestReadmeOnTheRealPlatform(t *testing.T) {
	t.Parallel()
	_, steps, _ := strings.Cut(readme(t), "## On the real platform\n")
	steps, _, _ = strings.Cut(steps, "\n## ")
	names := permissionsOfReadme.FindStringSubmatch(steps)
	_, config, _ := strings.Cut(steps, "```cue\n")
	config, _, found := strings.Cut(config, "```")
	if names == nil || !found {
		t.Fatalf("the README names no permissions, or has no configuration:\n%s", steps)
	}
	seed := mem.VendorSeed()
	seed.Tokens = []mem.SeedToken{{ID: "00000000000000000000000000000001", Name: "readme", Value: everything, Policies: policyFor(t, seed, names[1:])}}
	p := startPlatform(t, sim.Config{Seed: seed, Profile: mem.Vendor, Vendor: "cloudflare"})
	s := newService(t, p, serviceConfig{Token: everything})
	config = regexp.MustCompile(`(?m)^\s*auth:.*$`).ReplaceAllString(config, "")
	for old, with := range map[string]string{
		"https://git.example/acme/edge.git": "file://" + s.repo.Dir,
		"/etc/seawall/rulesets-token":       filepath.Join(s.dir, "token"),
		`platform: preset: "cloudflare"`:    fmt.Sprintf("platform: {preset: %q, base_url: %q}", "cloudflare", p.BaseURL),
	} {
		if !strings.Contains(config, old) {
			t.Fatalf("the configuration of the README has no %s", old)
		}
		config = strings.ReplaceAll(config, old, with)
	}
	s.configure(config + fmt.Sprintf("state: dir: %q\nlisten: \"127.0.0.1:0\"\nschedule: sync: \"@every 1s\"\n", filepath.Join(s.dir, "state")))
	s.repo.Commit("edge.cue", fmt.Sprintf(`package edge

account: prod: {
	id: %q
	ruleset: core: name: "Core Ruleset"
	zone: "shop.example": waf: core: threshold: {score: 25, action: "block"}
}
`, mem.Account))
	for _, verb := range []string{"doctor", "plan"} {
		if out := run(t, nil, verb, "--config", s.configFile()); out.code != 0 || strings.Contains(out.stdout, "failed") {
			t.Errorf("%s: %d\n%s\n%s", verb, out.code, out.stdout, out.stderr)
		}
	}
	s.start()
	s.poll("the commit is live", func() bool { return p.threshold(mem.ShopZone) == 25 })
}

// policyFor is a policy of all zones with some permission groups.
func policyFor(t *testing.T, seed mem.Seed, groups []string) json.RawMessage {
	t.Helper()
	policy := edge.Policy{ID: "00000000000000000000000000000002", Effect: edge.Allow, Resources: map[string]edge.Breadth{edge.ResourceAllZones: {}}}
	for _, name := range groups {
		i := slices.IndexFunc(seed.PermissionGroups, func(g mem.SeedPermissionGroup) bool { return g.Name == name })
		if i < 0 {
			t.Fatalf("the platform has no permission %q", name)
		}
		policy.PermissionGroups = append(policy.PermissionGroups, edge.PermissionGroup{ID: seed.PermissionGroups[i].ID})
	}
	data, err := json.Marshal([]edge.Policy{policy})
	if err != nil {
		t.Fatal(err)
	}
	return data
}
