package status

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// watched is a status over a daemon that a test plays: with a sweep every two hours, on
// the hour, and a look at git every ten minutes, from 09:30 on.
type watched struct {
	*Status
	clock *clock
	look  inspect.Status
}

func watch(t *testing.T) *watched {
	t.Helper()
	sweep, err := cron.ParseStandard("0 */2 * * *")
	must.Do(t, err)
	w := &watched{clock: &clock{at(t, "09:30")}}
	w.look = inspect.Status{Started: w.clock.now, Zones: inspect.Zones{Declared: 3, Outcomes: map[inspect.Outcome]int{inspect.InSync: 3}}}
	w.Status = New(Config{
		Now: func() time.Time { return w.clock.now }, Sweep: sweep, Sync: cron.Every(10 * time.Minute), Version: "v1.2.3",
		Look: func() inspect.Status {
			look := w.look
			look.At = w.clock.now
			return look
		},
		Bounds: Bounds{SourceStale: 15 * time.Minute, SourceStuck: time.Hour, WorkStuck: 2 * time.Hour},
	})
	r := full(w.clock)
	r.Plan.Summary = diff.Summary{Zones: 3, InSync: 3}
	w.Report(t.Context(), r)
	return w
}

// fresh has git fetched and a zone read now.
func (w *watched) fresh() {
	w.look.Source.LastSuccess, w.look.Zones.Observed = w.clock.now, w.clock.now
}

func TestReadyWhileGitIsFetched(t *testing.T) {
	w := watch(t)
	w.clock.set(t, "09:45")
	wantReady(t, w.Status)
	w.clock.set(t, "09:46")
	wantReady(t, w.Status, "git was not fetched since the start at 2026-03-01T09:30:00Z")

	w.fresh()
	wantReady(t, w.Status)
	w.clock.set(t, "10:11") // the look of 09:56 has until then
	wantReady(t, w.Status)
	w.clock.set(t, "10:12")
	w.look.Source.Error = "no route to host"
	wantReady(t, w.Status, "git could not be fetched since 2026-03-01T09:46:00Z: no route to host")
	w.fresh()
	wantReady(t, w.Status)
}

func TestReadyWhileZonesAreRead(t *testing.T) {
	w := watch(t)
	fetched := func(value string) {
		w.clock.set(t, value)
		w.look.Source.LastSuccess = w.clock.now
	}
	fetched("11:30")
	wantReady(t, w.Status)
	fetched("11:31")
	wantReady(t, w.Status, "no zone could be read since the start at 2026-03-01T09:30:00Z")
	w.look.Zones.Observed = w.clock.now
	wantReady(t, w.Status)
	w.Report(t.Context(), full(w.clock)) // the sweep is not what is late
	fetched("13:31")
	wantReady(t, w.Status)
	fetched("13:32")
	wantReady(t, w.Status, "no zone could be read since 2026-03-01T11:31:00Z")

	w.look.Zones.Observed = w.clock.now
	w.look.Zones.Declared = 0 // there is nothing to read
	wantReady(t, w.Status)
}

func TestReadyWhileWhatIsDueIsDone(t *testing.T) {
	w := watch(t)
	w.look.Queue = []inspect.Priority{{Priority: "push"}, {Priority: "bulk", Waiting: 2, Due: 1, Oldest: w.clock.now}}
	w.clock.set(t, "11:30")
	w.fresh()
	wantReady(t, w.Status)
	w.clock.set(t, "11:31")
	wantReady(t, w.Status, "behind: 1 zone is due (priority bulk), the oldest since 2026-03-01T09:30:00Z")
	w.look.Queue = nil
	wantReady(t, w.Status)
}

