package main

import (
	"context"
	"net/http"
	"time"
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
