package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge/sim"
)

// outage is how long the platform is away.
const outage = 30 * time.Second

// platformScenarios are faults of the whole platform: nothing can heal while they
// are on.
func platformScenarios() []scenario {
	return []scenario{
		platformFault("platform-down", "the platform refuses connections for 30 s",
			func(f *fixture) error { return f.platform.refuse() }, func(f *fixture) error { return f.platform.reopen() }),
		platformDisturbed("platform-silent", "the platform answers nothing for 30 s", silent),
		platformDisturbed("platform-failing", "the platform answers 503 for 30 s", answering(http.StatusServiceUnavailable, failing)),
		platformDisturbed("platform-contradicts", "the platform answers 200 with `success: false` for 30 s", answering(http.StatusOK, failing)),
		platformDisturbed("unauthorized", "the platform answers 401 for 30 s", answering(http.StatusUnauthorized, badToken)),
		platformDisturbed("forbidden", "the platform answers 403 with code 10000 to everything for 30 s", answering(http.StatusForbidden, noPermission)),
	}
}

func platformDisturbed(name, text string, by fault) scenario {
	return platformFault(name, text,
		func(f *fixture) error { f.platform.disturb(by); return nil },
		func(f *fixture) error { f.platform.calm(); return nil })
}

// platformFault has drift and a commit wait for its end.
func platformFault(name, text string, begin, end func(*fixture) error) scenario {
	return scenario{
		name: name, fault: text, hold: outage, drift: drifts{none: true}, pushes: pushesNone,
		begin: func(ctx context.Context, f *fixture) error {
			if err := begin(f); err != nil {
				return err
			}
			for _, z := range span(pushed+pushZones, pushed+pushZones+9) {
				if err := f.plant(z); err != nil {
					return err
				}
			}
			return pushUnseen(ctx, f)
		},
		end: func(_ context.Context, f *fixture) error { return end(f) },
	}
}

// zoneScenarios are faults of one zone of the platform. It drifts from their
// beginning on.
func zoneScenarios() []scenario {
	list := []scenario{
		zoneFault("zone-slow", "one zone answers after 31 s", func(*fixture) fault { return delayed(31*time.Second, 31*time.Second) }),
		zoneFault("zone-silent", "one zone never answers", func(*fixture) fault { return silent }),
		zoneFault("zone-forbidden", "one zone answers 403 with code 10000", func(*fixture) fault { return answering(http.StatusForbidden, noPermission) }),
		zoneFault("zone-failing", "one zone answers 503", func(*fixture) fault { return answering(http.StatusServiceUnavailable, failing) }),
		zoneFault("patch-ignored", "a PATCH is accepted and not applied", func(f *fixture) fault { return f.platform.ignoredPatch }),
	}
	list[len(list)-1].slow = "tried again after 15 min: see -long"
	return list
}

func zoneFault(name, text string, by func(*fixture) fault) scenario {
	return scenario{
		name: name, fault: text,
		begin: func(_ context.Context, f *fixture) error {
			f.platform.disturb(within(faulty, by(f)))
			return f.plant(faulty)
		},
		end: func(_ context.Context, f *fixture) error { f.platform.calm(); return nil },
	}
}

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
	"messages":            {""},
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
