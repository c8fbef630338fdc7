package setup

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/integration/must"
)

// Plans go into pull requests, and what a daemon reports goes further: of a
// rewritten request they show what the check shows of it.
func TestNoticesOfIntegrationsAreMasked(t *testing.T) {
	s, err := newSunset()
	must.Do(t, err)
	state := desired.State{Integrations: []desired.Integration{{Name: "x", Calls: []desired.Call{
		{Method: "GET", Path: "https://u:hunter2@h/zones/z/dns_records?name=contains:shop&api_key=hunter2"},
		{Method: "POST", Path: "/zones/z/dns_records", Body: `{"zone_id":"z","secret":"hunter2"}`},
		{Method: "GET", Path: "/zones/z/dns_records?name=a,b&api_key=hunter2"},
	}}}}
	text, err := json.Marshal(s.notices(state, deprecation.Date("2026-01-01").Time()))
	must.Do(t, err)
	if strings.Contains(string(text), "hunter2") {
		t.Errorf("a secret is shown:\n%s", text)
	}
	for _, want := range []string{"name.contains=shop", `"secret":"…"`, "name=b"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not shown:\n%s", want, text)
		}
	}
}
