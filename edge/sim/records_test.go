package sim_test

import (
	"encoding/json"
	"testing"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
)

func TestCommaListsLiveLonger(t *testing.T) {
	r := travelling(t, "2025-05-22")
	for _, query := range []string{"name=www.shop.example,shop.example", "content=192.0.2.10,%20x"} {
		list := effect{"GET", recordsPath + "?" + query, "", has(200, `"total_count":2`), has(200, `"total_count":0`)}
		list.observe(t, r, sim.RuleFilters, "2025-05-23")
	}
}

// Nothing is stored: what was written is not there afterwards, and filters that
// have not ended select nothing.
func TestRecordsAreNotStored(t *testing.T) {
	r := travelling(t, "2027-01-01")
	before := call(t, r, "GET", recordsPath, "")
	for _, write := range [][3]string{
		{"POST", recordsPath, recordWith(`"ttl":1`)},
		{"PUT", srvPath, recordWith(`"ttl":1`)},
		{"PATCH", srvPath, `{"ttl":1}`},
	} {
		if got := call(t, r, write[0], write[1], write[2]); !has(200, `"ttl":1`)(got) {
			t.Errorf("%s %s: %d %s", write[0], write[1], got.status, got.body)
		}
	}
	for _, query := range []string{"", "?name.contains=nothing", "?type=MX", "?search=x", "?match=any&name=a&name=b"} {
		if after := call(t, r, "GET", recordsPath+query, ""); after.body != before.body {
			t.Errorf("%s: %s became %s", query, before.body, after.body)
		}
	}
}

func TestRecordsRefuse(t *testing.T) {
	r := travelling(t, "2027-01-01")
	for _, test := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", recordsPath, `{"type":"A","name":"a.shop.example"}`, 400},
		{"POST", recordsPath, `{"type":1,"name":"a.shop.example","content":"192.0.2.1"}`, 400},
		{"POST", recordsPath, `[`, 400},
		{"GET", recordsPath + "/" + string(mem.Account), "", 404},
		{"PATCH", recordsPath + "/" + string(mem.Account), `{}`, 404},
	} {
		if got := call(t, r, test.method, test.path, test.body); got.status != test.status {
			t.Errorf("%s %s %s: %d %s", test.method, test.path, test.body, got.status, got.body)
		}
	}
	r.SetClock(eve("2025-03-21"))
	for _, body := range []string{`{"value":"maybe"}`, `{"value":true}`, `{}`} {
		if got := call(t, r, "PATCH", flatteningPath, body); got.status != 400 {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
}

// A token is held to its policies on these calls too.
func TestRecordsNeedThePermissionOfTheSeed(t *testing.T) {
	seed := mem.DefaultSeed()
	seed.EndpointPermissions["PATCH /zones/{zone_id}/dns_records/{record_id}"] = mem.TokensGroup
	seed.Tokens = append(seed.Tokens, mem.SeedToken{ID: "held", Name: "rulesets", Value: "held-token", Policies: json.RawMessage(
		`[{"effect":"allow","resources":{"com.vendor.api.account.zone.*":"*"},"permission_groups":[{"id":"` + mem.RulesGroup + `"}]}]`,
	)})
	r := start(t, sim.Config{Seed: seed, Calendar: calendar(t)})
	if got := call(t, r, "GET", srvPath, ""); got.status != 200 {
		t.Errorf("a call that the seed does not name: %d %s", got.status, got.body)
	}
	if got := call(t, r, "PATCH", srvPath, `{"ttl":1}`); got.status != 403 {
		t.Errorf("%d %s", got.status, got.body)
	}
}
