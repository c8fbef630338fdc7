package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/deprecation/report"
)

func TestParseSuppressions(t *testing.T) {
	rules := []string{"old"}
	got, mistakes := report.ParseSuppressions("# a comment\n\n  old\tsrc/**  2027-01-01  goes with  OPS-12 \r\n", rules)
	want := report.Suppression{Rule: "old", Where: "src/**", Expires: "2027-01-01", Reason: "goes with  OPS-12", Line: 3}
	if len(mistakes) > 0 || len(got) != 1 || got[0] != want {
		t.Errorf("%+v, %v", got, mistakes)
	}
	for line, want := range map[string]string{
		"old":                  "1:4: lacks a place, a day on which it expires, a reason",
		"old a 2027-01-01":     "1:17: lacks a reason",
		"  odl a 2027-01-01 r": `1:3: "odl" is no rule of the calendar`,
		"old a[ 2027-01-01 r":  `1:5: "a[" is no pattern of a path`,
		"old a 2027-02-30 r":   `1:7: "2027-02-30" is not a day, written YYYY-MM-DD`,
		"old a never r":        `1:7: "never" is not a day, written YYYY-MM-DD`,
	} {
		got, mistakes := report.ParseSuppressions(line, rules)
		if len(got) != 0 || len(mistakes) != 1 {
			t.Errorf("%q: %v, %v", line, got, mistakes)
			continue
		}
		m := mistakes[0]
		if text := fmt.Sprintf("%d:%d: %s", m.Line, m.Column, m.Message); text != want || m.Hint == "" {
			t.Errorf("%q: %s (%s), want %s", line, text, m.Hint, want)
		}
	}
}

func TestSuppressionCovers(t *testing.T) {
	for _, c := range []struct {
		where, file, integration string
		want                     bool
	}{
		{"a.sh", "a.sh", "", true},
		{"./a.sh", "a.sh", "", true},
		{"a.sh", "b/a.sh", "", false},
		{"*.sh", "b/a.sh", "", false},
		{"**", "b/a.sh", "", true},
		{"**/*.sh", "a.sh", "", true},
		{"**/*.sh", "x/y/a.sh", "", true},
		{"x/**", "x/y/a.sh", "", true},
		{"x/**", "xx/a.sh", "", false},
		{"x/**/a.sh", "x/a.sh", "", true},
		{"x/**/z/a.sh", "x/y/a.sh", "", false},
		{"-", "-", "", true},
		{"billing-*", "edge.cue", "billing-export", true},
		{"billing-*", "edge.cue", "other", false},
	} {
		at := day("2026-11-21")
		rule := matcher(t).Calendar().Rules[0]
		collector := report.NewCollector(at, []report.Suppression{{Rule: rule.ID, Where: c.where, Expires: "2099-01-01", Reason: "r"}})
		where := deprecation.Where{File: c.file, Line: 1, Integration: c.integration}
		collector.Add([]deprecation.Notice{rule.Notice(at)}, report.Seen{Where: where})
		r := collector.Report(matcher(t).Calendar())
		if got := r.Rules[0].Suppressed == 1; got != c.want || (r.Rules[0].Count == 0) != c.want || (len(r.Unused) == 0) != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestSuppressionsAreTold(t *testing.T) {
	known := []report.Suppression{
		{Rule: "previous-rate-limiting", Where: "f", Expires: "2026-11-21", Reason: "late", Line: 1},
		{Rule: "firewall-rules-and-filters", Where: "g", Expires: "2099-01-01", Reason: "elsewhere", Line: 2},
		{Rule: "billing-profile-and-history", Where: "f", Expires: "2099-01-01", Reason: "known", Line: 3},
	}
	r := collect(t, "2026-11-21", "f", known, "GET /zones/z/rate_limits", "GET /user/billing/history")
	// One behind another that covers the same is met too, and tells if it has expired.
	twice := append(known[:3:3],
		report.Suppression{Rule: "billing-profile-and-history", Where: "*", Expires: "2099-01-01", Reason: "again", Line: 4},
		report.Suppression{Rule: "billing-profile-and-history", Where: "*", Expires: "2020-01-01", Reason: "old", Line: 5})
	if r := collect(t, "2026-11-21", "f", twice, "GET /user/billing/history"); len(r.Unused) != 2 || len(r.Expired) != 1 || r.Expired[0].Line != 5 {
		t.Errorf("expired %v, unused %v", r.Expired, r.Unused)
	}
	if len(r.Expired) != 1 || r.Expired[0].Line != 1 || len(r.Unused) != 1 || r.Unused[0].Line != 2 {
		t.Errorf("expired %v, unused %v", r.Expired, r.Unused)
	}
	for _, form := range []string{"text", "markdown"} {
		text := all(t, r)[form]
		for _, want := range []string{"line 1", "expired on 2026-11-21", "line 2", "suppresses nothing", "1 call suppressed"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q:\n%s", form, want, text)
			}
		}
	}
}
