package status

import (
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// One of several replicas answers for its own work alone.
func TestReadyWithReplicas(t *testing.T) {
	start := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	now := start.Add(5 * time.Hour)
	leases := func(since time.Time, names ...string) *inspect.Replicas {
		all := &inspect.Replicas{Name: "r1"}
		for _, name := range names {
			all.Leases = append(all.Leases, inspect.Lease{Name: name, Since: since, This: true, Replica: "r1"})
		}
		return all
	}
	for name, test := range map[string]struct {
		replicas *inspect.Replicas
		reasons  int
	}{
		"alone":                            {nil, 4},
		"has no lease":                     {leases(start), 0},
		"looks at git for long":            {leases(start, "commits"), 1},
		"looks at git for a moment":        {leases(now, "commits"), 0},
		"has zones for long":               {leases(start, "credential a"), 1},
		"has zones for a moment":           {leases(now, "credential a"), 0},
		"has tokens, which nothing stales": {leases(start, "tokens"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			look := inspect.Status{At: now, Started: start, Replicas: test.replicas, Commit: inspect.Commit{InForce: "c1"}, Zones: inspect.Zones{Declared: 3}}
			s := New(Config{Now: func() time.Time { return now }, Sweep: cron.Every(time.Hour), Bounds: Bounds{SourceStale: 15 * time.Minute}, Look: func() inspect.Status { return look }})
			s.started = start
			if reasons := s.NotReady(look); len(reasons) != test.reasons {
				t.Errorf("not ready: %q", reasons)
			}
		})
	}
}
