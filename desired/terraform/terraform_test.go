package terraform

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

func readFile(t *testing.T, name string) State {
	t.Helper()
	file, err := os.Open(name)
	must.Do(t, err)
	defer file.Close()
	state, err := Read(file)
	must.Do(t, err)
	return state
}

// Blocks of version 4 and attributes of version 5 say the same.
func TestBothVersionsOfTheProviderSayTheSame(t *testing.T) {
	four, five := readFile(t, "testdata/v4.tfstate"), readFile(t, "testdata/v5.plan.json")
	if len(four.Zones) != 50 || len(four.EntryPoints) != 49 || len(four.Tokens) != 2 {
		t.Errorf("%d zones, %d entry points, %d tokens", len(four.Zones), len(four.EntryPoints), len(four.Tokens))
	}
	if !reflect.DeepEqual(four.Zones, five.Zones) || !reflect.DeepEqual(four.Tokens, five.Tokens) {
		t.Errorf("%+v\n%+v", four.Tokens, five.Tokens)
	}
	for id, want := range four.EntryPoints {
		if got := five.EntryPoints[id]; !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\n%+v\n%+v", id, got, want)
		}
	}
	want := []string{
		`cloudflare_record.www: Seawall does not manage resources of the type cloudflare_record`,
		`cloudflare_ruleset.custom: its phase is http_request_firewall_custom; Seawall manages http_request_firewall_managed`,
		`cloudflare_ruleset.account: it is a ruleset of the kind "root" and not of a zone`,
	}
	if !slices.Equal(four.Left, want) {
		t.Errorf("left %q", four.Left)
	}
	if text := fmt.Sprintf("%+v", four) + fmt.Sprintf("%+v", five); strings.Contains(text, "Secret") {
		t.Error("a secret was read")
	}
}

