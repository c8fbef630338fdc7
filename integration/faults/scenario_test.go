package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/sim"

	"github.com/seawall-dev/seawall/integration/harness"
)

// TestEveryQuirkHasARow: a quirk that is added is looked at, too.
func TestEveryQuirkHasARow(t *testing.T) {
	elsewhere := strings.Join(slices.Concat(quirksElsewhere, quirksOfZones), " ")
	for _, q := range sim.Quirks() {
		if quirkValues[q.Name] == nil && !strings.Contains(elsewhere, q.Name) {
			t.Errorf("the quirk %s has no value in quirkValues", q.Name)
		}
	}
	for _, s := range quirkScenarios() {
		f := &fixture{fleet: newFleet(1)}
		var err error
		if f.platform, err = startPlatform(s.shape, f.fleet); err != nil {
			t.Fatal(err)
		}
		if err := s.begin(t.Context(), f); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		f.stop()
	}
}

// TestRows: rows can be told apart, and the page has them all.
func TestRows(t *testing.T) {
	page := harness.ReadText(t, "../../docs/reliability.md")
	seen := map[string]bool{}
	for _, s := range scenarios() {
		if seen[s.name] || strings.ContainsAny(s.name, "/, ") || s.fault == "" {
			t.Errorf("the row %q cannot be told apart", s.name)
		}
		seen[s.name] = true
		if !strings.HasPrefix(s.name, "quirk-") && !strings.Contains(page, "| "+s.fault+" |") {
			t.Errorf("docs/reliability.md says nothing of %q", s.fault)
		}
	}
	performance := harness.ReadText(t, "../../docs/performance.md")
	for _, at := range [][2]string{{page, markFaults}, {page, markSoak}, {page, markLines}, {performance, markSoak}} {
		if _, err := rewrite(at[0], at[1], func(string) string { return "" }); err != nil {
			t.Error(err)
		}
	}
}

func TestChosen(t *testing.T) {
	if n := len(options{}.chosen()); n != len(scenarios()) {
		t.Errorf("%d rows without -only", n)
	}
	got := options{only: "git-silent,zone-s"}.chosen()
	if len(got) != 3 || got[0].name != "git-silent" || got[2].name != "zone-silent" {
		t.Errorf("chosen are %d rows", len(got))
	}
}
