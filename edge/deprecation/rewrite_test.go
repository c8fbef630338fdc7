package deprecation_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

const records = "https://api.example.com/client/v4/zones/z/dns_records"

func TestRewriteOfQueries(t *testing.T) {
	_, m := builtin(t)
	for _, c := range []struct {
		query string
		want  string // queries separated by blanks; empty: no rewrite
	}{
		{"name=contains:shop", "name.contains=shop"},
		{"name=starts_with:shop", "name.startswith=shop"},
		{"name=ends_with:shop", "name.endswith=shop"},
		{"content=contains:a%20b", "content.contains=a+b"},
		{"content=starts_with:a", "content.startswith=a"},
		{"content=ends_with:a", "content.endswith=a"},
		{"type=contains:A", "search=A"},
		{"name=contains:a,b", "name.contains=a%2Cb"}, // one value with a comma in it
		{"name=contains:a&content=ends_with:b&type=MX", "name.contains=a&content.endswith=b&type=MX"},

		// The list is the sole filter: alternatives. Paging and order are no filters.
		{"name=one,two,three", "name=one&name=two&name=three&match=any"},
		{"page=2&per_page=50&name=one%2Ctwo&order=type&direction=asc", "page=2&per_page=50&name=one&name=two&order=type&direction=asc&match=any"},
		{"content=a,a,%20b,", "content=a&content=b&match=any"},
		{"match=all&name=one,two", "name=one&name=two&match=any"},

		// Another filter beside it would become an alternative too: one request each.
		{"name=one,two&type=A", "name=one&type=A name=two&type=A"},
		{"name=one,two&proxied=true&match=all", "name=one&proxied=true&match=all name=two&proxied=true&match=all"},
		{"name=one,two&content=a,b", "name=one&content=a name=one&content=b name=two&content=a name=two&content=b"},
		{"name=one,two&type=contains:A", "name=one&search=A name=two&search=A"},
		// unless everything is an alternative already.
		{"match=any&name=one,two&type=A", "name=one&name=two&type=A&match=any"},

		{"name=one,", "name=one"}, // a list of one is no list
		{"name=,", ""},            // of none: nothing to ask for
		{"name=a,contains:b", ""}, // would be a form of its own again
		{"name=contains:a&name.contains=b", ""},
		{"type=contains:A&search=b", ""},
		{"name=" + strings.Repeat("a,", 9) + "b&content=" + many(65), ""}, // too many
	} {
		notices := m.Match(send("GET", records+"?"+c.query+"#top", ""), day(t, "2025-06-01"))
		var got []string
		for _, n := range notices {
			if n.Rule != "dns-record-filter-syntax" {
				continue
			}
			all := n.Rewrites
			if n.Rewrite != nil {
				all = append(all, *n.Rewrite)
			}
			got = nil // each notice has the whole
			for _, r := range all {
				query, ok := strings.CutPrefix(r.URL, records+"?")
				if !ok || r.Method != "GET" || r.Body != nil || !strings.HasSuffix(query, "#top") {
					t.Fatalf("%s: %+v", c.query, r)
				}
				got = append(got, strings.TrimSuffix(query, "#top"))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s\nbecomes %q\nwant    %q", c.query, strings.Join(got, " "), c.want)
		}
	}
}

func many(n int) string {
	var all []string
	for i := range n {
		all = append(all, string(rune('a'+i%26))+string(rune('a'+i/26)))
	}
	return strings.Join(all, ",")
}

// TestRewriteOfAHostileQuery: a request of megabytes is told of and costs no
// more than reading it.
func TestRewriteOfAHostileQuery(t *testing.T) {
	_, m := builtin(t)
	for _, query := range []string{
		strings.Repeat("name=a,&content=b,&", 50_000),
		"match=any&" + strings.Repeat("name=a,b&content=ends_with:b&", 50_000),
	} {
		notices := m.Match(send("GET", records+"?"+query, ""), day(t, "2025-06-01"))
		for _, n := range notices {
			if n.Rule == "dns-record-filter-syntax" && (n.Rewrite != nil || n.Rewrites != nil || len(n.Detail) > 60) {
				t.Errorf("%d bytes of detail and a rewrite: %s", len(n.Detail), n.Detail[:60])
			}
		}
		if len(notices) < 2 {
			t.Error("no notice")
		}
	}
	values := make([]string, 100_000)
	for i := range values {
		values[i] = itoa(i)
	}
	notices := m.Match(send("GET", records+"?name="+strings.Join(values, ","), ""), day(t, "2025-06-01"))
	if n := notices[0]; n.Rewrite == nil || strings.Count(n.Rewrite.URL, "name=") != len(values) {
		t.Errorf("%s is not repeated for each value", n.Detail)
	}
}

// TestExtendedDateIsTheListsAlone: each form follows its own day.
func TestExtendedDateIsTheListsAlone(t *testing.T) {
	_, m := builtin(t)
	notices := m.Match(send("GET", records+"?name=contains:a&content=b,c", ""), day(t, "2025-03-01"))
	var forms []deprecation.Notice
	for _, n := range notices {
		if n.Rule == "dns-record-filter-syntax" {
			forms = append(forms, n)
		}
	}
	if len(forms) != 2 {
		t.Fatalf("want a notice of each date, have %+v", forms)
	}
	if n := forms[0]; n.State != deprecation.PastEnd || n.Extended != "" || n.DaysLeft != -8 {
		t.Errorf("contains: %+v", n)
	}
	if n := forms[1]; n.State != deprecation.Announced || n.Extended != "2025-05-23" || n.Date != "2025-02-21" || n.DaysLeft != 83 {
		t.Errorf("list: %+v", n)
	}
}

func TestRewriteOfRequests(t *testing.T) {
	_, m := builtin(t)
	for _, c := range []struct {
		rule, method, url, body string
		want                    string // as JSON
	}{
		{
			"script-monitor-segment", "GET", "https://h/client/v4/zones/z/script_monitor/scripts/1?page=2", "",
			`{"method":"GET","url":"https://h/client/v4/zones/z/page_shield/scripts/1?page=2","body":null}`,
		},
		{"script-monitor-segment", "PUT", "zones/%7Bz%7D//script_monitor/", `{"a": 1}`, `{"method":"PUT","url":"zones/%7Bz%7D/page_shield/","body":{"a":1}}`},
		{"images-direct-upload-v1", "POST", "/accounts/a/images/v1/direct_upload", "", `{"method":"POST","url":"/accounts/a/images/v2/direct_upload","body":null}`},
		{"cname-flattening-setting", "PATCH", "/zones/z/settings/cname_flattening", `{"value":"off"}`, `{"method":"","url":"","body":{"flatten_all_cnames":false},"field":"flatten_all_cnames"}`},
		{"cname-flattening-setting", "PATCH", "/zones/z/settings/cname_flattening", `{"value":"apex"}`, `{"method":"","url":"","body":{"flatten_all_cnames":false},"field":"flatten_all_cnames"}`},
		{"cname-flattening-setting", "PATCH", "/zones/z/settings/cname_flattening", `{"value":"on"}`, `{"method":"","url":"","body":{"flatten_all_cnames":true},"field":"flatten_all_cnames"}`},
		{"cname-flattening-setting", "PATCH", "/zones/z/settings/cname_flattening", `{"value":"sideways"}`, `{"method":"","url":"","body":null,"field":"flatten_all_cnames"}`},
		{"cname-flattening-setting", "GET", "/zones/z/settings/cname_flattening", "", `{"method":"","url":"","body":null,"field":"flatten_all_cnames"}`},
		{"account-nameserver-settings", "PUT", "/accounts/a", `{"settings":{"default_nameservers":"custom.account"}}`, `{"method":"","url":"","body":null,"field":"zone_defaults.nameservers.type"}`},
		{"dns-settings-endpoints", "PATCH", "/zones/z/dns_settings/use_apex_ns", `{"value":true}`, `{"method":"","url":"","body":null,"field":"multi_provider"}`},
		{"dns-settings-endpoints", "GET", "/zones/z/dns_settings/secondary_overrides", "", `{"method":"","url":"","body":null,"field":"secondary_overrides"}`},
		{
			"dns-record-zone-fields", "POST", "/zones/z/dns_records", `{"zone_id":"z","zone_name":"e","ttl":1e2,"content":"<a>"}`,
			`{"method":"POST","url":"/zones/z/dns_records","body":{"content":"<a>","ttl":1e2}}`,
		},
		{"dns-record-locked", "PATCH", "/zones/z/dns_records/r", `{"locked":false,"ttl":1}`, `{"method":"PATCH","url":"/zones/z/dns_records/r","body":{"ttl":1}}`},
		{"minify-setting", "GET", "/zones/z/settings/minify", "", `null`},
		{"notification-email", "POST", "/accounts/a/x", `{"notification_email":"x"}`, `null`},
	} {
		n := one(t, m.Match(send(c.method, c.url, c.body), day(t, "2026-01-01")), c.rule)
		if n == nil {
			t.Errorf("%s %s: no %s", c.method, c.url, c.rule)
			continue
		}
		var got strings.Builder
		e := json.NewEncoder(&got)
		e.SetEscapeHTML(false)
		if err := e.Encode(n.Rewrite); err != nil || strings.TrimSpace(got.String()) != c.want {
			t.Errorf("%s %s %s\nbecomes %s\nwant    %s", c.method, c.url, c.body, got.String(), c.want)
		}
	}
}

func TestRewriteOfSRVRecords(t *testing.T) {
	_, m := builtin(t)
	for _, c := range []struct{ body, want string }{
		{
			`{"type":"SRV","data":{"service":"_sip","proto":"_tcp","name":"shop.example","priority":1,"weight":2,"port":5060,"target":"t"}}`,
			`{"data":{"port":5060,"priority":1,"target":"t","weight":2},"name":"_sip._tcp.shop.example","type":"SRV"}`,
		},
		{`{"type":"SRV","data":{"service":"sip","proto":"tcp","name":"shop.example"}}`, `{"data":{},"name":"_sip._tcp.shop.example","type":"SRV"}`},
		{`{"type":"SRV","name":"shop.example","data":{"service":"_sip","proto":"_tcp","name":"shop.example"}}`, `{"data":{},"name":"_sip._tcp.shop.example","type":"SRV"}`},
		{`{"type":"SRV","name":"_sip._tcp.www.shop.example","data":{"service":"_sip","proto":"_tcp","name":"www"}}`, `{"data":{},"name":"_sip._tcp.www.shop.example","type":"SRV"}`},
		{`{"type":"SRV","name":"_sip._tcp.www","data":{"service":"_sip","proto":"_tcp","name":"www.shop.example"}}`, `{"data":{},"name":"_sip._tcp.www","type":"SRV"}`},
		{`{"type":"SRV","name":"_sip._tcp.shop.example","data":{"service":"_sip"}}`, `{"data":{},"name":"_sip._tcp.shop.example","type":"SRV"}`},
		{`{"type":"SRV","name":"_sip._udp.shop.example","data":{"service":"_sip","proto":"_tcp","name":"shop.example"}}`, ""}, // which of the two?
		{`{"type":"SRV","data":{"service":"_sip","port":1}}`, ""}, // no name to be had
		{`{"type":"SRV","data":{"service":7,"proto":"_tcp","name":"x"}}`, ""},
		{`{"type":"SRV","name":"_SIP._tcp.Shop.example","data":{"service":"_sip","proto":"_tcp","name":"shop.example"}}`, `{"data":{},"name":"_SIP._tcp.Shop.example","type":"SRV"}`},
		{`{"type":"SRV","data":{"service":"_sip","proto":"_tcp","name":"@"}}`, ""}, // the zone itself: its name is not in the request
	} {
		n := one(t, m.Match(send("POST", "/zones/z/dns_records", c.body), day(t, "2026-01-01")), "srv-data-name-fields")
		switch {
		case n == nil:
			t.Errorf("%s: no notice", c.body)
		case c.want == "" && n.Rewrite != nil, c.want != "" && (n.Rewrite == nil || string(n.Rewrite.Body) != c.want):
			t.Errorf("%s\nbecomes %+v\nwant %s", c.body, n.Rewrite, c.want)
		}
	}
}
