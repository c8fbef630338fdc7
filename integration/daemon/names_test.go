package daemon

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/harness"
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
	p := harness.StartPlatform(t, namedFleet(zones))
	s := harness.NewService(t, p, harness.ServiceConfig{Token: everything})
	s.Configure(strings.Replace(s.Config.Text(s), "base_url:", "profile: \"extended\"\nplatform: base_url:", 1))
	s.Repo.Commit("edge.cue", declareNames(zones, 25))

	pages := 0
	for i := range accountNames {
		pages += (zones/3 + min(1, max(0, zones%3-i)) + 49) / 50
	}
	for _, c := range []struct {
		verb        string
		list, write int
	}{{"plan", pages, 0}, {"apply", pages, zones}, {"plan", 0, 0}, {"apply", 0, 0}} {
		p.ClearTranscript()
		out := harness.Run(t, nil, c.verb, "--config", s.ConfigFile())
		if out.Code != 0 {
			t.Fatalf("%s: %d\n%.2000s\n%s", c.verb, out.Code, out.Stdout, out.Stderr)
		}
		calls := p.Calls()
		if got := requests(calls, "GET /zones"); got != c.list {
			t.Errorf("%s: %d requests for zones, want %d", c.verb, got, c.list)
		}
		if got := requests(calls, "GET /accounts"); got != min(1, c.list) {
			t.Errorf("%s: %d requests for accounts, want %d", c.verb, got, min(1, c.list))
		}
		if got := len(p.Writes()); got != c.write {
			t.Errorf("%s: %d zones are written, want %d", c.verb, got, c.write)
		}
	}
	for i := 1; i <= zones; i++ {
		if got := p.Threshold(mem.FleetZone(i)); got != 25 {
			t.Fatalf("zone %d has the threshold %d", i, got)
		}
	}

	s.Start()
	s.PollReady()
	p.ClearTranscript()
	s.Repo.Commit("edge.cue", strings.Replace(declareNames(zones, 25), "score: 25", "score: 26", 1)+
		"account: Production: zone: \"zone-99999.example\": waf: core: paranoia: 2\n")
	s.Poll("the commit is live", func() bool { return p.Threshold(mem.FleetZone(1)) == 26 })
	s.Poll("the unknown zone is told of", func() bool { return strings.Contains(s.Output(), `no zone named \"zone-99999.example\"`) })
	if writes := p.Writes(); len(writes) != 1 {
		t.Errorf("writes %v", writes)
	}
	out := harness.Run(t, nil, "why", "zone-99999.example", "--config", s.ConfigFile())
	if !strings.Contains(out.Stdout, "no zone named") || strings.Contains(out.Stdout+out.Stderr, string(desired.SoughtZone("Production", ""))) {
		t.Errorf("%s%s", out.Stdout, out.Stderr)
	}
}
