package deprecation_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

// schedule is the reference's table, copied by hand as facts, for the calendar
// to be held against: a line "date: paths calls affected forms members" for
// each row, counting paths that go away, methods on them, methods on calls that
// are affected, forms of query parameters, and fields and header combinations
// by name; below it each call, "-" before those that are only affected.
const schedule = `
2025-06-15: 4 16 0 0 0
GET POST PATCH PUT DELETE /zones/:zone_id/firewall/rules
GET PATCH PUT DELETE /zones/:zone_id/firewall/rules/:rule_id
GET POST PUT DELETE /zones/:zone_id/filters
GET PUT DELETE /zones/:zone_id/filters/:filter_id
2025-06-15: 8 14 0 0 0
GET /zones/:zone_id/firewall/waf/packages
GET PATCH /zones/:zone_id/firewall/waf/packages/:package_id
GET /zones/:zone_id/firewall/waf/packages/:package_id/groups
GET PATCH /zones/:zone_id/firewall/waf/packages/:package_id/groups/:group_id
GET /zones/:zone_id/firewall/waf/packages/:package_id/rules
GET PATCH /zones/:zone_id/firewall/waf/packages/:package_id/rules/:rule_id
GET POST /zones/:zone_id/firewall/waf/overrides
GET PUT DELETE /zones/:zone_id/firewall/waf/overrides/:override_id
2025-06-15: 2 5 0 0 0
GET POST /zones/:zone_id/rate_limits
GET PUT DELETE /zones/:zone_id/rate_limits/:rate_limit_id
2025-03-21: 1 2 2 0 0
GET PATCH /zones/:zone_id/settings/cname_flattening
- GET PATCH /zones/:zone_id/settings
2025-03-14: 0 0 4 0 2
- GET POST /accounts
- GET PUT /accounts/:account_id
2025-02-21: 0 0 0 9 0
2024-11-30: 0 0 5 0 2
- GET POST /zones/:zone_id/dns_records
- GET PATCH PUT /zones/:zone_id/dns_records/:dns_record_id
2024-10-01: 0 0 0 0 1
2024-09-13: 2 4 0 0 0
GET PATCH /zones/:zone_id/dns_settings/use_apex_ns
GET PATCH /zones/:zone_id/dns_settings/secondary_overrides
2024-08-15: 1 2 0 0 0
GET PATCH /zones/:zone_id/settings/brotli
2024-08-05: 1 2 0 0 0
GET PATCH /zones/:zone_id/settings/minify
2024-07-14: 0 0 5 0 1
- GET POST /zones/:zone_id/dns_records
- GET PATCH PUT /zones/:zone_id/dns_records/:dns_record_id
2024-06-30: 1 2 0 0 0
GET PATCH /zones/:zone_identifier/settings/mobile_redirect
2024-06-14: 1 2 0 0 0
GET PATCH /zones/:zone_id/settings/server_side_exclude
2024-05-31: 0 0 0 0 3
2024-03-31: 1 2 0 0 0
GET POST zones/:zone_identifier/settings/privacy_pass
2024-02-04: 2 4 0 0 0
GET POST accounts/:account_identifier/tunnels
GET DELETE accounts/:account_identifier/tunnels/:tunnel_id
2023-07-01: 0 0 0 0 1
2023-06-06: 3 3 0 0 0
GET accounts/{account_identifier}/billing/profile
GET user/billing/profile
GET user/billing/history
2023-04-03: 0 0 0 0 1
2023-03-19: 2 5 0 0 0
GET accounts/:identifier/access/bookmarks
GET POST PUT DELETE accounts/:identifier/access/bookmarks/:uuid
2022-10-11: 1 1 0 0 0
* /zones/:zone_id/script_monitor/...
2022-07-01: 1 1 0 0 0
POST accounts/:account_identifier/images/v1/direct_upload
2021-03-01: 2 2 0 0 0
GET zones/:zone_identifier/analytics/dashboard
GET zones/:zone_identifier/analytics/colos
2020-04-02: 11 20 0 0 0
GET PATCH organizations/:identifier
GET POST organizations/:organization_identifier/invites
GET PATCH DELETE organizations/:organization_identifier/invites/:identifier
GET organizations/:organization_identifier/members
GET PATCH DELETE organizations/:organization_identifier/members/:identifier
GET organizations/:organization_identifier/roles
GET organizations/:organization_identifier/roles/:identifier
GET organizations/:organization_identifier/audit_logs
GET POST organizations/:organization_identifier/accelerator-service
GET PATCH DELETE organizations/:organization_identifier/accelerator-service/:identifier
GET organizations/:organization_identifier/accelerator-service/:identifier/zones
`

// row is one row of the schedule as the facts have it.
type row struct {
	date   deprecation.Date
	counts [5]int
	calls  []call
}

type call struct {
	method, path string
	affected     bool
}

