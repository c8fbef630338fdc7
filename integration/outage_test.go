package integration

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
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
	server, err := sim.New(fleet(2))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{Listener: listener}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, g) }()
	t.Cleanup(func() { stop(); <-served })
	greeting := server.Greeting(listener.Addr())
	p := &platform{&sim.Running{Server: server, BaseURL: greeting.BaseURL}, t}

	s := newService(t, p, serviceConfig{Token: greeting.RulesetsToken, Sync: "@every 1h"})
	s.repo.Commit("edge.cue", declare(2, 25))
	s.start()
	s.poll("the outage is told", func() bool { return len(s.logged("outage began")) > 0 })
	s.poll("the zones are told as unknown", func() bool { return s.metric("seawall_zones", "state", "unknown") == 2 })
	if len(p.Transcript()) != 0 {
		t.Error("the platform was not down")
	}
	g.open.Store(true)
	s.poll("the commit is live", func() bool { return p.threshold(mem.FleetZone(2)) == 25 })
	s.pollReady()
}

// TestRejectedCredential: a run with a credential that the platform does not
// take is one request and one message.
func TestRejectedCredential(t *testing.T) {
	t.Parallel()
	p := startPlatform(t, fleet(50))
	dir := t.TempDir()
	write(t, dir, "edge.cue", declare(50, 25))
	o := run(t, []string{"SEAWALL_RULESETS_TOKEN=not-a-token-of-anybody"}, "apply", "--dir", dir, "--base-url", p.BaseURL)
	o.want(t, 1, "credentials.rulesets")
	o.wantNo(t, "not-a-token-of-anybody")
	if lines := countLines(o.stdout + o.stderr); lines > 2 {
		t.Errorf("%d lines, want one message and at most a hint:\n%s%s", lines, o.stdout, o.stderr)
	}
	if calls := p.calls(); len(calls) != 1 {
		t.Errorf("%d requests, want 1: %v", len(calls), calls)
	}

	s := newService(t, p, serviceConfig{Token: "not-a-token-of-anybody", Sync: "@every 1h"})
	s.repo.Commit("edge.cue", declare(50, 25))
	p.ClearTranscript()
	s.start()
	s.poll("the failure is told", func() bool { return len(s.logged("outage began")) > 0 })
	if code, _ := s.get("/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("/readyz answers %d, want 503", code)
	}
	if calls := p.calls(); len(calls) != 1 {
		t.Errorf("%d requests, want 1: %v", len(calls), calls)
	}
	if n := len(s.logged("outage began")); n != 1 {
		t.Errorf("told %d times", n)
	}
}

// TestRevokedCredential: a credential that is revoked while a fleet is read
// costs the requests in flight and no more.
func TestRevokedCredential(t *testing.T) {
	t.Parallel()
	const zones, good, inFlight = 200, 20, 16
	server, err := sim.New(fleet(zones))
	if err != nil {
		t.Fatal(err)
	}
	var requests atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) > good {
			r.Header.Set("Authorization", "Bearer revoked")
		}
		server.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	dir := t.TempDir()
	write(t, dir, "edge.cue", declare(zones, 25))
	token := server.Greeting(front.Listener.Addr()).RulesetsToken
	o := run(t, []string{"SEAWALL_RULESETS_TOKEN=" + token}, "apply", "--dir", dir, "--base-url", front.URL+sim.DefaultBasePath)
	o.want(t, 1, "credentials.rulesets")
	if lines := countLines(o.stdout + o.stderr); lines > 2 {
		t.Errorf("%d lines, want one message and at most a hint:\n%s%s", lines, o.stdout, o.stderr)
	}
	if n := requests.Load(); n > good+inFlight {
		t.Errorf("%d requests, want at most %d", n, good+inFlight)
	}
}
