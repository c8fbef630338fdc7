package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

// paths are those of the API, with values of [pagetest] in them.
func paths() (all []string) {
	for _, row := range page.Rows() {
		path := row.API
		for name, p := range pathParams {
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(p.example))
		}
		all = append(all, path)
	}
	return all
}

// TestAnswersAreAsDescribed holds real answers to the description, which is to have every member.
func TestAnswersAreAsDescribed(t *testing.T) {
	for name, data := range map[string]page.Data{
		"empty": pagetest.Empty(), "no zone": pagetest.New(0), "one zone": pagetest.New(1),
		"many": pagetest.New(500), "hostile": pagetest.Hostile(40),
	} {
		t.Run(name, func(t *testing.T) {
			api := pagetest.NewAPI(t, page.Handler(page.Config{Data: data}))
			for _, path := range paths() {
				api.Get(t, path)
			}
			for i := range inspect.Outcomes() { // the first zones have one each
				api.Get(t, "/api/v1/zones/"+pagetest.Scope(i).Text())
			}
		})
	}
}

// TestBadParametersAreAsDescribed: what the description refuses is answered with 400, and what
// it allows is not.
func TestBadParametersAreAsDescribed(t *testing.T) {
	api := pagetest.NewAPI(t, page.Handler(page.Config{Data: pagetest.New(3)}))
	values := map[string][]string{
		"outcome": {"refused", "REFUSED", "in sync"}, "label": {"tier=gold", "tier", "=gold", "tier=", "a=b=c"},
		"commit": {"4f6d", "4f6", "4F6D", "main", strings.Repeat("a", 64), strings.Repeat("a", 65)},
		"since":  {"7d", "24h", "1h30m", "2026-03-01", "2026-03-01T12:00:00Z", "2026-03-01T12:00:00+01:00", "yesterday", "2026", "d"},
	}
	for i, row := range page.Rows() {
		for _, p := range row.Params {
			for _, value := range append(values[p.Name], "x y", "%", "\x00", "ü") {
				if p.Name == "after" {
					continue // its text says nothing
				}
				path := paths()[i] + "?" + url.Values{p.Name: {value}}.Encode()
				answer, bad := api.Get(t, path)
				if (answer.Code == http.StatusBadRequest) != (bad != nil) {
					t.Errorf("%s is answered with %d; the description says %v", path, answer.Code, bad)
				}
			}
		}
		for _, query := range []string{"?limit=1", "?ZONE=a", "?after=a&after=b", "?%zz"} {
			answer, _ := api.Get(t, paths()[i]+strings.ReplaceAll(query, "%zz", "%25=1"))
			var problem page.Problem
			if err := json.Unmarshal(answer.Body.Bytes(), &problem); err != nil || answer.Code != http.StatusBadRequest || problem.Hint == "" {
				t.Errorf("%s%s is answered with %d %s", paths()[i], query, answer.Code, answer.Body)
			}
		}
	}
	if answer, _ := api.Get(t, "/api/v1/zones?label=tier%3Dgold&label=tier%3Dsilver"); answer.Code != http.StatusBadRequest {
		t.Errorf("two values of a label are answered with %d", answer.Code)
	}
}

// TestMethods: an address says which methods it takes.
func TestMethods(t *testing.T) {
	h := page.Handler(page.Config{Data: pagetest.New(1)})
	for _, path := range append(paths(), "/api/v1/openapi.json", "/events", "/zones") {
		for method, want := range map[string]int{
			http.MethodHead: 200, http.MethodPost: 405, http.MethodPut: 405, http.MethodDelete: 405, http.MethodOptions: 405, http.MethodTrace: 405, "BREW": 405,
		} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
			if allow := w.Header().Get("Allow"); w.Code != want || (allow == "GET, HEAD") != (want == 405) {
				t.Errorf("%s %s: %d, Allow: %q", method, path, w.Code, allow)
			}
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/api/v1/zone", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("POST to an address that nothing has: %d", w.Code)
	}
}

// long has more tokens than a page.
type long struct{ *pagetest.Data }

const manyRows = 2*inspect.MostRows + 50

func (long) Tokens(context.Context) (l inspect.TokenList, _ error) {
	for i := range manyRows {
		l.Tokens = append(l.Tokens, inspect.TokenRow{Token: fmt.Sprintf("t%03d", i/2), ID: edge.TokenID(fmt.Sprint(i)), Outcome: inspect.InSync})
	}
	return l, nil
}

// TestPages follows next through each list that has pages: every entry is there once.
func TestPages(t *testing.T) {
	data := long{pagetest.New(manyRows)}
	api := pagetest.NewAPI(t, page.Handler(page.Config{Data: data}))
	for path, c := range map[string]struct {
		list, key string
		all       int
	}{
		"/api/v1/zones?account=prod": {"zones", "zone_id", manyRows / 3},
		"/api/v1/zones":              {"zones", "zone_id", manyRows},
		"/api/v1/commits":            {"commits", "commit", 250},
		"/api/v1/tokens":             {"tokens", "id", manyRows},
		"/api/v1/history":            {"entries", "number", -1},
		"/api/v1/radar":              {"versions", "number", pagetest.NewestVersion},
	} {
		seen, next := map[string]bool{}, ""
		for pages := 0; pages == 0 || next != ""; pages++ {
			u, err := url.Parse(path)
			must.Do(t, err)
			query := u.Query()
			if next != "" {
				query.Set("after", next)
			}
			u.RawQuery = query.Encode()
			answer, _ := api.Get(t, u.String())
			var value map[string]any
			must.Do(t, json.Unmarshal(answer.Body.Bytes(), &value))
			for _, entry := range value[c.list].([]any) {
				key := fmt.Sprint(entry.(map[string]any)[c.key])
				if seen[key] {
					t.Errorf("%s has %s twice", path, key)
				}
				seen[key] = true
			}
			next, _ = value["next"].(string)
		}
		if c.all >= 0 && len(seen) != c.all || len(seen) == 0 {
			t.Errorf("%s has %d entries, want %d", path, len(seen), c.all)
		}
		if answer, _ := api.Get(t, strings.Split(path, "?")[0]+"?after=!"); answer.Code != http.StatusBadRequest {
			t.Errorf("%s: a strange cursor is answered with %d", path, answer.Code)
		}
	}
}
