package deprecation_test

import (
	"testing"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

// TestNearMisses are requests that no rule is about, or only as a call that is
// affected and stays.
func TestNearMisses(t *testing.T) {
	_, m := builtin(t)
	at := day(t, "2030-01-01")
	for _, c := range []deprecation.Request{
		// Methods that are not listed.
		send("PATCH", "/zones/z/filters", ""),
		send("HEAD", "/zones/z/rate_limits", ""),
		send("OPTIONS", "/zones/z/firewall/rules", ""),
		send("POST", "/zones/z/firewall/waf/packages", ""),
		send("PUT", "/zones/z/settings/minify", ""),
		send("PATCH", "/zones/z/settings/privacy_pass", ""),
		send("GET", "/accounts/a/images/v1/direct_upload", ""),
		send("PATCH", "/accounts/a/tunnels/t", ""),
		send("DELETE", "/organizations/o", ""),
		send("POST", "/accounts/a/access/bookmarks", ""),
		send("", "/zones/z/rate_limits", ""),
		// Paths beside the listed ones.
		send("GET", "/zones/z/firewall/rules/r/more", ""),
		send("GET", "/zones/z/firewall", ""),
		send("GET", "/zones/rate_limits", ""),
		send("GET", "/zones/z/rate_limit", ""),
		send("GET", "/Zones/z/Rate_Limits", ""),
		send("GET", "/zones/z/y/rate_limits", ""),
		send("GET", "/zones/z%2Frate_limits", ""),
		send("GET", "/zones//rate_limits", ""),
		send("GET", "/accounts/a/rate_limits", ""),
		send("GET", "/zones/z/settings/brotli_level", ""),
		send("GET", "/zones/z/settings/http2", ""),
		send("GET", "/zones/z/page_shield/scripts", ""),
		send("POST", "/accounts/a/images/v2/direct_upload", ""),
		send("GET", "/user/billing", ""),
		send("GET", "/zones/z/rulesets?path=/zones/z/rate_limits", ""),
		send("GET", "/x#/zones/z/rate_limits", ""),
		send("GET", "", ""),
		send("GET", "https://rate_limits", ""),
		// Queries that are written as they should be, or are others'.
		send("GET", "/zones/z/dns_records?name.contains=a,b", ""),
		send("GET", "/zones/z/dns_records?name=exact.example&match=any", ""),
		send("GET", "/zones/z/dns_records?type=A,AAAA", ""),
		send("GET", "/zones/z/dns_records?type=starts_with:A", ""),
		send("GET", "/zones/z/dns_records?comment=contains:a", ""),
		send("GET", "/zones/z/dns_records?name=acontains:b", ""),
		send("GET", "/zones/z/dns_records/r?name=contains:b", ""),
		send("POST", "/zones/z/dns_records?name=contains:b", ""),
		// Bodies without the members, or with their names elsewhere.
		send("POST", "/zones/z/dns_records", `{"type":"URI","data":{"service":"x","name":"y"}}`),
		send("PATCH", "/zones/z/dns_records/r", `{"data":{"service":"x","flags":"s"}}`), // a NAPTR record
		send("POST", "/zones/z/dns_records", `{"type":"SRV","name":"_sip._tcp.a","data":{"port":1,"target":"t"}}`),
		send("POST", "/zones/z/dns_records", `{"data":{"zone_id":"z","locked":true}}`),
		send("POST", "/zones/z/dns_records", `{"zone_id":`),
		send("POST", "/zones/z/dns_records", `"zone_id"`),
		send("PATCH", "/zones/z/settings", `{"items":[{"id":"http2","value":"cname_flattening"}]}`),
		send("PUT", "/accounts/a", `{"settings":{"enforce_twofactor":true}}`),
		send("GET", "/accounts/a/x", `{"notification_email":"x"}`),
		send("POST", "/accounts/a/x", `{"a":{"notification_email":"x"}}`),
		{Method: "POST", URL: "/user/tokens", Header: map[string][]string{"Content-Length": {"3"}}},
		{Method: "POST", URL: "/user/tokens", Header: map[string][]string{"Transfer-Encoding": {"chunked"}}},
	} {
		for _, n := range m.Match(c, at) {
			if !n.Info || n.ExitCode() != 0 {
				t.Errorf("%s %s %s: %s, %s", c.Method, c.URL, c.Body, n.Rule, n.Detail)
			}
		}
	}
}

// TestMayMatchPassesOver what Match has nothing to say about, so that it is
// worth having.
func TestMayMatchPassesOver(t *testing.T) {
	_, m := builtin(t)
	for _, path := range []string{
		"", "/", "/zones", "/zones/z", "/zones/z/rulesets/phases/http_request_firewall_managed/entrypoint",
		"/user/tokens", "/accounts/a/rulesets", "/accounts/a/rulesets/r", "/zones/z/firewall/rules/r/more",
		"/zones/z/settings/http2", "/a/b/c/d/e?path=/zones/z/rate_limits", "https://zones/user",
	} {
		if m.MayMatch([]byte(path)) {
			t.Errorf("%s cannot match", path)
		}
	}
	for _, path := range []string{"/zones/z/%72ate_limits", "/zones/z/r%61te_limit%73/", "//zones//z//rate_limits", "/zones/z/script_monitor"} {
		if !m.MayMatch([]byte(path)) || len(m.Match(send("GET", path, ""), day(t, "2026-01-01"))) == 0 {
			t.Errorf("%s matches", path)
		}
	}
}

// TestMatchPathReadsPlaceholders as they stand in source files.
func TestMatchPathReadsPlaceholders(t *testing.T) {
	_, m := builtin(t)
	day := deprecation.Date("2026-11-21").Time()
	for _, path := range []string{
		"/zones/%s/rate_limits", "/zones/${zone.id}/rate_limits", "zones/#{id}/rate_limits/#{rule}", "/zones/<zone>/rate_limits",
		"/zones/{}/rate_limits", "https://api.example.com/client/v4/zones/{zone_id}/rate_limits?page={n}", "{base}/zones/:id/rate_limits",
	} {
		if rules := m.MatchPath(path, day); len(rules) != 1 || rules[0].Rule != "previous-rate-limiting" {
			t.Errorf("%s: %v", path, rules)
		}
	}
	if rules := m.MatchPath("/zones/{id}/dns_records?name=contains:x", day); len(rules) != 1 || rules[0].Rule != "dns-record-filter-syntax" {
		t.Errorf("a query: %v", rules)
	}
	for _, path := range []string{"/zones/%s/settings", "/zones/%s/dns_records", "/accounts", "rate_limits", ""} {
		if rules := m.MatchPath(path, day); len(rules) != 0 {
			t.Errorf("%s: %v", path, rules)
		}
	}
}
