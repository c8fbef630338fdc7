package status

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// clock is a time that a test moves.
type clock struct{ now time.Time }

func (c *clock) set(t *testing.T, value string) {
	t.Helper()
	c.now = at(t, value)
}

// at is a time of the day all tests play on.
func at(t *testing.T, value string) time.Time {
	t.Helper()
	parsed, err := time.Parse("2006-01-02 15:04", "2026-03-01 "+value)
	must.Do(t, err)
	return parsed
}

// start makes a status at 09:30 with a sweep every two hours, on the hour.
func start(t *testing.T) (*Status, *clock) {
	t.Helper()
	sweep, err := cron.ParseStandard("0 */2 * * *")
	must.Do(t, err)
	c := &clock{at(t, "09:30")}
	return New(Config{Now: func() time.Time { return c.now }, Sweep: sweep, Version: "v1.2.3"}), c
}

// full is a run over every zone that ended now.
func full(c *clock) reconcile.Report {
	return reconcile.Report{
		Trigger: reconcile.TriggerSweep, Started: c.now.Add(-90 * time.Second), Finished: c.now, Commit: "c1", Scope: reconcile.Scope{Full: true},
	}
}

func get(t *testing.T, s *Status, path string) (int, string) {
	t.Helper()
	return ask(t, s, http.MethodGet, path)
}

func ask(t *testing.T, s *Status, method, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
	body, err := io.ReadAll(w.Body)
	must.Do(t, err)
	return w.Code, string(body)
}

func wantReady(t *testing.T, s *Status, reasons ...string) {
	t.Helper()
	code, want := http.StatusOK, "ok\n"
	if len(reasons) > 0 {
		code, want = http.StatusServiceUnavailable, strings.Join(reasons, "\n")+"\n"
	}
	if got, body := get(t, s, "/readyz"); got != code || body != want {
		t.Errorf("ready: %d\n%swant: %d\n%s", got, body, code, want)
	}
	wantMetric(t, s, "seawall_ready", truth(len(reasons) == 0))
}

const noCommit = "no valid commit was accepted yet"

func TestReadyAfterARestart(t *testing.T) {
	s := New(Config{Now: func() time.Time { return time.Time{} }})
	look := inspect.Status{Commit: inspect.Commit{InForce: "c1"}}
	if got := s.NotReady(look); !slices.Equal(got, []string{"no zone and no token was read since the start"}) {
		t.Errorf("a commit of the ledger is in force, and not ready is %q", got)
	}
}

func TestReady(t *testing.T) {
	s, c := start(t)
	wantReady(t, s, noCommit)

	failed := full(c)
	failed.Err, failed.Problems = reconcile.ErrInvalid, []desired.Problem{{Message: "no"}}
	s.Report(t.Context(), failed)
	wantReady(t, s, noCommit)

	part := full(c)
	part.Trigger, part.Full, part.Slice = reconcile.TriggerSync, false, true
	s.Report(t.Context(), part) // the tokens, of which none are declared
	wantReady(t, s, noCommit)
	part.Plan.Summary = diff.Summary{Zones: 1, Unknown: 1}
	s.Report(t.Context(), part)
	wantReady(t, s, noCommit)
	part.Plan.Summary = diff.Summary{Zones: 1, InSync: 1}
	s.Report(t.Context(), part)
	wantReady(t, s)

	// The sweep of 10:00 has until 12:00, counted from the start: a run over
	// some of the zones is none, and neither is one that failed.
	c.set(t, "12:00")
	s.Report(t.Context(), part)
	s.Report(t.Context(), failed)
	wantReady(t, s)
	c.set(t, "12:01")
	wantReady(t, s, "the sweep is overdue since 2026-03-01T12:00:00Z: no full run has ended since the start")

	c.set(t, "12:05")
	s.Report(t.Context(), full(c))
	wantReady(t, s)

	// The next, of 14:00, has until 16:00.
	c.set(t, "16:00")
	wantReady(t, s)
	c.set(t, "16:01")
	wantReady(t, s, "the sweep is overdue since 2026-03-01T16:00:00Z: the last full run ended at 2026-03-01T12:05:00Z")

	// A commit that is held takes nothing away from a sweep of the last good one.
	held := full(c)
	held.Held = &reconcile.Held{Commit: "c2", Reason: "invalid"}
	s.Report(t.Context(), held)
	wantReady(t, s)
}

func TestReadySaysAllReasons(t *testing.T) {
	s, c := start(t)
	c.set(t, "13:00")
	wantReady(t, s, noCommit, "the sweep is overdue since 2026-03-01T12:00:00Z: no full run has ended since the start")
}

func TestReadyWithoutSweeps(t *testing.T) {
	never, err := cron.ParseStandard("0 0 30 2 *") // on the 30th of February
	must.Do(t, err)
	for name, schedule := range map[string]Schedule{"none": nil, "never": never} {
		t.Run(name, func(t *testing.T) {
			c := &clock{at(t, "09:30")}
			s := New(Config{Now: func() time.Time { return c.now }, Sweep: schedule})
			s.Report(t.Context(), full(c))
			c.now = c.now.AddDate(1, 0, 0)
			wantReady(t, s)
		})
	}
}

func TestPaths(t *testing.T) {
	s, _ := start(t)
	for _, test := range []struct {
		method, path string
		code         int
		body         string
	}{
		{"GET", "/healthz", 200, "ok\n"},
		{"HEAD", "/healthz", 200, "ok\n"}, // the recorder keeps what a server leaves out
		{"GET", "/metrics", 200, "# HELP "},
		{"POST", "/healthz", 405, "Method Not Allowed\n"},
		{"DELETE", "/metrics", 405, "Method Not Allowed\n"},
		{"GET", "/", 404, "404 page not found\n"},
		{"GET", "/debug/pprof/", 404, "404 page not found\n"},
	} {
		code, body := ask(t, s, test.method, test.path)
		if code != test.code || !strings.HasPrefix(body, test.body) {
			t.Errorf("%s %s: %d %.80q, want %d %q", test.method, test.path, code, body, test.code, test.body)
		}
	}
}

// TestReportsAtOnce is for the race detector: reports come while others ask.
func TestReportsAtOnce(t *testing.T) {
	s, c := start(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 50 {
			r := full(c)
			r.Results = []reconcile.Result{{Change: change(1), Outcome: reconcile.NonConvergent, Err: errors.New("no")}}
			s.Report(t.Context(), r)
		}
	}()
	for range 20 {
		get(t, s, "/readyz")
		get(t, s, "/metrics")
	}
	<-done
	wantMetric(t, s, "seawall_nonconvergent_deployments", 1)
}
