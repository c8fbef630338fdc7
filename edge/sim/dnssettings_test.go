package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/mem"
)

// The setting and the field are one thing in two places, until one has gone.
func TestFlatteningIsKeptInStep(t *testing.T) {
	r := travelling(t, "2025-03-20")
	control := func(method, body string) mem.DNSSettings {
		t.Helper()
		got, err := send(t, method, r.ControlURL()+"/zones/"+string(mem.ShopZone)+"/dns_settings", body)
		if err != nil || got.status != 200 {
			t.Fatalf("%d %s %v", got.status, got.body, err)
		}
		var s mem.DNSSettings
		got.decode(t, &s)
		return s
	}
	for _, step := range []struct {
		value string // what the setting is set to
		field any    // what the field is set to
		want  string // what the setting then says
	}{
		{"on", nil, "on"},
		{"apex", nil, "apex"},
		{"", false, "apex"}, // already so: off and apex both map to it
		{"", true, "on"},
		{"", false, "off"},
		{"on", nil, "on"},
		{"off", nil, "off"},
	} {
		if step.value != "" {
			got := call(t, r, "PATCH", flatteningPath, `{"value":"`+step.value+`"}`)
			got.want(t, 200, `{"result":{"id":"cname_flattening","value":"`+step.want+`"},"success":true,"errors":[],"messages":[]}`)
		} else {
			control("PUT", fmt.Sprintf(`{"flatten_all_cnames":%t}`, step.field))
		}
		if got := control("GET", ""); got.FlattenAllCNAMEs != (step.want == "on") || got.ZoneDefaults.Nameservers.Type != "cloudflare.standard" {
			t.Errorf("%+v: the settings are %+v", step, got)
		}
		if got := call(t, r, "GET", flatteningPath, ""); !strings.Contains(got.body, `"value":"`+step.want+`"`) {
			t.Errorf("%+v: the setting is %s", step, got.body)
		}
	}
	call(t, r, "PATCH", flatteningPath, `{"value":"on"}`)
	for _, body := range []string{`{"value":"maybe"}`, `{"value":true}`, `{}`} {
		if got := call(t, r, "PATCH", flatteningPath, body); got.status != 400 {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	r.SetClock(deprecation.Date("2025-03-21").Time())
	if !control("GET", "").FlattenAllCNAMEs {
		t.Error("the field went away with the setting")
	}
	control("PUT", `{"flatten_all_cnames":false,"multi_provider":true}`)
	r.SetClock(eve("2025-03-21"))
	if got := call(t, r, "GET", flatteningPath, ""); !strings.Contains(got.body, `"value":"off"`) {
		t.Errorf("what was set meanwhile: %s", got.body)
	}
}

func TestDNSSettingsControlRefuses(t *testing.T) {
	r := travelling(t, "2027-01-01")
	for zone, bodies := range map[string][]string{
		string(mem.ShopZone): {`{"flatten":true}`, `{"zone_defaults":{"nameservers":{"type":"mine"}}}`, `[`, `{"flatten_all_cnames":"on"}`},
		nowhere:              {`{}`},
	} {
		for _, body := range bodies {
			got, err := send(t, "PUT", r.ControlURL()+"/zones/"+zone+"/dns_settings", body)
			if err != nil || got.status != 400 && got.status != 404 || !strings.Contains(got.body, `"hint":"`) {
				t.Errorf("%s: %d %s %v", body, got.status, got.body, err)
			}
		}
	}
}
