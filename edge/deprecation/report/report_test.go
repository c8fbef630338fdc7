package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/deprecation/report"
	"github.com/seawall-dev/seawall/integration/must"
)

func day(text string) time.Time { return deprecation.Date(text).Time() }

func matcher(t testing.TB) *deprecation.Matcher {
	t.Helper()
	c := must.JSON[deprecation.Calendar](t, "../../../cue/schema/calendar.json")
	m, err := deprecation.NewMatcher(c)
	must.Do(t, err)
	return m
}

// collect makes a report of lines METHOD URL [BODY] of one file.
func collect(t testing.TB, at, file string, suppressions []report.Suppression, calls ...string) report.Report {
	t.Helper()
	m := matcher(t)
	c := report.NewCollector(day(at), suppressions)
	for i, call := range calls {
		words := strings.SplitN(call, " ", 3)
		req := deprecation.Request{Method: words[0], URL: words[1]}
		if len(words) == 3 {
			req.Body = []byte(words[2])
		}
		c.Add(m.Match(req, day(at)), report.Seen{Request: req, Where: deprecation.Where{File: file, Line: i + 1}})
	}
	return c.Report(m.Calendar())
}

// all renders a report in every form.
func all(t testing.TB, r report.Report) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, render := range map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return r.Text(b, false) },
		"colour":   func(b *bytes.Buffer) error { return r.Text(b, true) },
		"markdown": func(b *bytes.Buffer) error { return r.Markdown(b) },
		"json":     func(b *bytes.Buffer) error { return r.JSON(b) },
		"sarif":    func(b *bytes.Buffer) error { return r.SARIF(b, "v1") },
		"junit":    func(b *bytes.Buffer) error { return r.JUnit(b) },
	} {
		var b bytes.Buffer
		if err := render(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = b.String()
	}
	return out
}

// Whatever a call holds that the rule is not about reaches no report.
func TestNothingSecretIsWritten(t *testing.T) {
	const secret = "s3cr3t-v4lue"
	for _, call := range []string{
		"GET /zones/z/firewall/rules?token=" + secret,
		"GET /zones/z/firewall/rules?" + secret,
		"GET https://" + secret + "@api.example.com/client/v4/zones/z/firewall/rules#" + secret,
		"GET /zones/z/dns_records?name=contains:shop&api_key=" + secret + "&" + secret,
		"GET /zones/z/dns_records?name=one,two&token=" + secret,
		"GET /zones/z/dns_records?type=A&name=one,two&" + secret + "=1",
		"GET /zones/z/script_monitor/scripts?token=" + secret,
		`POST /zones/z/script_monitor/scripts {"password":"` + secret + `"}`,
		`POST /accounts/a/images/v1/direct_upload {"key":["` + secret + `",{"deep":"` + secret + `"}],"n":1}`,
		`POST /zones/z/dns_records {"type":"SRV","name":"x","comment":"` + secret + `","data":{"service":"_sip","proto":"_tcp","name":"example.com","target":"` + secret + `"}}`,
		`POST /zones/z/dns_records {"locked":false,"content":"` + secret + `"}`,
		`PATCH /zones/z/settings/cname_flattening {"value":"on","other":"` + secret + `"}`,
		`POST /accounts/a/x {"notification_email":"` + secret + `"}`,
	} {
		r := collect(t, "2026-11-21", "f", nil, call)
		if len(r.Rules) == 0 {
			t.Errorf("%s: nothing was met", call)
		}
		for form, text := range all(t, r) {
			if strings.Contains(text, secret) {
				t.Errorf("%s: %s holds the secret:\n%s", call, form, text)
			}
		}
	}
}

// A header is named, and what it holds is not.
func TestHeadersAreNotWritten(t *testing.T) {
	m, at := matcher(t), day("2026-11-21")
	c := report.NewCollector(at, nil)
	req := deprecation.Request{Method: "POST", URL: "/zones", Header: map[string][]string{
		"Transfer-Encoding": {"s3cr3t"}, "Content-Length": {"s3cr3t"}, "Authorization": {"s3cr3t"},
	}}
	c.Add(m.Match(req, at), report.Seen{Request: req, Where: deprecation.Where{File: "f"}})
	for form, text := range all(t, c.Report(m.Calendar())) {
		if strings.Contains(text, "s3cr3t") || !strings.Contains(text, "Transfer-Encoding") && form != "junit" {
			t.Errorf("%s:\n%s", form, text)
		}
	}
}

