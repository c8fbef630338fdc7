package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
)

// TestSimAtADay runs the verb with --at: the calendar is in it, and the clock of
// its control moves over a day of it.
func TestSimAtADay(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan error, 1)
	root := newRoot(&cli.Terminal{Out: in, Err: io.Discard})
	root.SetArgs([]string{"sim", "--at", "2025-06-14"})
	go func() { done <- root.ExecuteContext(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	var greeting sim.Greeting
	must.Do(t, json.NewDecoder(out).Decode(&greeting))
	ask := func(method, url, body string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
		must.Do(t, err)
		req.Header.Set("Authorization", "Bearer "+greeting.RulesetsToken)
		resp, err := http.DefaultClient.Do(req)
		must.Do(t, err)
		defer resp.Body.Close()
		return resp.StatusCode
	}
	const path = "/zones/00000000000000000000000000000a01/rate_limits"
	if got := ask("GET", greeting.BaseURL+path, ""); got != http.StatusNotImplemented {
		t.Errorf("the day before: %d", got)
	}
	if got := ask("PUT", strings.TrimSuffix(greeting.BaseURL, sim.DefaultBasePath)+"/__sim/clock", `{"at":"2025-06-15"}`); got != http.StatusOK {
		t.Errorf("the clock: %d", got)
	}
	if got := ask("GET", greeting.BaseURL+path, ""); got != http.StatusNotFound {
		t.Errorf("on the day: %d", got)
	}
}
