package page

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
	"github.com/seawall-dev/seawall/reconcile/status"
)

// serve serves the pages of a fleet as the daemon does, and returns their origin.
func serve(t testing.TB, data page.Data) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	stopping := ctx.Done()
	go func() { served <- status.Serve(ctx, listener, handlerOf(data, stopping)) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return "http://" + listener.Addr().String()
}

func handlerOf(data page.Data, stopping <-chan struct{}) http.Handler {
	return page.Handler(page.Config{Data: data, Stopping: stopping, Now: func() time.Time { return pagetest.At }, Program: "v1.0.0"})
}

// named is an address with a word for it.
type named struct{ name, path string }

// paths are all pages, each with a word for tests.
var paths = []named{
	{"overview", "/"},
	{"zones", "/zones"},
	{"filtered", "/zones?outcome=refused&outcome=blocked&label=tier%3Dgold"},
	{"none", "/zones?text=no-zone-has-this-name"},
	{"zone", "/zones/" + pagetest.Scope(0).Text()},
	{"unread", "/zones/" + pagetest.Scope(8).Text()},
	{"bypassed", "/zones/" + pagetest.Scope(4).Text()},
	{"commits", "/commits"},
	{"commit", "/commits/" + pagetest.Commit},
	{"history", "/history"},
	{"tokens", "/tokens"},
	{"radar", "/radar"},
	{"version", fmt.Sprintf("/radar/%d", pagetest.NewestVersion)},
	{"deprecations", "/deprecations"},
	{"pulls", "/pulls"},
	{"pull", "/pulls/104"},
	{"outages", "/outages"},
	{"credentials", "/credentials"},
}
