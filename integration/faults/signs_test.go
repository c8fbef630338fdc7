package main

import (
	"slices"
	"testing"
)

const metricsPage = `# HELP seawall_outages Current outages, by subject.
seawall_outages{subject="git"} 1
seawall_ready 1
seawall_platform_errors_total{code="http_5xx"} 7
seawall_requests_total 900
`

func TestSigns(t *testing.T) {
	before := signs{metrics: map[string]float64{`seawall_outages{subject="git"}`: 0, "seawall_ready": 1, `seawall_platform_errors_total{code="http_5xx"}`: 3}}
	got := signs{metrics: metricsIn([]byte(metricsPage))}.moved(before)
	want := []string{`seawall_outages{subject="git"}`, `seawall_platform_errors_total{code="http_5xx"}`}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestVerdictOf(t *testing.T) {
	got := verdictOf("status     attention, as of 2026-01-01T00:00:00Z; seawall 1, running for 3s\n           - current outage: git\ncommit     abc in force\n           def wanted\n")
	if want := []string{"status     attention", "           - current outage: git"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestStatusCell(t *testing.T) {
	for want, s := range map[string]signs{
		wellCell:          {ready: "200 ok", status: []string{"status     healthy", "exit code 0"}},
		"`attention` (4)": {ready: "200 ok", status: []string{"status     attention", "           - current outage: git", "exit code 4"}},
		"`attention` (4); `/readyz` 503: no zone could be read": {ready: "503 no zone could be read since 2026-01-01T00:00:00Z", status: []string{"status     attention", "exit code 4"}},
	} {
		if got := s.cell(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