// TestReadyBesideARejectedCredential: one credential that is rejected stops its own zones,
// and the process is ready for the others; it is not once all of them are rejected.
func TestReadyBesideARejectedCredential(t *testing.T) {
	w := watch(t)
	begin := w.clock.now
	due := func(name, down string) inspect.Credential {
		return inspect.Credential{Name: name, Credential: "accounts." + name + ".credentials.rulesets", Zones: 1, Due: 1, OldestDue: begin, Down: down}
	}
	out := func(name string) reconcile.Outage {
		return reconcile.Outage{Subject: reconcile.OutageCredential, Name: "accounts." + name + ".credentials.rulesets", Cause: "the credential was rejected", Zones: 1}
	}
	w.clock.set(t, "11:31")
	w.fresh()
	w.look.Queue = []inspect.Priority{{Priority: "sweep", Due: 1, Oldest: begin}}
	fine := inspect.Credential{Name: "prod", Credential: "accounts.prod.credentials.rulesets", Zones: 1, Observed: w.clock.now}
	w.look.Work.Credentials = []inspect.Credential{fine, due("stage", "401"), {Name: "lab"}}
	w.look.Outages = []reconcile.Outage{out("stage")}
	wantReady(t, w.Status)

	w.look.Work.Credentials[0] = due("prod", "") // which works, and is late
	wantReady(t, w.Status, "behind: 1 zone is due with credential prod, the oldest since 2026-03-01T09:30:00Z")

	w.look.Work.Credentials[0] = due("prod", "401")
	w.look.Outages = []reconcile.Outage{out("stage"), out("prod")}
	wantReady(t, w.Status, "no zone can be read: accounts.prod.credentials.rulesets: the credential was rejected",
		"no zone can be read: accounts.stage.credentials.rulesets: the credential was rejected")

	w.look.Work.Credentials, w.look.Queue = nil, nil // one credential for all
	w.look.Outages = []reconcile.Outage{{Subject: reconcile.OutageCredential, Name: "credentials.tokens", Cause: "no"}}
	wantReady(t, w.Status)
	w.look.Outages = []reconcile.Outage{{Subject: reconcile.OutageCredential, Name: "credentials.rulesets", Cause: "no", Zones: 3}}
	wantReady(t, w.Status, "no zone can be read: credentials.rulesets: no")
	w.look.Outages[0].Works = w.clock.now
	wantReady(t, w.Status) // it works again
}

// TestNotReadyWhileNothingCanBeWritten: with a full disk healing is stopped.
func TestNotReadyWhileNothingCanBeWritten(t *testing.T) {
	w := watch(t)
	w.look.Outages = []reconcile.Outage{{Subject: reconcile.OutageState, Cause: "the disk is full"}}
	wantReady(t, w.Status, "nothing is written, because the state folder cannot be used: the disk is full")
	w.look.Replicas = &inspect.Replicas{Name: "r1"}
	w.look.Outages = []reconcile.Outage{{Subject: reconcile.OutageState, Cause: "refused", Since: w.clock.now}}
	wantReady(t, w.Status, "nothing is written, because the database cannot be used since 2026-03-01T09:30:00Z: refused")
	w.look.Replicas = nil
	w.look.Outages = []reconcile.Outage{{Subject: reconcile.OutageZone, Cause: "403"}, {Subject: reconcile.OutageSink, Cause: "no"}}
	wantReady(t, w.Status)
}

// TestReadyOfAnUnevenSchedule: a schedule may have short intervals and long ones, and
// what was done in a long one is not late in the short one that follows.
func TestReadyOfAnUnevenSchedule(t *testing.T) {
	sweep, err := cron.ParseStandard("0 8,9 * * *")
	must.Do(t, err)
	c := Config{Sweep: sweep}
	for _, test := range []struct {
		since, now string
		want       bool
	}{
		{"08:10", "08:59", false},
		{"08:10", "09:11", false}, // the long interval has begun
		{"07:00", "08:30", false}, // the long one before
		{"08:01", "09:30", false},
	} {
		if got := c.overdue(at(t, test.since), at(t, test.now)); got != test.want {
			t.Errorf("overdue since %s at %s: %v, want %v", test.since, test.now, got, test.want)
		}
	}
	if !c.overdue(at(t, "08:59").AddDate(0, 0, -2), at(t, "08:00")) {
		t.Error("after two days nothing is overdue")
	}
}

// TestReadyBeforeTheDaemonAnswers: nothing is concluded from no answer.
func TestReadyBeforeTheDaemonAnswers(t *testing.T) {
	s, _ := start(t)
	wantReady(t, s, noCommit)
	if code, body := get(t, s, "/healthz"); code != 200 || body != "ok\n" {
		t.Errorf("healthz: %d %s", code, body)
	}
}

func TestHealthz(t *testing.T) {
	w := watch(t)
	healthy := func(reasons string) {
		t.Helper()
		code, body := get(t, w.Status, "/healthz")
		want := 200
		if reasons != "ok\n" {
			want = 503
		}
		if code != want || body != reasons {
			t.Errorf("healthz: %d %swant %d %s", code, body, want, reasons)
		}
	}
	healthy("ok\n")
	w.look.Work = inspect.Work{AtWork: 1, On: "shop.example", Oldest: w.clock.now, OldestSeconds: 7200}
	w.look.Source.Looking, w.look.Source.LookingSeconds = w.clock.now, 3600
	healthy("ok\n")
	w.look.Work.OldestSeconds++
	healthy("a worker has processed shop.example since 2026-03-01T09:30:00Z\n")
	w.look.Source.LookingSeconds++
	healthy("a worker has processed shop.example since 2026-03-01T09:30:00Z\nthe current fetch of git began at 2026-03-01T09:30:00Z\n")
}

