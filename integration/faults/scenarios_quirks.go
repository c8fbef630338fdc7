package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/edge/sim"
)

// quirkValues say how strongly each quirk of the simulator is set. Those of
// tokens and of DNS records touch nothing that a fleet of zones needs, and are
// set together.
var quirkValues = map[string][]string{
	"patch":               {"replace", "merge"},
	"reorder":             {""},
	"defaults":            {""},
	"omit-empty-rules":    {""},
	"ruleset-bump":        {"1"},
	"messages-null":       {""},
	"throttle":            {"60"},
	"error-before":        {"3"},
	"error-after":         {"3"},
	"cut-after":           {"3"},
	"truncate":            {"9"},
	"html":                {"40"},
	"slow":                {"200ms"},
	"deprecation-headers": {""},
}

// quirksOfZones are those of single zones, which zoneScenarios brings about by
// itself: there the fault begins and ends while a request is under way.
var quirksOfZones = []string{"zone-slow", "zone-forbidden", "zone-unauthorized", "zone-hang"}

var quirksElsewhere = []string{"quota=1", "srv-end-of-life=2020-01-01", "request-ip"}

// quirkScenarios has a row for each quirk, in the order of --list-quirks.
func quirkScenarios() []scenario {
	var list []scenario
	for _, q := range sim.Quirks() {
		for _, value := range quirkValues[q.Name] {
			list = append(list, quirkScenario(strings.TrimSuffix(q.Name+"="+value, "=")))
		}
	}
	return append(list, quirkScenario(quirksElsewhere...))
}

func quirkScenario(quirks ...string) scenario {
	return scenario{
		name: "quirk-" + quirks[0], fault: fmt.Sprintf("quirk `%s`", strings.Join(quirks, "`, `")),
		drift: drifts{count: 24},
		begin: func(_ context.Context, f *fixture) error { return f.platform.quirks(quirks...) },
		end:   func(_ context.Context, f *fixture) error { return f.platform.quirks() },
	}
}
