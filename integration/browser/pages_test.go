package browser

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

// serve serves the pages of a fleet, and returns their origin.
func serve(t testing.TB, data page.Data) string {
	t.Helper()
	server := httptest.NewServer(handlerOf(data))
	t.Cleanup(func() {
		server.CloseClientConnections() // streams
		server.Close()
	})
	return server.URL
}

func handlerOf(data page.Data) http.Handler {
	return page.Handler(page.Config{Data: data, Now: func() time.Time { return pagetest.At }, Program: "v1.0.0"})
}

// paths are all pages, each with a word for tests.
var paths = []struct{ name, path string }{
	{"overview", "/"},
	{"zones", "/zones"},
	{"filtered", "/zones?outcome=refused&outcome=blocked&label=tier%3Dgold"},
	{"none", "/zones?text=no-zone-has-this-name"},
	{"zone", "/zones/" + pagetest.Scope(0).Text()},
	{"unread", "/zones/" + pagetest.Scope(7).Text()},
	{"commits", "/commits"},
	{"commit", "/commits/" + pagetest.Commit},
	{"history", "/history"},
	{"tokens", "/tokens"},
	{"deprecations", "/deprecations"},
	{"pulls", "/pulls"},
	{"pull", "/pulls/104"},
	{"outages", "/outages"},
	{"credentials", "/credentials"},
}