func TestLiveMetrics(t *testing.T) {
	w := watch(t)
	wantMetric(t, w.Status, "seawall_last_fetch_timestamp_seconds", -1)
	wantMetric(t, w.Status, "seawall_last_observation_timestamp_seconds", -1)
	wantMetric(t, w.Status, "seawall_oldest_drift_age_seconds", -1)
	w.fresh()
	w.look.Zones.Drift = &inspect.Drift{AgeSeconds: 90}
	w.look.Queue = []inspect.Priority{{Priority: "retry", Waiting: 5, Due: 2, AtWork: 1, OldestSeconds: 7}}
	w.look.Work = inspect.Work{AtWork: 1, OldestSeconds: 3}
	w.look.Budget = inspect.Budget{Left: 40, WaitedSeconds: 12, RequestsWaitedSeconds: 1.5}
	w.look.Outages = []reconcile.Outage{{Subject: reconcile.OutageZone}, {Subject: reconcile.OutageZone}}
	for series, want := range map[string]float64{
		"seawall_last_fetch_timestamp_seconds":                      unix(w.clock.now),
		"seawall_last_observation_timestamp_seconds":                unix(w.clock.now),
		`seawall_zone_outcomes{outcome="in_sync"}`:                  3,
		"seawall_oldest_drift_age_seconds":                          90,
		`seawall_queue_zones{priority="retry",state="later"}`:       3,
		`seawall_queue_zones{priority="retry",state="due"}`:         2,
		`seawall_queue_zones{priority="retry",state="at_work"}`:     1,
		`seawall_queue_oldest_due_age_seconds{priority="retry"}`:    7,
		"seawall_work_in_progress":                                  1,
		"seawall_work_oldest_age_seconds":                           3,
		"seawall_budget_requests_left":                              40,
		`seawall_budget_waited_seconds_total{what="zones"}`:         12,
		`seawall_budget_waited_seconds_total{what="requests"}`:      1.5,
		`seawall_outages{subject="zone"}`:                           2,
		`seawall_outages{subject="git"}`:                            0,
		`seawall_review_failures_total{what="round"}`:               0,
		`seawall_writes_total{direction="weakens",trigger="drift"}`: 0,
	} {
		wantMetric(t, w.Status, series, want)
	}
}

func TestCountedMetrics(t *testing.T) {
	s, c := start(t)
	s.ReviewFailed(true)
	s.ReviewFailed(false)
	s.ReviewFailed(false)
	wantMetric(t, s, `seawall_review_failures_total{what="round"}`, 1)
	wantMetric(t, s, `seawall_review_failures_total{what="pull_request"}`, 2)

	for _, err := range []error{
		&edge.Error{Status: 403, Details: []edge.ErrorDetail{{Code: 9109}}},
		&edge.Error{Status: 403, Details: []edge.ErrorDetail{{Code: 4711}}},
		&edge.Error{Status: 502},
		fmt.Errorf("GET /zones: %w: connection refused", edge.ErrUnavailable),
		fmt.Errorf("GET /zones: %w: cut short", edge.ErrUnreadable),
		errors.New("what nobody has thought of"),
	} {
		s.PlatformError(err)
	}
	for _, code := range []string{"9109", "http_4xx", "http_5xx", "no_answer", "unreadable", "other"} {
		wantMetric(t, s, `seawall_platform_errors_total{code="`+code+`"}`, 1)
	}

	commit, drift := full(c), full(c)
	commit.Trigger, commit.Slice, drift.Slice = reconcile.TriggerSync, true, true
	token := change(3)
	token.Operation, token.Token, token.Scope = diff.Creation{}, "ci", edge.CredentialScope("")
	commit.Results = []reconcile.Result{{Change: change(1), Outcome: reconcile.Converged}, {Change: change(2), Outcome: reconcile.NotStarted}}
	drift.Results = []reconcile.Result{{Change: change(1), Outcome: reconcile.Failed}, {Change: token, Outcome: reconcile.Converged}}
	s.Report(t.Context(), commit)
	s.Report(t.Context(), drift)
	for _, trigger := range []string{"commit", "drift", "token"} {
		wantMetric(t, s, `seawall_writes_total{direction="strengthens",trigger="`+trigger+`"}`, 1)
	}
}
