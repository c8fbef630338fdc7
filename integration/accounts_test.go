package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
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
func tenantsPlatform(t *testing.T, limit sim.RateLimit) *platform {
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
	return startPlatform(t, sim.Config{Seed: seed, Profile: mem.Vendor, RateLimit: limit})
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
func newTenantService(t *testing.T, p *platform) *service {
	s := newService(t, p, serviceConfig{Sync: "@every 1h"})
	for _, a := range tenants() {
		s.write("token-"+a.key, a.secret()+"\n")
	}
	s.configure(tenantsConfig(s))
	return s
}

// tenantsConfig is the configuration with a credential for each account.
func tenantsConfig(s *service) string {
	text := strings.Replace(s.config.text(s), "credentials:", "// none: credentials:", 1)
	for _, a := range tenants() {
		text += fmt.Sprintf("accounts: %s: credentials: rulesets: file: %q\n", a.key, filepath.Join(s.dir, "token-"+a.key))
	}
	return text
}

// live counts the zones of a tenant that have a threshold.
func (p *platform) live(a tenant, score int) (n int) {
	for i := a.first; i <= a.last; i++ {
		if p.threshold(mem.FleetZone(i)) == score {
			n++
		}
	}
	return n
}

// wantOwnCredentials checks that each request about an account or a zone was sent with the
// credential of that account.
func (p *platform) wantOwnCredentials(t *testing.T) {
	t.Helper()
	owner := map[string]tenant{}
	for _, a := range tenants() {
		owner[string(a.id)] = a
		for i := a.first; i <= a.last; i++ {
			owner[string(mem.FleetZone(i))] = a
		}
	}
	sent := map[string]int{}
	for _, e := range p.Transcript() {
		a, known := owner[strings.Split(e.Path, "/")[2]]
		if !known || e.Token != a.token {
			t.Fatalf("%s was sent with token %q, want that of %s", e.Call(), e.Token, a.key)
		}
		sent[a.key]++
	}
	for _, a := range tenants() {
		if sent[a.key] == 0 {
			t.Errorf("nothing was sent for %s", a.key)
		}
	}
}

// lastWrites returns the place in the transcript of the last write to each tenant.
func (p *platform) lastWrites() map[string]int {
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
	p := tenantsPlatform(t, sim.RateLimit{Requests: 60, Per: 4 * time.Second})
	s := newTenantService(t, p)
	s.repo.Commit("edge.cue", declareTenants(25))
	s.start()
	s.poll("the account that nothing keeps back converges", func() bool { return p.live(lab, 25) == 10 })
	s.poll("the rejected credential is told", func() bool {
		return strings.Contains(s.output(), "accounts.stage.credentials.rulesets") && s.metric("seawall_credential_down", "credential", "stage") == 1
	})
	s.poll("the throttled account converges", func() bool { return p.live(prod, 25) == 50 })
	if last := p.lastWrites(); last["lab"] > last["prod"] {
		t.Errorf("the account that nothing keeps back was done with request %d, the throttled one with %d", last["lab"], last["prod"])
	}
	if n := p.live(stage, 25); n != 0 {
		t.Errorf("%d zones written with a rejected credential", n)
	}
	if down := s.metric("seawall_credential_down", "credential", "lab"); down != 0 {
		t.Errorf("credential lab: down %v", down)
	}
	o := run(t, nil, "status", "--config", s.configFile())
	o.want(t, 4, " prod: 50 zones", " stage: 10 zones", "only probes are sent since", "credential accounts.stage.credentials.rulesets since")
	p.wantOwnCredentials(t)

	// A credential that works again needs no restart, and its zones nothing but time.
	s.write("token-stage", "sim-staging-token-0000000000000000000001\n") // of account stage, and permitted the same
	s.poll("the account with the new credential converges", func() bool { return p.live(stage, 25) == 10 })
	s.signal(syscall.SIGTERM)
	s.wantEnd(0)
}

// TestPlanWithARejectedCredential: its zones are unknown, and the others are planned and
// applied. Where no credential works there is nothing to plan.
func TestPlanWithARejectedCredential(t *testing.T) {
	t.Parallel()
	p := tenantsPlatform(t, sim.RateLimit{Off: true})
	s := newTenantService(t, p)
	s.repo.Commit("edge.cue", declareTenants(25))
	run(t, nil, "plan", "--config", s.configFile()).want(t, 4, "60 to change, 10 unknown", "accounts.stage.credentials.rulesets")
	run(t, nil, "apply", "--yes", "--config", s.configFile()).want(t, 4, "10 unknown")
	for i, a := range tenants() {
		if n := p.live(a, 25); n != []int{50, 0, 10}[i] {
			t.Errorf("%s: %d zones are live", a.key, n)
		}
	}
	p.wantOwnCredentials(t)
	run(t, nil, "plan", "--config", s.configFile(), "--only", "zone=zone-00051.example").want(t, 1, "accounts.stage.credentials.rulesets")
}

// TestAccountWithoutCredential: it is an error that names both places, in a plan, in the
// daemon and at a reload; or it is left out.
func TestAccountWithoutCredential(t *testing.T) {
	t.Parallel()
	p := tenantsPlatform(t, sim.RateLimit{Off: true})
	s := newTenantService(t, p)
	var config []string
	for _, line := range strings.Split(s.config.text(s), "\n") {
		config = append(config, strings.Replace(line, "credentials:", "// none: credentials:", 1))
	}
	with := func(accounts ...string) string { return strings.Join(append(config, accounts...), "\n") + "\n" }
	token := func(key string) string {
		return fmt.Sprintf("accounts: %s: credentials: rulesets: file: %q", key, filepath.Join(s.dir, "token-"+key))
	}
	s.configure(with(token("lab"), token("prod")))
	s.repo.Commit("edge.cue", declareTenants(25))
	run(t, nil, "plan", "--config", s.configFile()).want(t, 1, "edge.cue:58:2: account.stage: has no credential", "config.cue:9:11", "accounts.stage.skip: true")

	s.configure(with(token("lab"), token("prod"), "accounts: stage: skip: true"))
	run(t, nil, "plan", "--config", s.configFile()).want(t, 0, "60 zones: 60 to change", `in 5m for credential "prod", without a wait`)
	s.start()
	s.poll("the accounts that are not left out converge", func() bool { return p.live(tenants()[0], 25) == 50 && p.live(tenants()[2], 25) == 10 })
	for _, e := range p.Transcript() {
		if e.Token == tenants()[1].token {
			t.Fatalf("%s was sent for an account that is left out", e.Call())
		}
	}
	s.configure(with(token("lab"), "accounts: stage: skip: true"))
	s.signal(syscall.SIGHUP)
	s.poll("the reload is refused", func() bool {
		return strings.Contains(s.output(), "account.prod has no credential")
	})
	s.signal(syscall.SIGTERM)
	s.wantEnd(0)
}
