package documents

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// mayDoAll is the value of a token with all that the README asks for.
const mayDoAll = "sim-all-token-000000000000000000000000001"

// permissionsOfReadme are those of the API token that the README names.
var permissionsOfReadme = regexp.MustCompile("Create an API token with the permissions `([^`]+)` and `([^`]+)`")

// TestReadmeOnTheRealPlatform does the steps that the README has for the real platform, with
// its configuration, against a platform that is as strict as the real one. The credential
// has exactly the permissions that the README names: it may read nothing of accounts.
func TestReadmeOnTheRealPlatform(t *testing.T) {
	t.Parallel()
	_, steps, _ := strings.Cut(harness.ReadText(t, filepath.Join(harness.Root, "README.md")), "## On the real platform\n")
	steps, _, _ = strings.Cut(steps, "\n## ")
	names := permissionsOfReadme.FindStringSubmatch(steps)
	_, config, _ := strings.Cut(steps, "```cue\n")
	config, _, found := strings.Cut(config, "```")
	if names == nil || !found {
		t.Fatalf("the README names no permissions, or has no configuration:\n%s", steps)
	}
	seed := mem.VendorSeed()
	seed.Tokens = []mem.SeedToken{{ID: "00000000000000000000000000000001", Name: "readme", Value: mayDoAll, Policies: policyFor(t, seed, names[1:])}}
	p := harness.StartPlatform(t, sim.Config{Seed: seed, Profile: mem.Vendor, Vendor: "cloudflare"})
	s := harness.NewService(t, p, harness.ServiceConfig{Token: mayDoAll})
	config = regexp.MustCompile(`(?m)^\s*auth:.*$`).ReplaceAllString(config, "")
	for old, with := range map[string]string{
		"https://git.example/acme/edge.git": "file://" + s.Repo.Dir,
		"/etc/seawall/rulesets-token":       filepath.Join(s.Dir, "token"),
		`platform: preset: "cloudflare"`:    fmt.Sprintf("platform: {preset: %q, base_url: %q}", "cloudflare", p.BaseURL),
	} {
		if !strings.Contains(config, old) {
			t.Fatalf("the configuration of the README has no %s", old)
		}
		config = strings.ReplaceAll(config, old, with)
	}
	s.Configure(config + fmt.Sprintf("state: dir: %q\nlisten: \"127.0.0.1:0\"\nschedule: sync: \"@every 1s\"\n", filepath.Join(s.Dir, "state")))
	s.Repo.Commit("edge.cue", fmt.Sprintf(`package edge

account: prod: {
	id: %q
	ruleset: core: name: "Core Ruleset"
	zone: "shop.example": waf: core: threshold: {score: 25, action: "block"}
}
`, mem.Account))
	for _, verb := range []string{"doctor", "plan"} {
		if out := harness.Run(t, nil, verb, "--config", s.ConfigFile()); out.Code != 0 || strings.Contains(out.Stdout, "failed") {
			t.Errorf("%s: %d\n%s\n%s", verb, out.Code, out.Stdout, out.Stderr)
		}
	}
	s.Start()
	s.Poll("the commit is live", func() bool { return p.Threshold(mem.ShopZone) == 25 })
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
	must.Do(t, err)
	return data
}
