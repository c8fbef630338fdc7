package page_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

// FuzzRequests: whatever is asked for, an answer is never an error of the daemon, and what the
// API says is JSON.
func FuzzRequests(f *testing.F) {
	for _, path := range paths() {
		f.Add(path, "")
		f.Add(strings.TrimPrefix(path, "/api/v1"), "after=zzz&outcome=refused&label=tier%3Dgold&text=%00")
	}
	for _, query := range []string{
		"after=-1", "after=99999999999999999999", "after=%F0%9F%98%80", "label==", "label=a%3D", "label=a%3D1&label=a%3D2", "outcome=", "outcome=refused&outcome=refused",
		"a;b", "%", "&&&", "text=" + strings.Repeat("x", 10000), "account=%2e%2e%2f", "commit=deadbeef&token=x&zone=account:",
	} {
		f.Add("/api/v1/zones", query)
		f.Add("/api/v1/history", query)
		f.Add("/grid.svg", query)
	}
	for _, path := range []string{"/api/v1/zones/", "/api/v1/zones/?", "/api/v1/zones/account:", "/api/v1/zones/../status", "//x", "/api/v1/pulls/-1", "/api/v1/pulls/99999999999999999999", "/api/v1/commits/0000", "/events/x", "/assets/../x"} {
		f.Add(path, "")
	}
	h := page.Handler(page.Config{Data: pagetest.Hostile(30)})
	f.Fuzz(func(t *testing.T, path, query string) {
		if path == "/events" {
			return // it does not end
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: path, RawQuery: query}, Host: "x", RemoteAddr: "127.0.0.1:1"})
		if w.Code >= http.StatusInternalServerError {
			t.Errorf("%q?%q: %d %s", path, query, w.Code, w.Body)
		}
		if kind := w.Header().Get("Content-Type"); strings.HasSuffix(kind, "json") && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%q?%q: %s", path, query, w.Body)
		}
	})
}
