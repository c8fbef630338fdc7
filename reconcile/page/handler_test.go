package page_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/page"
)

// nothing is a daemon that knows one zone.
type nothing struct{}

var now = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

func (nothing) Status() inspect.Status { return inspect.Status{At: now}.Judged() }
func (nothing) Fleet(q inspect.FleetQuery) (inspect.Fleet, error) {
	return inspect.Fleet{At: now, Zones: []inspect.Row{}}, nil
}
func (nothing) Grid(inspect.FleetQuery) inspect.Grid { return inspect.Grid{} }
func (nothing) Zone(_ context.Context, scope edge.Scope) (inspect.ZonePage, error) {
	if scope.ID != "z1" {
		return inspect.ZonePage{}, &inspect.NoZoneError{Zone: scope.ID}
	}
	labels := map[string]string{"team": "a"}
	return inspect.ZonePage{Zone: inspect.Zone{Zone: "shop.example", Scope: scope}, May: inspect.ZoneLabels{Declared: labels, Proved: labels}}, nil
}

func (nothing) History(context.Context, page.HistoryQuery) (inspect.EntryList, error) {
	return inspect.EntryList{At: now}, nil
}

func (nothing) Commits(context.Context, string, int) (inspect.CommitList, error) {
	return inspect.CommitList{At: now}, nil
}

func (nothing) Tokens(context.Context) (inspect.TokenList, error) {
	return inspect.TokenList{At: now}, nil
}

func (nothing) Deprecations(context.Context) (inspect.DeprecationList, error) {
	return inspect.DeprecationList{At: now}, nil
}
func (nothing) PullRequests() inspect.PullRequestList { return inspect.PullRequestList{At: now} }
func (nothing) PullRequest(int) (inspect.PullRequest, error) {
	return inspect.PullRequest{}, page.ErrNotFound
}

func (nothing) Radar(context.Context, inspect.RadarQuery) (inspect.RadarList, error) {
	return inspect.RadarList{At: now}, nil
}

func (nothing) RadarVersion(context.Context, int64, inspect.RadarQuery) (inspect.RadarPage, error) {
	return inspect.RadarPage{}, page.ErrNotFound
}
func (nothing) Changed() (uint64, <-chan struct{}) { return 0, nil }

func ask(h http.Handler, path string, who *login.Person) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if who != nil {
		r = r.WithContext(login.With(r.Context(), *who))
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestErrors(t *testing.T) {
	h := page.Handler(page.Config{Data: nothing{}})
	for path, want := range map[string]int{
		"/": 200, "/zones": 200, "/zones/z1": 200, "/commits": 200, "/history": 200, "/tokens": 200, "/deprecations": 200, "/pulls": 200,
		"/outages": 200, "/credentials": 200, "/replicas": 200, "/radar": 200, "/radar?since=7d&account=prod": 200, "/zones?text=&account=": 200, "/zones?outcome=refused&outcome=blocked": 200,
		"/zones/z2": 404, "/radar/7": 404, "/radar/x": 404, "/radar/-1": 404, "/pulls/7": 404, "/pulls/x": 404, "/commits/abcd": 404, "/elsewhere": 404,
		"/zones?outcome=bad": 400, "/radar?since=soon": 400, "/radar?zone=z": 400, "/zones?label=x": 400, "/zones?txt=a": 400, "/zones?text=a&text=b": 400, "/history?commit=X": 400, "/zones?%zz": 400, "/commits/x": 400,
	} {
		if w := ask(h, path, nil); w.Code != want || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %s, want %d", path, w.Code, w.Header().Get("Content-Type"), want)
		}
		api := "/api/v1" + path
		if path == "/" {
			api += "status"
		}
		w := ask(h, api, nil)
		var p page.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != want {
			t.Errorf("%s: %d %s, want %d: %v", api, w.Code, w.Body, want, err)
		}
		if want != 200 && (w.Header().Get("Content-Type") != "application/problem+json" || p.Status != want || p.Detail == "") || want == 400 && p.Hint == "" {
			t.Errorf("%s: %s %+v", api, w.Header().Get("Content-Type"), p)
		}
	}
}

// Whoever has a right to some zones only sees these, and nothing that is about the others.
func TestRights(t *testing.T) {
	open := page.Handler(page.Config{Data: nothing{}})
	closed := page.Handler(page.Config{Data: nothing{}, Login: &page.Login{Begin: "/login"}})
	some := func(team string) *login.Person {
		return &login.Person{Name: "ada", Grants: []login.Grant{{Role: login.Viewer, Labels: map[string]string{"team": team}}}}
	}
	for _, c := range []struct {
		h    http.Handler
		path string
		who  *login.Person
		want int
	}{
		{open, "/api/v1/tokens", nil, 200},
		{closed, "/api/v1/tokens", nil, 401},
		{closed, "/api/v1/zones", nil, 401},
		{closed, "/api/v1/zones/z1", nil, 401},
		{closed, "/api/v1/tokens", &login.Person{Grants: []login.Grant{{Role: login.Operator}}}, 200},
		{closed, "/api/v1/tokens", some("a"), 403},
		{closed, "/api/v1/status", some("a"), 403},
		{closed, "/api/v1/zones", some("a"), 200},
		{closed, "/api/v1/zones/z1", some("a"), 200},
		{closed, "/api/v1/zones/z1", some("b"), 404},
		{open, "/api/v1/zones/z1", some("b"), 404},
		{closed, "/api/v1/radar", nil, 401},
		{closed, "/api/v1/radar", some("a"), 200},
	} {
		if w := ask(c.h, c.path, c.who); w.Code != c.want {
			t.Errorf("%s of %+v: %d, want %d", c.path, c.who, w.Code, c.want)
		}
	}
}
