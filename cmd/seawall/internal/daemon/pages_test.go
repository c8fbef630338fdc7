package daemon

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/review"
)

// notRunning is a daemon that was put together for a folder and does not run yet.
func notRunning(t *testing.T) *Daemon {
	t.Helper()
	d := &Daemon{
		log: slog.New(slog.DiscardHandler), reviews: &review.Service{}, outages: outage.New(outage.Config{Now: time.Now}), changes: controller.NewChanges(),
		waits: newWaiting(setup.Settings{}, false),
		assembly: &setup.Assembly{
			Records:      &reconcile.Forgetful{},
			Deprecations: func(desired.State, time.Time) []deprecation.Notice { return nil },
			Calendar: func(desired.State) deprecation.Calendar {
				return deprecation.Calendar{Rules: []deprecation.Rule{{ID: "old", Title: "Something old", Date: "2020-01-01"}}}
			},
		},
	}
	d.settings.Web.Pages = true
	d.settings.Schedule.Sync, d.settings.Schedule.Sweep, d.settings.Schedule.Timezone = "@every 1m", "@every 2h", time.UTC
	must.Do(t, d.watch())
	var err error
	d.login, err = setup.NewLogin(d.settings, login.NewSessions(), d.log, func(login.Outcome) {})
	must.Do(t, err)
	return d
}

// While nothing runs, and without a ledger, each page says so, and none fails.
func TestPagesBeforeAnythingRuns(t *testing.T) {
	d := notRunning(t)
	handler := d.served(t.Context())
	ask := func(path string) (int, string) {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
		return w.Code, w.Body.String()
	}
	for _, path := range []string{"/", "/zones", "/commits", "/history", "/tokens", "/radar", "/deprecations", "/pulls", "/outages", "/credentials", "/grid.svg"} {
		if code, body := ask(path); code != http.StatusOK {
			t.Errorf("%s: %d\n%s", path, code, body)
		}
	}
	for path, want := range map[string]string{
		"/status": `"outcomes":{"`, "/zones": `"declared":0`, "/history": `"kept":false`, "/commits": `"kept":false`, "/radar": `"kept":false`, "/tokens": "follows a folder", "/pulls": `"reviewed":false`, "/deprecations": "Something old",
	} {
		if code, body := ask("/api/v1" + path); code != http.StatusOK || !strings.Contains(body, want) || strings.Contains(body, "0001-01-01") {
			t.Errorf("%s: %d %s, want %s", path, code, body, want)
		}
	}
	// Whether it is declared is not known: 404 would say that it was taken out of git.
	if code, body := ask("/api/v1/zones/0123456789abcdef0123456789abcdef"); code != http.StatusServiceUnavailable || !strings.Contains(body, "in force yet") {
		t.Errorf("a zone: %d %s", code, body)
	}
	if code, _ := ask("/status"); code != http.StatusNotFound {
		t.Errorf("/status that is not configured: %d", code)
	}
}

// Tokens that only the record has are listed while they may do something.
func TestTokenRows(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	record := func(key, id, end string, state diff.TokenState) diff.TokenRecord {
		r := diff.TokenRecord{Intent: id, Key: key, State: state, Owner: "0a", At: now.AddDate(0, -1, 0)}
		r.ID, r.Spec.ExpiresOn = "t-"+r.ID, end
		return r
	}
	state := desired.State{Accounts: []desired.Account{{Key: "prod", ID: "0a"}}, Tokens: []desired.Token{{Key: "b"}}}
	rows := tokenRows(state, diff.TokensLive{Records: []diff.TokenRecord{
		record("gone", "1", "2026-02-01T00:00:00Z", diff.TokenConfirmed), record("c", "2", "2026-04-01T00:00:00Z", diff.TokenConfirmed), record("a", "3", "", diff.TokenQuarantined),
	}}, now)
	found := inspect.Tokens{LookedAt: now, Findings: []inspect.Token{{Token: "a", Outcome: inspect.Pending}, {Token: "a", Outcome: inspect.Quarantined, Reason: "lost"}}}
	var got []string
	for _, row := range rows {
		judge(&row, found)
		got = append(got, row.Token+" "+row.Account+" "+string(row.Outcome)+" "+row.Reason)
	}
	if want := []string{"a prod quarantined lost", "b  in_sync ", "c prod in_sync "}; !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
	judge(&rows[1], inspect.Tokens{})
	if rows[1].Outcome != inspect.NotRead || !rows[1].Declared || rows[2].Declared || rows[2].Ends.IsZero() {
		t.Errorf("rows %+v", rows)
	}
}

// What concerns the fleet stands first, then what comes soonest, then what was last; who uses
// it is told within a bound.
func TestDeprecationsInOrder(t *testing.T) {
	list := []inspect.Deprecation{{ID: "long ago", DaysLeft: -900}, {ID: "late", DaysLeft: 300}, {ID: "used", DaysLeft: -1000}, {ID: "just over", DaysLeft: -2}, {ID: "soon", DaysLeft: 3}}
	for range 2 * mostConcerns {
		concern(&list[2], deprecation.Notice{Detail: "GET /x"})
	}
	concern(&list[0], deprecation.Notice{Detail: "GET /y", Info: true})
	slices.SortStableFunc(list, byDay)
	var got []string
	for _, d := range list {
		got = append(got, d.ID)
	}
	if want := []string{"used", "soon", "late", "just over", "long ago"}; !slices.Equal(got, want) || len(list[0].Concerns) != 1 {
		t.Errorf("order %q, want %q; %q", got, want, list[0].Concerns)
	}
	for i := range 2 * mostConcerns {
		concern(&list[1], deprecation.Notice{Detail: "GET /x", Where: deprecation.Where{Integration: "exporter", File: "edge.cue", Line: i}})
	}
	if n := len(list[1].Concerns); n != mostConcerns+1 {
		t.Errorf("%d lines", n)
	}
}
