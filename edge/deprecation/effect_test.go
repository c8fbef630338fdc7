package deprecation_test

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestOverFromTheDayOn(t *testing.T) {
	c, _ := builtin(t)
	for _, test := range []struct {
		rule string
		at   string
		want bool
	}{
		{"brotli-setting", "2024-08-14", false},
		{"brotli-setting", "2024-08-15", true},
		{"srv-data-name-fields", "2030-01-01", false}, // deprecated, with an end that is not dated
		{"dns-record-filter-syntax", "2025-02-21", true},
		{"no-such-rule", "2000-01-01", true},
	} {
		if got := c.Over(test.rule, day(t, deprecation.Date(test.at))); got != test.want {
			t.Errorf("%s on %s: %v", test.rule, test.at, got)
		}
	}
	if last := day(t, "2024-08-15").Add(-time.Nanosecond); c.Over("brotli-setting", last) {
		t.Error("over a moment too early")
	}
}

func TestOverFollowsADatedEnd(t *testing.T) {
	c, _ := builtin(t)
	c, _, err := c.With([]deprecation.Addition{{ID: "srv-data-name-fields", EndOfLife: "2027-03-01"}})
	must.Do(t, err)
	if c.Over("srv-data-name-fields", day(t, "2027-02-28")) || !c.Over("srv-data-name-fields", day(t, "2027-03-01")) {
		t.Error("the end of life does not count")
	}
}

func TestFormOver(t *testing.T) {
	const rule = "dns-record-filter-syntax"
	c, _ := builtin(t)
	for _, test := range []struct {
		param string
		form  deprecation.Form
		last  string // the last day of the form; empty: it never was one
	}{
		{"name", deprecation.FormContains, "2025-02-20"},
		{"content", deprecation.FormEndsWith, "2025-02-20"},
		{"type", deprecation.FormContains, "2025-02-20"},
		{"name", deprecation.FormList, "2025-05-22"},
		{"content", deprecation.FormList, "2025-05-22"},
		{"type", deprecation.FormList, ""},
	} {
		if test.last == "" {
			if !c.FormOver(rule, test.param, test.form, day(t, "2000-01-01")) {
				t.Errorf("%s=%s never was a form", test.param, test.form)
			}
			continue
		}
		last := day(t, deprecation.Date(test.last))
		if c.FormOver(rule, test.param, test.form, last) || !c.FormOver(rule, test.param, test.form, last.AddDate(0, 0, 1)) {
			t.Errorf("%s=%s does not end after %s", test.param, test.form, test.last)
		}
	}
	if !(deprecation.Calendar{}).FormOver(rule, "name", deprecation.FormContains, time.Time{}) {
		t.Error("without a calendar the form is there")
	}
}

func TestEndpointIsOneOfTheCallsThatGoAway(t *testing.T) {
	_, m := builtin(t)
	for call, want := range map[[2]string]string{
		{"GET", "/zones/z/rate_limits"}:            "previous-rate-limiting",
		{"GET", "/zones/z/rate_limits?page=1"}:     "previous-rate-limiting",
		{"PATCH", "/zones/z/rate_limits"}:          "", // a method that is not listed
		{"GET", "/base/zones/z/rate_limits"}:       "", // another address
		{"GET", "/zones/z/dns_records"}:            "", // affected, and stays
		{"PUT", "/zones/z/script_monitor/scripts"}: "script-monitor-segment",
	} {
		got := ""
		if r := m.Endpoint(call[0], call[1]); r != nil {
			got = r.ID
		}
		if got != want {
			t.Errorf("%v: %q, want %q", call, got, want)
		}
	}
}