func rows(t *testing.T) []row {
	t.Helper()
	var out []row
	for line := range strings.Lines(strings.TrimSpace(schedule)) {
		words := strings.Fields(line)
		if date, ok := strings.CutSuffix(words[0], ":"); ok {
			r := row{date: deprecation.Date(date)}
			for i := range r.counts {
				n, err := strconv.Atoi(words[i+1])
				if err != nil {
					t.Fatal(err)
				}
				r.counts[i] = n
			}
			out = append(out, r)
			continue
		}
		affected := words[0] == "-"
		if affected {
			words = words[1:]
		}
		r, path := &out[len(out)-1], words[len(words)-1]
		for _, method := range words[:len(words)-1] {
			r.calls = append(r.calls, call{method, path, affected})
		}
	}
	return out
}

func TestScheduleHasTheReferencesRows(t *testing.T) {
	c, _ := builtin(t)
	facts := rows(t)
	if len(facts) != 25 || len(c.Rules) != 25 {
		t.Fatalf("the reference has 25 rows, the facts %d, the calendar %d", len(facts), len(c.Rules))
	}
	var total [5]int
	for i, r := range facts {
		rule := c.Rules[i]
		if rule.Date != r.date || rule.Source != fmt.Sprintf("reference, row %d", i+1) {
			t.Errorf("row %d is of %s; the calendar has %s of %s, %s", i+1, r.date, rule.ID, rule.Date, rule.Source)
		}
		if got := counts(rule); got != r.counts {
			t.Errorf("%s: paths, methods, affected, forms, members are %v, want %v", rule.ID, got, r.counts)
		}
		var calls []call
		for _, list := range [][]deprecation.Endpoint{rule.Endpoints, rule.Affected} {
			for _, e := range list {
				for _, m := range e.Methods {
					calls = append(calls, call{m, e.Path, len(calls) >= r.counts[1]})
				}
			}
		}
		if !slices.Equal(calls, r.calls) {
			t.Errorf("%s: calls\n%v\nwant\n%v", rule.ID, calls, r.calls)
		}
		for j, n := range counts(rule) {
			total[j] += n
		}
	}
	// 44 paths with 87 methods, one of them the "any" of script_monitor.
	if total != [5]int{44, 87, 16, 9, 11} {
		t.Errorf("in all %v", total)
	}
}

func counts(r deprecation.Rule) (n [5]int) {
	n[0] = len(r.Endpoints)
	for _, e := range r.Endpoints {
		n[1] += len(e.Methods)
	}
	for _, e := range r.Affected {
		n[2] += len(e.Methods)
	}
	n[3] = len(r.Query)
	fields := map[string]bool{}
	for _, list := range [][]deprecation.Member{r.Body, r.Response} {
		for _, m := range list {
			if m.Equals == "" && m.Path != "cname_flattening" { // another spelling of the row's own path
				fields[m.Path[strings.LastIndex(m.Path, ".")+1:]] = true
			}
		}
	}
	n[4] = len(fields) + len(r.Headers)
	return n
}

// TestEveryCallTheDayBeforeAndOnTheDay asks for each call of the facts, in each
// spelling of its parameters, and for each of the fields and forms below.
func TestEveryCallTheDayBeforeAndOnTheDay(t *testing.T) {
	c, m := builtin(t)
	for i, r := range rows(t) {
		rule := c.Rules[i]
		for _, call := range r.calls {
			for _, path := range spellings(call.path) {
				method := call.method
				if method == deprecation.AnyMethod {
					method = "TRACE"
				}
				req := deprecation.Request{Method: method, URL: path}
				beforeAndOn(t, m, req, rule.ID, r.date, call.affected)
				if !m.MayMatch([]byte(path)) {
					t.Errorf("MayMatch passes over %s", path)
				}
				if named := slices.ContainsFunc(m.MatchPath(path, deprecation.Date("2026-11-21").Time()), func(n deprecation.Notice) bool { return n.Rule == rule.ID }); named == call.affected {
					t.Errorf("MatchPath(%s) has %s: %v", path, rule.ID, named)
				}
			}
		}
	}
}

// spellings of a path of the schedule: as it stands, with {id} for :id, with
// values, below a base, as an address.
func spellings(path string) []string {
	braces, values := []string{}, []string{}
	for _, s := range strings.Split(strings.Trim(path, "/"), "/") {
		name := strings.Trim(s, ":{}")
		switch {
		case s == "...":
			braces, values = append(braces, "scripts", "1"), append(values, "scripts")
		case name != s:
			braces, values = append(braces, "{"+name+"}"), append(values, "0123456789abcdef0123456789abcdef")
		default:
			braces, values = append(braces, s), append(values, s)
		}
	}
	b, v := strings.Join(braces, "/"), strings.Join(values, "/")
	return []string{path, b, "/" + b, v, "/" + v, "/client/v4/" + v, "https://api.example.com/client/v4/" + v, "//" + v + "/", "/" + v + "?a=b#c"}
}

