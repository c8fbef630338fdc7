package daemon

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// wantOnlyFor checks that each request was sent with the credential of one account.
func wantOnlyFor(p *harness.Platform, t *testing.T, a tenant) {
	t.Helper()
	for _, e := range p.Transcript() {
		if e.Token != a.token {
			t.Fatalf("%s was sent with token %q", e.Call(), e.Token)
		}
	}
}

// TestImportWithLanes: each account is read with its own credential. One whose credential
// does not work is left out by name, and imported later.
func TestImportWithLanes(t *testing.T) {
	t.Parallel()
	p := tenantsPlatform(t, sim.RateLimit{Off: true})
	s := newTenantService(t, p)
	s.Configure(strings.Replace(tenantsConfig(s), "base_url:", "profile: \"extended\"\nplatform: base_url:", 1))
	dir := filepath.Join(t.TempDir(), "edge")
	o := harness.Run(t, nil, "import", "--config", s.ConfigFile(), dir)
	o.Want(t, 4, "imported 63 zones of 2 accounts", "! account stage: the credential accounts.stage.credentials.rulesets does not work")
	text := harness.ReadText(t, filepath.Join(dir, "edge.cue"))
	for _, want := range []string{
		"// Not imported: account stage: the credential accounts.stage.credentials.rulesets does not work",
		"account: prod: {\n\tid: \"" + string(tenants()[0].id), "account: lab: {\n\tid: \"" + string(tenants()[2].id),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("edge.cue does not have %q:\n%s", want, text)
		}
	}
	wantOwnCredentials(p, t, "/accounts", "/zones")
	harness.Run(t, nil, "plan", "--dir", dir, "--config", s.ConfigFile()).Want(t, 0, "63 zones: 63 in sync")

	// Only what is named is asked for.
	p.ClearTranscript()
	harness.Run(t, nil, "import", "--config", s.ConfigFile(), "--account", "lab", filepath.Join(t.TempDir(), "lab")).Want(t, 0, "imported 10 zones of 1 account")
	wantOnlyFor(p, t, tenants()[2])

	// With a credential that works the rest follows.
	s.Write("token-stage", "sim-staging-token-0000000000000000000001\n")
	harness.Run(t, nil, "import", "--config", s.ConfigFile(), dir).Want(t, 0, "imported 12 zones of 1 account", "63 zones are declared already")
	harness.Run(t, nil, "plan", "--dir", dir, "--config", s.ConfigFile()).Want(t, 0, "75 zones: 75 in sync")

	text = harness.ReadText(t, filepath.Join(dir, "zones-lab.cue"))
	if want := "\"zone-00062.example\": waf: _standard // id " + mem.FleetZone(62).String(); !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	// Absorb reads with the credential of the zone's account, and finds the zone by its name.
	changed := p.EntryPoint(mem.FleetZone(62))
	changed.Rules[0].Enabled = new(false)
	must.Do(t, p.Platform.SetEntryPoint(mem.FleetZone(62), changed))
	p.ClearTranscript()
	harness.Run(t, nil, "absorb", "--config", s.ConfigFile(), "--dir", dir, "zone-00062.example").Want(t, 0, "enabled: false")
	wantOnlyFor(p, t, tenants()[2])
	harness.Run(t, nil, "plan", "--dir", dir, "--config", s.ConfigFile()).Want(t, 0, "75 zones: 75 in sync")
	s.Write("token-lab", "sim-lab-token-that-is-over-000000000000\n")
	harness.Run(t, nil, "absorb", "--config", s.ConfigFile(), "--dir", dir, "zone-00062.example").Want(t, 1, "accounts.lab.credentials.rulesets")
}
