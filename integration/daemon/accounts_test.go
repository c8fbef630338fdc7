package daemon

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/harness"
)

// tenant is an account of the tests with its zones, first to last of a fleet, and its
// credential.
type tenant struct {
	key         string
	id          edge.AccountID
	first, last int
	token       string // the id of its credential
	status      string
}

func tenants() []tenant {
	return []tenant{
		{"prod", mem.Account, 1, 50, "70ce00000000000000000000000000a1", "active"},
		{"stage", mem.Staging, 51, 60, "70ce00000000000000000000000000a2", "disabled"},
		{"lab", "0123456789abcdef0123456789abcd03", 61, 70, "70ce00000000000000000000000000a3", "active"},
	}
}

func (a tenant) secret() string { return "sim-" + a.key + "-token-0000000000000000000000001" }

// tenantsPlatform is a platform of the profile vendor with three accounts, of which each
// has a credential that is permitted nothing elsewhere.
func tenantsPlatform(t *testing.T, limit sim.RateLimit) *harness.Platform {
	seed := mem.VendorSeed()
	fleet := mem.Fleet(70)
	seed.Accounts = append(seed.Accounts, mem.SeedAccount{ID: tenants()[2].id, Name: "Lab", Rulesets: mem.Fleet(1).Accounts[0].Rulesets})
	for _, a := range tenants() {
		for i := a.first; i <= a.last; i++ {
			zone := fleet.Zones[i-1]
			zone.AccountID = a.id
			seed.Zones = append(seed.Zones, zone)
		}
		seed.Tokens = append(seed.Tokens, mem.SeedToken{
			ID: a.token, Name: a.key, Value: a.secret(), Status: a.status, Account: a.id,
			Policies: json.RawMessage(fmt.Sprintf(`[
				{"effect": "allow", "resources": {"com.vendor.api.account.%s": {"com.vendor.api.account.zone.*": "*"}}, "permission_groups": [{"id": "9a0f0000000000000000000000000001"}, {"id": %q}]},
				{"effect": "allow", "resources": {"com.vendor.api.account.%s": "*"}, "permission_groups": [{"id": "9a0f0000000000000000000000000003"}]}]`, a.id, mem.RulesGroup, a.id)),
		})
	}
	return harness.StartPlatform(t, sim.Config{Seed: seed, Profile: mem.Vendor, RateLimit: limit})
}

