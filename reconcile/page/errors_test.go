package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page"
)

// failing is one whose history fails.
type failing struct {
	nothing
	err error
}

func (f failing) History(context.Context, page.HistoryQuery) (inspect.EntryList, error) {
	return inspect.EntryList{}, f.err
}

func (f failing) Commits(context.Context, string, int) (inspect.CommitList, error) {
	return inspect.CommitList{}, f.err
}

// What a client does wrong, or gives up, is no error of the daemon.
func TestErrorsOfClients(t *testing.T) {
	for err, want := range map[error]int{reconcile.ErrManyCommits: 400, context.Canceled: 503} {
		var log bytes.Buffer
		h := page.Handler(page.Config{Data: failing{err: fmt.Errorf("reading: %w", err)}, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if w := ask(h, "/api/v1/history?commit=0000", nil); w.Code != want || log.Len() > 0 {
			t.Errorf("%v: %d, and the log says %s", err, w.Code, &log)
		}
	}
}

// While the database is away, what is not on record is shown, and the rest is a 503 and no error in the log.
func TestDatabaseAway(t *testing.T) {
	var log bytes.Buffer
	away := errors.New("the database cannot be reached")
	h := page.Handler(page.Config{
		Data: failing{err: away}, Away: func(err error) bool { return errors.Is(err, away) }, Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	for path, want := range map[string]int{
		"/": 200, "/api/v1/status": 200, "/zones": 200, "/history": 503, "/commits": 503, "/api/v1/history": 503, "/api/v1/commits": 503,
	} {
		w := ask(h, path, nil)
		if w.Code != want {
			t.Errorf("%s is answered with %d: %s", path, w.Code, w.Body)
		}
		if says := strings.Contains(w.Body.String(), "The database of the ledger does not answer"); path == "/" && !says {
			t.Errorf("the overview does not say it: %s", w.Body)
		}
	}
	if log.Len() > 0 {
		t.Errorf("the log says %s", &log)
	}
}

// What is asked for in vain is answered with what to do instead.
func TestHints(t *testing.T) {
	h := page.Handler(page.Config{Data: nothing{}})
	for _, c := range []struct{ method, path, hint string }{
		{http.MethodGet, "/api", "/api/v1/openapi.json"},
		{http.MethodGet, "/api/v1", "/api/v1/openapi.json"},
		{http.MethodGet, "/api/v2/zones", "/api/v1/openapi.json"},
		{http.MethodGet, "/api/v1/zones/z2", "the id"}, // z2 may be a name
		{http.MethodPost, "/api/v1/actions/read", "web.login"},
		{http.MethodGet, "/api/v1/actions/revert", "web.login"},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		var p page.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusNotFound || !strings.Contains(p.Hint, c.hint) {
			t.Errorf("%s %s: %d %s: %v", c.method, c.path, w.Code, w.Body, err)
		}
	}
	if w := ask(h, "/assets/style-0000.css", nil); w.Code != http.StatusNotFound { // of another version
		t.Errorf("a file that is not there any more is answered with %d", w.Code)
	}
}