func beforeAndOn(t *testing.T, m *deprecation.Matcher, req deprecation.Request, rule string, date deprecation.Date, info bool) {
	t.Helper()
	on := day(t, date)
	before, after := one(t, m.Match(req, on.Add(-1)), rule), one(t, m.Match(req, on), rule)
	if before == nil || after == nil {
		t.Errorf("%s %s %s: %s is missing", req.Method, req.URL, req.Body, rule)
		return
	}
	want := deprecation.PastEnd
	if rule == "srv-data-name-fields" {
		want = deprecation.Deprecated
	}
	if before.State != deprecation.Announced || before.DaysLeft != 1 || before.ExitCode() != 0 {
		t.Errorf("%s the day before: %+v", rule, before)
	}
	if after.State != want || after.DaysLeft != 0 || after.Info != info || (after.ExitCode() == 0) != info {
		t.Errorf("%s on the day: %+v", rule, after)
	}
}

// one is the notice of a rule; nil unless there is exactly one.
func one(t *testing.T, notices []deprecation.Notice, rule string) *deprecation.Notice {
	t.Helper()
	var found []deprecation.Notice
	for _, n := range notices {
		if n.Rule == rule {
			found = append(found, n)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return &found[0]
}

// TestEveryFieldFormAndHeader asks for what the rows name beside calls.
func TestEveryFieldFormAndHeader(t *testing.T) {
	_, m := builtin(t)
	const record, records, account = "/zones/z/dns_records/r", "/zones/z/dns_records", "/accounts/a"
	both := map[string][]string{"Transfer-Encoding": {"chunked"}, "Content-Length": {"3"}}
	for _, c := range []struct {
		rule string
		date deprecation.Date
		req  deprecation.Request
	}{
		{"cname-flattening-setting", "2025-03-21", send("PATCH", "/zones/z/settings", `{"items":[{"id":"cname_flattening","value":"on"}]}`)},
		{"cname-flattening-setting", "2025-03-21", send("PATCH", "/zones/z/settings", `{"cname_flattening":"on"}`)},
		{"account-nameserver-settings", "2025-03-14", send("PUT", account, `{"settings":{"default_nameservers":"x"}}`)},
		{"account-nameserver-settings", "2025-03-14", send("POST", "/accounts", `{"settings":{"use_account_custom_ns_by_default":false}}`)},
		{"account-nameserver-settings", "2025-03-14", send("PUT", account, `{"default_nameservers":null}`)},
		{"account-nameserver-settings", "2025-03-14", send("PUT", account, `{"use_account_custom_ns_by_default":true}`)},
		{"dns-record-filter-syntax", "2025-02-21", send("GET", records+"?name=contains:x", "")},
		{"dns-record-filter-syntax", "2025-02-21", send("GET", records+"?name=starts_with:x", "")},
		{"dns-record-filter-syntax", "2025-02-21", send("GET", records+"?name=ends_with%3Ax", "")},
		{"dns-record-filter-syntax", "2025-05-23", send("GET", records+"?name=one,two,three", "")},
		{"dns-record-filter-syntax", "2025-02-21", send("GET", records+"?content=contains:x", "")},
		{"dns-record-filter-syntax", "2025-02-21", send("GET", records+"?content=starts_with:x", "")},
		{"dns-record-filter-syntax", "2025-02-21", send("GET", records+"?content=ends_with:x", "")},
		{"dns-record-filter-syntax", "2025-05-23", send("GET", records+"?content=192.0.2.1%2C192.0.2.2", "")},
		{"dns-record-filter-syntax", "2025-02-21", send("GET", records+"?type=contains:A", "")},
		{"dns-record-zone-fields", "2024-11-30", send("POST", records, `{"zone_id":"z"}`)},
		{"dns-record-zone-fields", "2024-11-30", send("PATCH", record, `{"zone_name":"shop.example"}`)},
		{"dns-record-locked", "2024-07-14", send("PUT", record, `{"locked":false}`)},
		{"srv-data-name-fields", "2024-05-31", send("POST", records, `{"type":"SRV","data":{"service":"_sip"}}`)},
		{"srv-data-name-fields", "2024-05-31", send("PUT", record, `{"type":"SRV","data":{"proto":"_tcp"}}`)},
		{"srv-data-name-fields", "2024-05-31", send("PATCH", record, `{"data":{"name":"shop.example","port":5060}}`)},
		{"draft-ciphers-and-two-lengths", "2023-07-01", deprecation.Request{Method: "POST", URL: "/user/tokens", Header: both}},
		{"notification-email", "2023-04-03", send("PUT", "/accounts/a/load_balancers/pools/p", `{"notification_email":"a@example.com,b@example.com"}`)},
	} {
		beforeAndOn(t, m, c.req, c.rule, c.date, false)
	}
}

func send(method, url, body string) deprecation.Request {
	return deprecation.Request{Method: method, URL: url, Body: []byte(body)}
}