// What is rewritten is shown, so that it can be sent.
func TestRewritesAreShown(t *testing.T) {
	for call, want := range map[string]string{
		"GET /zones/z/dns_records?name=contains:shop&page=2":      "GET /zones/z/dns_records?name.contains=shop&page=…",
		"GET /zones/z/dns_records?name=a,b":                       "GET /zones/z/dns_records?name=a&name=b&match=any",
		`PATCH /zones/z/settings/cname_flattening {"value":"on"}`: `{"flatten_all_cnames":true}`,
	} {
		if text := all(t, collect(t, "2026-11-21", "f", nil, call))["text"]; !strings.Contains(text, want) {
			t.Errorf("%s: no %s in\n%s", call, want, text)
		}
	}
}

// Text of a file stays in its line and its cell, and away from the terminal.
func TestHostileText(t *testing.T) {
	r := collect(t, "2026-11-21", "a\x1b[31m|`<b>\n.txt", nil, "GET /\x1b]0;x\a\u202e/zones/z|`\n/firewall/rules?x")
	for form, text := range all(t, r) {
		if form != "colour" && strings.ContainsAny(text, "\x1b\a\u202e") {
			t.Errorf("%s holds control characters: %q", form, text)
		}
	}
	if n := strings.Count(all(t, r)["text"], "\n"); n != 6 {
		t.Errorf("%d lines", n)
	}
}

// A gigabyte of calls that all differ makes a report that does not grow, and
// counts all of them.
func TestReportIsBounded(t *testing.T) {
	m, at := matcher(t), day("2026-11-21")
	sizes := map[int]int{}
	for _, calls := range []int{20_000, 60_000} {
		c := report.NewCollector(at, nil)
		for i := range calls {
			method := "GET"
			if i%2 == 1 {
				method = fmt.Sprintf("X%d", i) // script_monitor goes away for any method
			}
			req := deprecation.Request{Method: method, URL: fmt.Sprintf("/zones/%d/script_monitor/%d?q=%d", i, i, i)}
			c.Add(m.Match(req, at), report.Seen{Request: req, Where: deprecation.Where{File: "log", Line: i + 1}})
		}
		r := c.Report(m.Calendar())
		listed := r.Rules[0].Unlisted
		for _, p := range r.Rules[0].Places {
			listed += p.Count + p.Similar
		}
		if len(r.Rules) != 1 || r.Rules[0].Count != calls || listed != calls {
			t.Errorf("%d calls: %d rules, %d counted, %d accounted for", calls, len(r.Rules), r.Rules[0].Count, listed)
		}
		sizes[len(r.Rules[0].Places)]++
	}
	if len(sizes) != 1 || sizes[1000] != 2 {
		t.Errorf("places: %v", sizes)
	}
}

