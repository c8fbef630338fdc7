package status

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/reconcile"
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

// What the database says of all replicas is told while it answers, and else that it does not.
func TestMetricsOfReplicas(t *testing.T) {
	now := time.Now()
	look := inspect.Status{At: now, Started: now}
	s := New(Config{Now: func() time.Time { return now }, Look: func() inspect.Status { return look }})
	names := []string{"seawall_database_up ", "seawall_replicas ", "seawall_lease_free{"}
	for name, test := range map[string]struct {
		replicas *inspect.Replicas
		want     []string
	}{
		"a file":       {nil, nil},
		"not read yet": {&inspect.Replicas{Name: "r1"}, nil},
		"answers": {&inspect.Replicas{
			Name: "r1", Known: now, Replicas: make([]inspect.Replica, 3), Leases: []inspect.Lease{{Name: "commits", Replica: "r2"}, {Name: "credential a", Free: now}},
		}, []string{"seawall_database_up 1", "seawall_replicas 3", `seawall_lease_free{lease="commits"} 0`, `seawall_lease_free{lease="credential a"} 1`}},
		"away": {&inspect.Replicas{
			Name: "r1", Known: now.Add(-time.Minute), Silent: now, Replicas: make([]inspect.Replica, 3), Leases: []inspect.Lease{{Name: "commits", Replica: "r2"}},
		}, []string{"seawall_database_up 0"}},
	} {
		look.Replicas = test.replicas
		answer := httptest.NewRecorder()
		s.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		var got []string
		for line := range strings.Lines(answer.Body.String()) {
			if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(line, name) }) {
				got = append(got, strings.TrimSpace(line))
			}
		}
		slices.Sort(got)
		slices.Sort(test.want)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// What a replica does not do, or does no more, it has no numbers of: a sum over replicas counts each
// zone once, and what was wrong when it lost a lease alarms no one.
func TestMetricsOfOneOfSeveral(t *testing.T) {
	now := time.Now()
	look := inspect.Status{
		At: now, Started: now, Source: inspect.Source{LastSuccess: now},
		Zones: inspect.Zones{
			Declared: 5, Observed: now, Outcomes: map[inspect.Outcome]int{inspect.InSync: 2, inspect.NotRead: 3}, Here: map[inspect.Outcome]int{inspect.InSync: 2, inspect.NotRead: 0},
		},
	}
	s := New(Config{Now: func() time.Time { return now }, Look: func() inspect.Status { return look }})
	s.Report(t.Context(), reconcile.Report{Held: &reconcile.Held{Reason: "shrinks"}})
	s.Report(t.Context(), reconcile.Report{Scope: reconcile.Scope{Full: true, Sum: true}})
	shown := func(names ...string) string {
		look.Replicas = &inspect.Replicas{Name: "r1"}
		for _, name := range names {
			look.Replicas.Leases = append(look.Replicas.Leases, inspect.Lease{Name: name, This: true, Replica: "r1"})
		}
		answer := httptest.NewRecorder()
		s.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return answer.Body.String()
	}
	of := map[string][]string{
		"commits":      {"seawall_commit_held 1", "seawall_last_fetch_timestamp_seconds "},
		"tokens":       {`seawall_tokens{state="quarantined"} 0`},
		"credential a": {`seawall_zone_outcomes{outcome="in_sync"} 2`, `seawall_zone_outcomes{outcome="not_read"} 0`, "seawall_last_observation_timestamp_seconds ", "seawall_declared_zones 0"},
	}
	for lease := range of {
		text := shown(lease)
		for other, lines := range of {
			for _, line := range lines {
				if strings.Contains(text, "\n"+line) != (lease == other) {
					t.Errorf("with the lease %q the metrics have %q: %v", lease, line, lease != other)
				}
			}
		}
		if !strings.Contains(text, "\nseawall_ready ") || !strings.Contains(text, "\nseawall_outages{") {
			t.Errorf("with the lease %q the metrics lack what each replica has", lease)
		}
	}
}
