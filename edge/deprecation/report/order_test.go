package report_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/deprecation/report"
	"github.com/seawall-dev/seawall/integration/must"
)

// The gravest rule stands first, whatever was met first; then the latest end.
func TestGravestFirst(t *testing.T) {
	r := collect(t, "2025-05-01", "f", nil,
		"GET /zones/z/settings", "GET /zones/z/firewall/rules", "GET /zones/z/script_monitor/scripts", "GET /zones/z/dns_records?name=contains:x", "GET /user/billing/history")
	var got []string
	for _, g := range r.Rules {
		got = append(got, fmt.Sprint(g.Notice.Rule, " ", g.Notice.State, " ", g.Notice.Info))
	}
	want := []string{
		"billing-profile-and-history past_end false", "dns-record-filter-syntax past_end false", "script-monitor-segment past_end false",
		"firewall-rules-and-filters announced false", "cname-flattening-setting past_end true",
	}
	if strings.Join(got[:len(want)], "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// Places of one file stand together, in the order of files.
func TestPlacesByFile(t *testing.T) {
	m, at := matcher(t), day("2026-11-21")
	c := report.NewCollector(at, nil)
	for _, file := range []string{"b", "a", "b"} {
		req := deprecation.Request{Method: "GET", URL: fmt.Sprintf("/zones/%s%d/filters", file, len(file))}
		c.Add(m.Match(req, at), report.Seen{Request: req, Where: deprecation.Where{File: file, Line: 1}})
	}
	places := c.Report(m.Calendar()).Rules[0].Places
	if len(places) != 2 || places[0].Where.File != "a" || places[1].Count != 2 {
		t.Errorf("%+v", places)
	}
}

// Of calls that are alike some are listed, and the others counted with the first:
// a log with a thousand zones leaves room for other calls and other files.
func TestAlikeCallsAreFolded(t *testing.T) {
	var calls []string
	for i := range 50 {
		calls = append(calls, fmt.Sprintf("GET /zones/%d/filters", i))
	}
	r := collect(t, "2026-11-21", "f", nil, append(calls, "DELETE /zones/z/filters/9")...)
	places := r.Rules[0].Places
	if len(places) != 21 || places[0].Similar != 30 || places[20].Method != "DELETE" || r.Rules[0].Count != 51 {
		t.Errorf("%d places, %d similar, %d counted", len(places), places[0].Similar, r.Rules[0].Count)
	}
	if text := all(t, r)["text"]; !strings.Contains(text, "GET /zones/:zone_id/filters  ×50\n") {
		t.Errorf("a person reads\n%s", text)
	}
	total := 0
	for _, result := range sarif(t, r).Runs[0].Results {
		total += result.OccurrenceCount
	}
	if total != 51 {
		t.Errorf("SARIF accounts for %d calls", total)
	}
}

// A rewritten request that is too long to read is none.
func TestLongRewrites(t *testing.T) {
	for n, want := range map[int]bool{100: true, 5000: false} {
		r := collect(t, "2026-11-21", "f", nil, "GET /zones/z/dns_records?name=contains:"+strings.Repeat("x", n))
		p := r.Rules[0].Places[0]
		if got := len(p.Rewrites) == 1; got != want || got == (p.More == 1) {
			t.Errorf("%d bytes: %d rewrites and %d more", n, len(p.Rewrites), p.More)
		}
	}
}

type sarifView struct {
	Runs []struct {
		Invocations []struct {
			ExecutionSuccessful bool
			ExitCode            int
		}
		Results []struct {
			OccurrenceCount int
			Locations       []struct {
				PhysicalLocation *struct{ ArtifactLocation struct{ URI string } }
			}
		}
	}
}

func sarif(t *testing.T, r report.Report) (v sarifView) {
	t.Helper()
	must.Do(t, json.Unmarshal([]byte(all(t, r)["sarif"]), &v))
	return v
}

func TestSARIFLocations(t *testing.T) {
	for file, want := range map[string]string{"-": "", "a b/ü.sh": "a%20b/%C3%BC.sh", "/srv/a.sh": "file:///srv/a.sh", "./x:y.sh": "./x:y.sh"} {
		place := sarif(t, collect(t, "2026-11-21", file, nil, "GET /zones/z/filters")).Runs[0].Results[0].Locations[0].PhysicalLocation
		switch {
		case want == "" && place != nil, want != "" && (place == nil || place.ArtifactLocation.URI != want):
			t.Errorf("%s: %+v", file, place)
		}
	}
	r := collect(t, "2026-11-21", "f", nil)
	r.Inputs = []report.Input{{Name: "x", Error: "cut short"}}
	if in := sarif(t, r).Runs[0].Invocations[0]; in.ExecutionSuccessful || in.ExitCode != 1 {
		t.Errorf("an input that could not be read: %+v", in)
	}
}

// A rule of which only a part is suppressed is not skipped.
func TestJUnitPartlySuppressed(t *testing.T) {
	m, at := matcher(t), day("2025-01-01")
	c := report.NewCollector(at, []report.Suppression{{Rule: "firewall-rules-and-filters", Where: "a", Expires: "2099-01-01", Reason: "r"}})
	for _, file := range []string{"a", "b"} {
		req := deprecation.Request{Method: "GET", URL: "/zones/z/filters"}
		c.Add(m.Match(req, at), report.Seen{Request: req, Where: deprecation.Where{File: file, Line: 1}})
	}
	if text := all(t, c.Report(m.Calendar()))["junit"]; strings.Contains(text, "<skipped") || !strings.Contains(text, "b:1  GET /zones/z/filters") {
		t.Error(text)
	}
}

// What expired and would suppress nothing anyway is merely not needed.
func TestExpiredAndUnused(t *testing.T) {
	r := collect(t, "2026-11-21", "f", []report.Suppression{{Rule: "previous-rate-limiting", Where: "f", Expires: "2020-01-01", Reason: "r"}}, "GET /zones/z/filters")
	if len(r.Expired) != 0 || len(r.Unused) != 1 {
		t.Errorf("expired %v, unused %v", r.Expired, r.Unused)
	}
}