func TestExitCodes(t *testing.T) {
	const billing, gone = "GET /user/billing/history", "GET /zones/z/firewall/rules"
	const srv = `POST /zones/z/dns_records {"type":"SRV","name":"_s._tcp.x","data":{"service":"_s","proto":"_tcp","name":"x"}}`
	all := []report.Suppression{{Rule: "billing-profile-and-history", Where: "**", Expires: "2027-01-01", Reason: "r"}}
	for name, c := range map[string]struct {
		at    string
		known []report.Suppression
		calls []string
		want  int
	}{
		"nothing":        {"2026-11-21", nil, []string{"GET /zones"}, 0},
		"information":    {"2026-11-21", nil, []string{"GET /zones/z/settings"}, 0},
		"the day before": {"2025-06-14", nil, []string{gone}, 0},
		"on the day":     {"2025-06-15", nil, []string{gone}, 3},
		"deprecated":     {"2026-11-21", nil, []string{srv}, 2},
		"no replacement": {"2026-11-21", nil, []string{gone, billing, srv}, 4},
		"suppressed":     {"2026-12-31", all, []string{gone, billing}, 3},
		"expired":        {"2027-01-01", all, []string{gone, billing}, 4},
	} {
		if got := collect(t, c.at, "f", c.known, c.calls...).ExitCode(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestSARIFIsValid(t *testing.T) {
	text, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	must.Do(t, err)
	published, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	must.Do(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	must.Do(t, compiler.AddResource("sarif.json", published))
	sarif := compiler.MustCompile("sarif.json")
	known := []report.Suppression{{Rule: "previous-rate-limiting", Where: "**", Expires: "2099-01-01", Reason: "soon"}}
	full := collect(t, "2026-11-21", "scripts/päth with blank.sh", known,
		"GET /zones/z/firewall/rules", "GET /zones/z/firewall/rules", "GET /zones/z/rate_limits", "GET /user/billing/history", "GET /zones/z/dns_records?name=a,b")
	full.Inputs = []report.Input{{Name: "x", Error: "it is cut short", Skipped: 1, Skips: []report.Skip{{Line: 3, Reason: "odd"}}}, {Name: "-", Skips: []report.Skip{{Reason: "odd"}}}}
	for name, r := range map[string]report.Report{
		"full": full, "empty": collect(t, "2026-11-21", "f", nil), "stdin": collect(t, "2026-11-21", "-", nil, "GET /zones/z/filters"),
		"absolute": collect(t, "2026-11-21", "/srv/a.sh", nil, "GET /zones/z/filters"),
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(all(t, r)["sarif"]))
		must.Do(t, err)
		if err := sarif.Validate(value); err != nil {
			t.Errorf("%s: %v\n%s", name, err, all(t, r)["sarif"])
		}
	}
}

// fingerprints are those of a report's results, by message.
func fingerprints(t *testing.T, r report.Report) map[string]bool {
	t.Helper()
	var log struct {
		Runs []struct {
			Results []struct{ PartialFingerprints map[string]string }
		}
	}
	must.Do(t, json.Unmarshal([]byte(all(t, r)["sarif"]), &log))
	out := map[string]bool{}
	for _, result := range log.Runs[0].Results {
		out[fmt.Sprint(result.PartialFingerprints)] = true
	}
	return out
}

// A result that moved to another line, or is looked at on another day, is the
// same; another file is another.
func TestFingerprintsAreStable(t *testing.T) {
	const a, b = "GET /zones/z/firewall/rules", "GET /zones/z/filters"
	first := fingerprints(t, collect(t, "2026-11-21", "f", nil, a, b, a))
	moved := fingerprints(t, collect(t, "2025-01-01", "f", nil, "GET /", a, "GET /", a, b))
	other := fingerprints(t, collect(t, "2026-11-21", "g", nil, a))
	if len(first) != 3 || fmt.Sprint(first) != fmt.Sprint(moved) {
		t.Errorf("%v became %v", first, moved)
	}
	for f := range other {
		if first[f] {
			t.Error("another file has the same fingerprint")
		}
	}
}

// A place whose method is not known has the fingerprint that 0.1.0 gave it.
func TestFingerprintWithoutMethod(t *testing.T) {
	m, at := matcher(t), day("2026-11-21")
	told := func(detail string) string {
		notices := m.MatchPath("/zones/z/filters", at)
		if detail != "" {
			notices[0].Detail = detail
		}
		c := report.NewCollector(at, nil)
		c.Add(notices, report.Seen{Request: deprecation.Request{URL: "/zones/z/filters"}, Where: deprecation.Where{File: "f", Line: 1}})
		return fmt.Sprint(fingerprints(t, c.Report(m.Calendar())))
	}
	const first = "map[map[seawallCall/v1:714112c6dffe7183090702accd7946d5]:true]"
	if got := told(""); got != first {
		t.Errorf("got %s, want %s", got, first)
	}
}

func TestJUnit(t *testing.T) {
	known := []report.Suppression{{Rule: "previous-rate-limiting", Where: "f", Expires: "2099-01-01", Reason: "soon"}}
	r := collect(t, "2026-11-21", "f", known, "GET /zones/z/firewall/rules", "GET /zones/z/rate_limits", "GET /zones/z/settings")
	r.Inputs = []report.Input{{Name: "f"}, {Name: "g", Error: "broken\x00"}}
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Suites   []struct {
			Skipped int `xml:"skipped,attr"`
			Cases   []struct {
				Name    string  `xml:"name,attr"`
				Failure *string `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	must.Do(t, xml.Unmarshal([]byte(all(t, r)["junit"]), &suites))
	rules := len(matcher(t).Calendar().Rules)
	if suites.Tests != rules+2 || suites.Failures != 1 || suites.Errors != 1 || suites.Suites[0].Skipped != 1 {
		t.Errorf("%+v", suites)
	}
	for _, c := range suites.Suites[0].Cases {
		if failed := c.Failure != nil; failed != (c.Name == "firewall-rules-and-filters") {
			t.Errorf("%s: failed %v", c.Name, failed)
		}
	}
}

func TestSchedule(t *testing.T) {
	c := matcher(t).Calendar()
	for _, s := range []struct {
		at         string
		days, want int
	}{{"2025-06-14", 0, 0}, {"2025-06-14", 1, 3}, {"2025-06-15", 0, 3}, {"2025-06-16", 0, 0}, {"2025-05-23", 0, 1}, {"2025-01-01", -1, len(c.Rules)}} {
		if got := len(report.NewSchedule(c, nil, day(s.at), s.days).Entries); got != s.want {
			t.Errorf("within %d days of %s: %d rules, want %d", s.days, s.at, got, s.want)
		}
	}
}
