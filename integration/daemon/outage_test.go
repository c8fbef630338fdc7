package daemon

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// gate is a listener that hangs up on everybody until it is opened.
type gate struct {
	net.Listener
	open atomic.Bool
}

func (g *gate) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil || g.open.Load() {
			return conn, err
		}
		conn.Close()
	}
}

// TestDaemonWaitsForThePlatform: one that is down at the start is not taken for
// an empty one, and is reconciled once it is up.
func TestDaemonWaitsForThePlatform(t *testing.T) {
	t.Parallel()
	server, err := sim.New(harness.Fleet(2))
	must.Do(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	g := &gate{Listener: listener}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, g) }()
	t.Cleanup(func() { stop(); <-served })
	greeting := server.Greeting(listener.Addr())
	p := &harness.Platform{Running: &sim.Running{Server: server, BaseURL: greeting.BaseURL}, T: t}

	s := harness.NewService(t, p, harness.ServiceConfig{Token: greeting.RulesetsToken, Sync: "@every 1h"})
	s.Repo.Commit("edge.cue", harness.Declare(2, 25))
	s.Start()
	s.Poll("the outage is told", func() bool { return len(s.Logged("outage began")) > 0 })
	s.Poll("the zones are told as unknown", func() bool { return s.Metric("seawall_zones", "state", "unknown") == 2 })
	if len(p.Transcript()) != 0 {
		t.Error("the platform was not down")
	}
	g.open.Store(true)
	s.Poll("the commit is live", func() bool { return p.Threshold(mem.FleetZone(2)) == 25 })
	s.PollReady()
}

// TestRejectedCredential: a run with a credential that the platform does not
// take is one request and one message.
func TestRejectedCredential(t *testing.T) {
	t.Parallel()
	p := harness.StartPlatform(t, harness.Fleet(50))
	dir := t.TempDir()
	harness.Write(t, dir, "edge.cue", harness.Declare(50, 25))
	o := harness.Run(t, []string{"SEAWALL_RULESETS_TOKEN=not-a-token-of-anybody"}, "apply", "--dir", dir, "--base-url", p.BaseURL)
	o.Want(t, 1, "credentials.rulesets")
	o.WantNo(t, "not-a-token-of-anybody")
	if lines := harness.CountLines(o.Stdout + o.Stderr); lines > 2 {
		t.Errorf("%d lines, want one message and at most a hint:\n%s%s", lines, o.Stdout, o.Stderr)
	}
	if calls := p.Calls(); len(calls) != 1 {
		t.Errorf("%d requests, want 1: %v", len(calls), calls)
	}

	s := harness.NewService(t, p, harness.ServiceConfig{Token: "not-a-token-of-anybody", Sync: "@every 1h"})
	s.Repo.Commit("edge.cue", harness.Declare(50, 25))
	p.ClearTranscript()
	s.Start()
	s.Poll("the failure is told", func() bool { return len(s.Logged("outage began")) > 0 })
	if code, _ := s.Get("/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("/readyz answers %d, want 503", code)
	}
	if calls := p.Calls(); len(calls) != 1 {
		t.Errorf("%d requests, want 1: %v", len(calls), calls)
	}
	if n := len(s.Logged("outage began")); n != 1 {
		t.Errorf("told %d times", n)
	}
}

// TestRevokedCredential: a credential that is revoked while a fleet is read
// costs the requests in flight and few more: another is sent while an answer is judged.
func TestRevokedCredential(t *testing.T) {
	t.Parallel()
	const zones, good, inFlight = 200, 20, 16
	server, err := sim.New(harness.Fleet(zones))
	must.Do(t, err)
	var requests atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) > good {
			r.Header.Set("Authorization", "Bearer revoked")
		}
		server.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	dir := t.TempDir()
	harness.Write(t, dir, "edge.cue", harness.Declare(zones, 25))
	token := server.Greeting(front.Listener.Addr()).RulesetsToken
	o := harness.Run(t, []string{"SEAWALL_RULESETS_TOKEN=" + token}, "apply", "--dir", dir, "--base-url", front.URL+sim.DefaultBasePath)
	o.Want(t, 1, "credentials.rulesets")
	if lines := harness.CountLines(o.Stdout + o.Stderr); lines > 2 {
		t.Errorf("%d lines, want one message and at most a hint:\n%s%s", lines, o.Stdout, o.Stderr)
	}
	if n := requests.Load(); n > good+4*inFlight {
		t.Errorf("%d requests, want at most %d", n, good+4*inFlight)
	}
}