// declareTenants is a repository with all zones of all tenants.
func declareTenants(score int) string {
	var b strings.Builder
	b.WriteString("package edge\n\n")
	for _, a := range tenants() {
		fmt.Fprintf(&b, "account: %s: {\n\tid: %q\n\truleset: core: name: \"Core Ruleset\"\n", a.key, a.id)
		for i := a.first; i <= a.last; i++ {
			fmt.Fprintf(&b, "\tzone: \"zone-%05d.example\": {id: %q, waf: core: threshold: {score: %d, action: \"block\"}}\n", i, mem.FleetZone(i), score)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// newTenantService has a credential for each account, and none at the top level.
func newTenantService(t *testing.T, p *harness.Platform) *harness.Service {
	s := harness.NewService(t, p, harness.ServiceConfig{Sync: "@every 1h"})
	for _, a := range tenants() {
		s.Write("token-"+a.key, a.secret()+"\n")
	}
	s.Configure(tenantsConfig(s))
	return s
}

// tenantsConfig is the configuration with a credential for each account.
func tenantsConfig(s *harness.Service) string {
	text := strings.Replace(s.Config.Text(s), "credentials:", "// none: credentials:", 1)
	for _, a := range tenants() {
		text += fmt.Sprintf("accounts: %s: credentials: rulesets: file: %q\n", a.key, filepath.Join(s.Dir, "token-"+a.key))
	}
	return text
}

// live counts the zones of a tenant that have a threshold.
func live(p *harness.Platform, a tenant, score int) int { return p.At(a.first, a.last, score) }

// wantOwnCredentials checks that each request is about an account or a zone, but for some
// lists, and was sent with the credential of that account. It counts them by tenant.
func wantOwnCredentials(p *harness.Platform, t *testing.T, lists ...string) (sent map[string]int) {
	t.Helper()
	owner := map[string]tenant{}
	for _, a := range tenants() {
		owner[string(a.id)] = a
	}
	for _, zone := range p.Platform.State().Zones {
		owner[string(zone.ID)] = owner[string(zone.AccountID)]
	}
	sent = map[string]int{}
	for _, e := range p.Transcript() {
		if slices.Contains(lists, e.Path) {
			continue
		}
		a, known := owner[strings.Split(e.Path, "/")[2]]
		if !known || e.Token != a.token {
			t.Fatalf("%s was sent with token %q, want that of %s", e.Call(), e.Token, a.key)
		}
		sent[a.key]++
	}
	return sent
}

// lastWrites returns the place in the transcript of the last write to each tenant.
func lastWrites(p *harness.Platform) map[string]int {
	last := map[string]int{}
	for n, e := range p.Transcript() {
		for _, a := range tenants() {
			if e.Method == http.MethodPatch && e.Token == a.token {
				last[a.key] = n
			}
		}
	}
	return last
}

// TestAccountsConvergeInTheirOwnTime: three accounts, three credentials. One is rejected and
// one throttled; the third does not notice. No request is sent with another's credential.
func TestAccountsConvergeInTheirOwnTime(t *testing.T) {
	t.Parallel()
	all := tenants()
	prod, stage, lab := all[0], all[1], all[2]
	p := tenantsPlatform(t, sim.RateLimit{Requests: 60, Per: 2 * time.Second})
	s := newTenantService(t, p)
	s.Repo.Commit("edge.cue", declareTenants(25))
	s.Start()
	s.Poll("the account that nothing keeps back converges", func() bool { return live(p, lab, 25) == 10 })
	s.Poll("the rejected credential is told", func() bool {
		return strings.Contains(s.Output(), "accounts.stage.credentials.rulesets") && s.Metric("seawall_credential_down", "credential", "stage") == 1
	})
	s.Poll("the throttled account converges", func() bool { return live(p, prod, 25) == 50 })
	if last := lastWrites(p); last["lab"] > last["prod"] {
		t.Errorf("the account that nothing keeps back was done with request %d, the throttled one with %d", last["lab"], last["prod"])
	}
	if n := live(p, stage, 25); n != 0 {
		t.Errorf("%d zones written with a rejected credential", n)
	}
	if down := s.Metric("seawall_credential_down", "credential", "lab"); down != 0 {
		t.Errorf("credential lab: down %v", down)
	}
	o := harness.Run(t, nil, "status", "--config", s.ConfigFile())
	o.Want(t, 4, " prod: 50 zones", " stage: 10 zones", "only probes are sent since", "credential accounts.stage.credentials.rulesets since")
	if sent := wantOwnCredentials(p, t); len(sent) != len(all) {
		t.Errorf("requests were sent for %v alone", sent)
	}

	// A credential that works again needs no restart, and its zones nothing but time.
	s.Write("token-stage", "sim-staging-token-0000000000000000000001\n") // of account stage, and permitted the same
	s.Poll("the account with the new credential converges", func() bool { return live(p, stage, 25) == 10 })
	s.Signal(syscall.SIGTERM)
	s.WantEnd(0)
}

// TestPlanWithARejectedCredential: its zones are unknown, and the others are planned and
// applied. Where no credential works there is nothing to plan.
func TestPlanWithARejectedCredential(t *testing.T) {
	t.Parallel()
	p := tenantsPlatform(t, sim.RateLimit{Off: true})
	s := newTenantService(t, p)
	s.Repo.Commit("edge.cue", declareTenants(25))
	harness.Run(t, nil, "plan", "--config", s.ConfigFile()).Want(t, 4, "60 to change, 10 unknown", "accounts.stage.credentials.rulesets")
	harness.Run(t, nil, "apply", "--yes", "--config", s.ConfigFile()).Want(t, 4, "10 unknown")
	for i, a := range tenants() {
		if n := live(p, a, 25); n != []int{50, 0, 10}[i] {
			t.Errorf("%s: %d zones are live", a.key, n)
		}
	}
	wantOwnCredentials(p, t)
	harness.Run(t, nil, "plan", "--config", s.ConfigFile(), "--only", "zone=zone-00051.example").Want(t, 1, "accounts.stage.credentials.rulesets")
}

// TestAccountWithoutCredential: it is an error that names both places, in a plan, in the
// daemon and at a reload; or it is left out.
func TestAccountWithoutCredential(t *testing.T) {
	t.Parallel()
	p := tenantsPlatform(t, sim.RateLimit{Off: true})
	s := newTenantService(t, p)
	var config []string
	for _, line := range strings.Split(s.Config.Text(s), "\n") {
		config = append(config, strings.Replace(line, "credentials:", "// none: credentials:", 1))
	}
	with := func(accounts ...string) string { return strings.Join(append(config, accounts...), "\n") + "\n" }
	token := func(key string) string {
		return fmt.Sprintf("accounts: %s: credentials: rulesets: file: %q", key, filepath.Join(s.Dir, "token-"+key))
	}
	s.Configure(with(token("lab"), token("prod")))
	s.Repo.Commit("edge.cue", declareTenants(25))
	harness.Run(t, nil, "plan", "--config", s.ConfigFile()).Want(t, 1, "edge.cue:58:2: account.stage: has no credential", "config.cue:10:11", "accounts.stage.skip: true")

	s.Configure(with(token("lab"), token("prod"), "accounts: stage: skip: true"))
	harness.Run(t, nil, "plan", "--config", s.ConfigFile()).Want(t, 0, "60 zones: 60 to change", `in 5m for credential "prod", without a wait`)
	s.Start()
	s.Poll("the accounts that are not left out converge", func() bool { return live(p, tenants()[0], 25) == 50 && live(p, tenants()[2], 25) == 10 })
	for _, e := range p.Transcript() {
		if e.Token == tenants()[1].token {
			t.Fatalf("%s was sent for an account that is left out", e.Call())
		}
	}
	s.Configure(with(token("lab"), "accounts: stage: skip: true"))
	s.Signal(syscall.SIGHUP)
	s.Poll("the reload is refused", func() bool {
		return strings.Contains(s.Output(), "account.prod has no credential")
	})
	s.Signal(syscall.SIGTERM)
	s.WantEnd(0)
}
