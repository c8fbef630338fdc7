package main

import (
	"context"
	"net/http"
	"time"
)

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
