package deprecation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

func TestAnswersShowFields(t *testing.T) {
	_, m := builtin(t)
	const record, records = "/zones/z/dns_records/r", "/zones/z/dns_records"
	list := `{"success":true,"result":[{"id":"r","type":"A"},{"id":"s","zone_id":"z","zone_name":"e","locked":false,"type":"SRV","data":{"service":"_sip","port":1}}]}`
	wrapped := `{"success":false,"result":null,"errors":[{"code":1004,"message":"DNS Validation Error","error_chain":[{"code":9000,"message":"x"}]}]}`
	for _, c := range []struct {
		method, url, body string
		want              string
	}{
		{"GET", records, list, "dns-record-zone-fields dns-record-locked srv-data-name-fields"},
		{"GET", records, `{"result":[{"id":"r","type":"A","data":{"service":"x"}}]}`, ""},
		{"PUT", record, `{"result":{"zone_name":"e"}}`, "dns-record-zone-fields"},
		{"PATCH", record, `{"result":{"locked":false}}`, "dns-record-locked"},
		{"POST", records, `{"result":{"type":"SRV","data":{"proto":"_tcp"}}}`, "srv-data-name-fields"},
		{"GET", record, `{"result":{"type":"SRV","data":{"port":1,"target":"t"}}}`, ""},
		{"DELETE", record, `{"result":{"zone_id":"z"}}`, ""}, // not one of the five
		{"GET", "/zones/z", `{"result":{"zone_id":"z"}}`, ""},
		{"POST", records, wrapped, "dns-record-error-chain"},
		{"PATCH", record, wrapped, "dns-record-error-chain"},
		{"POST", records, strings.Replace(wrapped, "1004", "6003", 1), ""}, // another error's chain
		{"GET", records, wrapped, ""},
		{"POST", "/zones/z/filters", wrapped, ""},
		{"GET", records, `<html>`, ""},
		{"GET", records, ``, ""},
	} {
		var got []string
		for _, n := range m.MatchResponse(send(c.method, c.url, ""), deprecation.Response{Body: []byte(c.body)}, day(t, "2025-01-01")) {
			got = append(got, n.Rule)
			if n.Info || n.Detail == "" {
				t.Errorf("%s %s: %+v", c.method, c.url, n)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s %s %s\nshows %v\nwant  %s", c.method, c.url, c.body, got, c.want)
		}
	}
	for _, c := range []struct{ body, rule, date string }{
		{list, "dns-record-zone-fields", "2024-11-30"},
		{list, "dns-record-locked", "2024-07-14"},
		{list, "srv-data-name-fields", "2024-05-31"},
		{wrapped, "dns-record-error-chain", "2024-10-01"},
	} {
		method := "GET"
		if c.body == wrapped {
			method = "POST"
		}
		on := day(t, deprecation.Date(c.date))
		for at, want := range map[time.Time]bool{on.Add(-time.Second): true, on: false} {
			n := one(t, m.MatchResponse(send(method, records, ""), deprecation.Response{Body: []byte(c.body)}, at), c.rule)
			if n == nil || (n.State == deprecation.Announced) != want {
				t.Errorf("%s at %v: %+v", c.rule, at, n)
			}
		}
	}
}

func TestAnswersAnnounce(t *testing.T) {
	_, m := builtin(t)
	at := time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)
	const past, soon, late = "Fri, 09 Jan 2026 12:00:00 GMT", "Mon, 12 Jan 2026 00:00:00 GMT", "Sun, 10 Jan 2027 12:00:00 GMT"
	const rule = deprecation.RuleHeader
	for _, c := range []struct {
		deprecation, sunset, link string
		want                      string // rule state date end days, or nothing
	}{
		{"@1688169599", "", "", rule + " deprecated 2023-06-30  -925"},
		{"@1688169599;x=1", late, "", rule + " deprecated 2023-06-30 2027-01-10 365"},
		{"true", "", "", rule + " deprecated   0"},
		{"true", soon, "", rule + " deprecated  2026-01-12 2"},
		{past, "", "", rule + " deprecated 2026-01-09  -1"},
		{"Friday, 09-Jan-26 12:00:00 GMT", "", "", rule + " deprecated 2026-01-09  -1"},
		{"Fri Jan  9 12:00:00 2026", "", "", rule + " deprecated 2026-01-09  -1"},
		{soon, late, "", rule + " announced 2026-01-12 2027-01-10 2"},
		{"", soon, "", rule + " announced  2026-01-12 2"},
		{"", past, "", rule + " past_end  2026-01-09 -1"},
		{"", "Sat, 10 Jan 2026 12:00:00 GMT", "", rule + " past_end  2026-01-10 0"},
		{past, past, "", rule + " past_end 2026-01-09 2026-01-09 -1"},
		{"Sat, 10 Jan 2026 12:00:01 GMT", "", "", rule + " announced 2026-01-10  0"}, // a header tells the time too
		{"Sat, 10 Jan 2026 12:00:00 GMT", "", "", rule + " deprecated 2026-01-10  0"},
		{"@x", "", "", rule + " deprecated   0"}, // unreadable is not nothing
		{"@99999999999999999999", "soon", "", rule + " deprecated   0"},
		{"", "gibberish", "", rule + " deprecated   0"},
		{late, soon, "", rule + " announced 2027-01-10 2026-01-12 365|sunset-before-deprecation announced 2027-01-10 2026-01-12 365"},
		{"false", "", "", ""},
		{"", "", "", ""},
		{"", "", `<https://e/x>; rel="next"`, ""},
		{"", "", `<https://e/a,b>; rel="next", </d;e>; title="x, y"; rel="help Deprecation"`, "deprecation-link deprecated   0 see /d;e"},
		{"", "", `<https://e/a,b;c>; rel=deprecation`, "deprecation-link deprecated   0 see https://e/a,b;c"},
		{"true", "", `<https://e/s>; rel=sunset`, rule + " deprecated   0 see https://e/s"},
	} {
		header := map[string][]string{"deprecation": {c.deprecation}, "Sunset": {c.sunset}, "Link": {c.link}}
		var got []string
		for _, n := range m.MatchResponse(send("GET", "/user/tokens", ""), deprecation.Response{Header: header}, at) {
			words := []string{n.Rule, string(n.State), string(n.Date), string(n.EndOfLife), itoa(n.DaysLeft)}
			if n.Replacement != "" {
				words = append(words, n.Replacement)
			}
			got = append(got, strings.Join(words, " "))
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("Deprecation: %s, Sunset: %s, Link: %s\nannounces %q\nwant      %q", c.deprecation, c.sunset, c.link, strings.Join(got, "|"), c.want)
		}
	}
}

func TestMessagesAnnounce(t *testing.T) {
	_, m := builtin(t)
	body := `{"result":null,"messages":[{"code":1,"message":"This endpoint is deprecated\u001b[31m\nuse another"},"ok","End of life soon",{"message":"End of life soon"},7,null]}`
	var got []string
	for _, n := range m.MatchResponse(send("GET", "/user/tokens", ""), deprecation.Response{Body: []byte(body)}, day(t, "2026-01-01")) {
		if n.Rule != deprecation.RuleMessage || n.State != deprecation.Deprecated || n.ExitCode() != 2 {
			t.Errorf("%+v", n)
		}
		got = append(got, n.Detail)
	}
	if want := "This endpoint is deprecated\\u{1b}[31m use another|End of life soon"; strings.Join(got, "|") != want {
		t.Errorf("messages say %q, want %q", got, want)
	}
	if n := m.MatchResponse(send("GET", "/x", ""), deprecation.Response{Body: []byte(`{"messages":null,"result":"deprecated"}`)}, day(t, "2026-01-01")); len(n) > 0 {
		t.Errorf("no message speaks: %+v", n)
	}
}
