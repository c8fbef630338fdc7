//go:build linux

package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/harness"
)

// request is one that the platform got. The simulator's own transcript has bounds; this one has
// none, and knows when the answer was ready.
type request struct {
	at, end    time.Time
	method     string
	path       string
	credential string // the value, which is made up
	replica    string // empty: it does not say
	epoch      int64
	status     int
}

// write is whether it changes something.
func (r request) write() bool { return r.method != http.MethodGet }

// platform is the simulator, with every request that it got.
type platform struct {
	sim     *sim.Server
	core    edge.RuleID // by which the core ruleset blocks
	address string
	close   func()

	mu       sync.Mutex
	requests []request
	writes   map[string]int                        // by replica
	hold     func(request) (until <-chan struct{}) // on its way to the platform, for longer than its sender lives; nil: none
}

// latency is how long the platform takes for each answer.
const latency = 5 * time.Millisecond

func startPlatform(f *fleet, limit sim.RateLimit) (*platform, error) {
	server, err := sim.New(sim.Config{Seed: f.seed(), RateLimit: limit, Quirks: []string{"slow=" + latency.String()}})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &platform{sim: server, core: harness.LastOfCore(server), address: listener.Addr().String(), writes: map[string]int{}}
	web := &http.Server{Handler: http.HandlerFunc(p.serve)}
	p.close = func() { _ = web.Close() }
	go func() { _ = web.Serve(listener) }()
	return p, nil
}

func (p *platform) baseURL() string { return "http://" + p.address + sim.DefaultBasePath }

// sender is the comment of the User-Agent.
var sender = regexp.MustCompile(`\(replica ([^;)]+); epoch ([0-9]+)\)`)

// newRequest describes a request that arrives now.
func newRequest(r *http.Request, now time.Time) request {
	arrived := request{at: now, method: r.Method, path: strings.TrimPrefix(r.URL.Path, sim.DefaultBasePath)}
	arrived.credential, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if found := sender.FindStringSubmatch(r.Header.Get("User-Agent")); found != nil {
		arrived.replica = found[1]
		arrived.epoch, _ = strconv.ParseInt(found[2], 10, 64) // it matched digits
	}
	return arrived
}

func (p *platform) serve(w http.ResponseWriter, r *http.Request) {
	r = p.held(r)
	p.mu.Lock()
	n := len(p.requests)
	arrived := newRequest(r, time.Now())
	if p.requests = append(p.requests, arrived); arrived.write() {
		p.writes[arrived.replica]++
	}
	p.mu.Unlock()
	seen := &harness.StatusWriter{ResponseWriter: w}
	p.sim.Handler().ServeHTTP(seen, r)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests[n].end, p.requests[n].status = time.Now(), seen.Status
}

// held returns a request once it is let through. What was held is independent of its sender: that is
// what a network, or the kernel of a machine that is paused, can do.
func (p *platform) held(r *http.Request) *http.Request {
	p.mu.Lock()
	hold := p.hold
	p.mu.Unlock()
	if hold == nil {
		return r
	}
	until := hold(newRequest(r, time.Now()))
	if until == nil {
		return r
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return r
	}
	<-until
	r = r.WithContext(context.WithoutCancel(r.Context()))
	r.Body = io.NopCloser(bytes.NewReader(body))
	return r
}

// holding sets which requests are held.
func (p *platform) holding(hold func(request) (until <-chan struct{})) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold = hold
}

// awaitWrite waits for a while until a write of a replica arrives.
func (p *platform) awaitWrite(ctx context.Context, replica string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for before := p.writesOf(replica); ctx.Err() == nil && p.writesOf(replica) == before; sleep(ctx, time.Millisecond) {
	}
}

func (p *platform) writesOf(replica string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.writes[replica]
}

// record is every request so far, in the order of arrival.
func (p *platform) record() []request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]request(nil), p.requests...)
}

// set gives a zone a threshold behind the back of every client.
func (p *platform) set(zone, score int) error {
	return harness.SetThreshold(p.sim, p.core, zone, score)
}

// live is the threshold that a zone has; 0 when none is overridden.
func (p *platform) live(zone int) int {
	return harness.LiveThreshold(p.sim, zone)
}
