package sim_test

import (
	"encoding/json"
	"testing"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
)

func TestCommaListsLiveLonger(t *testing.T) {
	r := travelling(t, "2025-05-22")
	for _, query := range []string{"name=www.shop.example,shop.example", "content=192.0.2.10,%20x"} {
		list := effect{"GET", recordsPath + "?" + query, "", has(200, "!\"total_count\":0"), has(200, `"total_count":0`)}
		list.observe(t, r, mem.RuleFilters, "2025-05-23")
	}
}

// What takes over works at any time.
func TestNewFilters(t *testing.T) {
	for _, day := range []deprecation.Date{"2020-01-01", "2025-02-21", "2027-01-01"} {
		r := travelling(t, day)
		for query, want := range map[string]int{
			"":                                   3,
			"name.contains=WWW":                  1,
			"name.startswith=www":                1,
			"name.endswith=shop.example":         3,
			"content.contains=made":              1,
			"content.contains=MADE":              0,
			"content.startswith=192":             1,
			"content.endswith=simulator":         1,
			"type=txt":                           1,
			"search=sRv":                         1,
			"search=0.2.1":                       1,
			"search=sip":                         1,
			"name=www.shop.example":              1,
			"name=www":                           0,
			"name=shop.example&type=A":           0,
			"name=shop.example&type=A&match=any": 2,
			"name=shop.example&type=A&match=all": 0,
			"match=any&name=www.shop.example&name=shop.example":            2,
			"match=any&content=192.0.2.10&content=made+up+for+a+simulator": 2,
			"match=any":         3,
			"per_page=2&page=2": 1,
		} {
			got := call(t, r, "GET", recordsPath+"?"+query, "")
			if list := result[[]json.RawMessage](t, got); len(list) != want {
				t.Errorf("%s: %s: %d records, want %d", day, query, len(list), want)
			}
		}
		for query, status := range map[string]int{"proxied=true": 501, "name.exact=x": 501, "type.contains=A": 501, "match=some": 400, "per_page=0": 400} {
			if got := call(t, r, "GET", recordsPath+"?"+query, ""); got.status != status {
				t.Errorf("%s: %d %s, want %d", query, got.status, got.body, status)
			}
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