func TestFilesThatAreNoState(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "not JSON",
		"resource \"x\" {}":          "not JSON",
		`{}`:                         "neither a Terraform state nor a plan",
		`{"version":3,"modules":[]}`: "version 3",
		`{"encrypted_data":"eyJ","encryption_version":"v0","lineage":"1","serial":2}`: "encrypted",
		`{"version":4,"resources":"odd"}`:                                             "not JSON",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What a state says in other ways.
func TestOtherForms(t *testing.T) {
	const state = `{"version":4,"resources":[
		{"mode":"managed","type":"cloudflare_zone","name":"old","instances":[{"schema_version":0,"attributes_flat":{"id":"000000000000000000000000000000a2","zone":"old.example"}}]},
		{"mode":"managed","type":"cloudflare_zone","name":"new","instances":[{"attributes":{"zone":"new.example"}}]},
		{"mode":"managed","type":"cloudflare_ruleset","name":"waf","instances":[{"deposed":"0c7b1e2f","attributes":{"zone_id":"000000000000000000000000000000a1","kind":"zone","phase":"http_request_firewall_managed"}},
			{"index_key":0,"attributes":{"zone_id":"000000000000000000000000000000a1","kind":"zone","phase":"http_request_firewall_managed",
			"rules":[{"action":"execute","expression":"true","action_parameters":[{"id":"c04e0000000000000000000000000001","overrides":[{"status":"disabled","categories":[{"category":"php","status":"enabled"}]}]}]}]}}]},
		{"mode":"managed","type":"cloudflare_ruleset","name":"again","instances":[{"attributes":{"zone_id":"000000000000000000000000000000a1","kind":"zone","phase":"http_request_firewall_managed"}}]},
		{"mode":"managed","type":"cloudflare_api_token","name":"all","instances":[{"attributes":{"id":"t1","name":"all","policies":[{"effect":"allow","permission_groups":[{"id":"g"}],
			"resources":"{\"com.cloudflare.api.account.0123456789abcdef0123456789abcdef\":{\"com.cloudflare.api.account.zone.*\":\"*\"}}"}]}}]}]}`
	s, err := Read(strings.NewReader(state))
	must.Do(t, err)
	if want := []string{"cloudflare_zone.old: its state is in the form of Terraform 0.11; terraform apply -refresh-only writes it anew", "cloudflare_zone.new: it has no id yet", "cloudflare_ruleset.again: another resource is the same entry point of the zone"}; !slices.Equal(s.Left, want) {
		t.Errorf("left %q", s.Left)
	}
	zone := edge.ZoneID("000000000000000000000000000000a1")
	if len(s.Zones) != 1 || s.Zones[0].ID != zone || s.Zones[0].Name != string(zone) {
		t.Errorf("zones %+v", s.Zones)
	}
	o := s.EntryPoints[zone].Rules[0].ActionParameters.Overrides
	if o.Enabled == nil || *o.Enabled || o.Categories[0].Enabled == nil || !*o.Categories[0].Enabled {
		t.Errorf("overrides %+v", o)
	}
	if r := s.Tokens[0].Policies[0].Resources["com.vendor.api.account.0123456789abcdef0123456789abcdef"]; !r.AllZones {
		t.Errorf("tokens %+v", s.Tokens)
	}
}

// A zone that the state looks up, and does not manage, has its name and account there.
func TestZonesThatAreLookedUp(t *testing.T) {
	const ruleset = `{"mode":"managed","type":"cloudflare_ruleset","name":"waf","instances":[{"attributes":{"zone_id":"000000000000000000000000000000a1","kind":"zone","phase":"http_request_firewall_managed"}}]}`
	for name, data := range map[string]string{
		"version 4": `{"mode":"data","type":"cloudflare_zone","name":"shop","instances":[{"attributes":
			{"id":"000000000000000000000000000000a1","zone_id":"000000000000000000000000000000a1","name":"shop.example","account_id":"0123456789abcdef0123456789abcdef"}}]}`,
		"version 5": `{"mode":"data","type":"cloudflare_zone","name":"shop","instances":[{"attributes":
			{"zone_id":"000000000000000000000000000000a1","name":"shop.example","account":{"id":"0123456789abcdef0123456789abcdef","name":"Shops"},"filter":null}}]}`,
		"a list of version 5": `{"mode":"data","type":"cloudflare_zones","name":"all","instances":[{"attributes":
			{"result":[{"id":"000000000000000000000000000000a1","name":"shop.example","account":{"id":"0123456789abcdef0123456789abcdef"}},{"id":"000000000000000000000000000000a2","name":"blog.example"}]}}]}`,
	} {
		s, err := Read(strings.NewReader(`{"version":4,"resources":[` + ruleset + "," + data + "]}"))
		must.Do(t, err)
		if len(s.Zones) != 1 || len(s.Left) > 0 {
			t.Fatalf("%s: zones %+v, left %q", name, s.Zones, s.Left)
		}
		if z := s.Zones[0]; z.ID != "000000000000000000000000000000a1" || z.Name != "shop.example" || z.Account.ID != "0123456789abcdef0123456789abcdef" {
			t.Errorf("%s: %+v", name, z)
		}
	}
}

func TestTokensOfAnAccount(t *testing.T) {
	const account = "0123456789abcdef0123456789abcdef"
	s, err := Read(strings.NewReader(`{"version":4,"resources":[{"mode":"managed","type":"cloudflare_account_token","name":"ci","instances":[
		{"attributes":{"id":"t1","account_id":"` + account + `","name":"ci","value":"Secret","policies":[{"effect":"allow","permission_groups":[{"id":"g"}],"resources":"{}"}]}},
		{"attributes":{"name":"new"}}]}]}`))
	must.Do(t, err)
	if owned := s.Owned[account]; len(owned) != 1 || owned[0].ID != "t1" || owned[0].Name != "ci" || len(s.Tokens) > 0 || strings.Contains(fmt.Sprintf("%+v", s), "Secret") {
		t.Errorf("%+v", s)
	}
	if !slices.Equal(s.Left, []string{"cloudflare_account_token.ci: it has no account yet"}) {
		t.Errorf("left %q", s.Left)
	}
}

// PowerShell's > writes UTF-16 or a mark in front of UTF-8.
func TestMarksOfPowerShell(t *testing.T) {
	const state = `{"version":4,"resources":[{"mode":"managed","type":"cloudflare_zone","name":"z","instances":[{"attributes":{"id":"000000000000000000000000000000a1","zone":"shop.example"}}]}]}`
	wide := []byte{0xff, 0xfe}
	for _, b := range []byte(state) {
		wide = append(wide, b, 0)
	}
	for name, text := range map[string]string{"UTF-8 with a mark": "\ufeff" + state, "UTF-16": string(wide)} {
		s, err := Read(strings.NewReader(text))
		if err != nil || len(s.Zones) != 1 || s.Zones[0].Name != "shop.example" {
			t.Errorf("%s: %+v, %v", name, s.Zones, err)
		}
	}
}
