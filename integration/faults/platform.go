package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/harness"
)

// platform is the simulator behind a front. It records every write that arrives,
// those that a fault swallows too.
type platform struct {
	*front
	sim   *sim.Server
	core  edge.RuleID // by which the core ruleset blocks
	trail *trail      // of the newest push

	mu     sync.Mutex
	record []write
}

// write is one PATCH.
type write struct {
	zone  zone
	score int // that the body asks for; 0 when it asks for none
	at    time.Time
	ok    bool // answered with success while the client still listened
}

// startPlatform simulates a fleet in which every zone is as declared.
func startPlatform(s shape, f *fleet) (*platform, error) {
	limit := sim.RateLimit{Requests: s.requests, Per: s.per, Off: s.requests == 0}
	server, err := sim.New(sim.Config{Seed: mem.Fleet(f.size()), RateLimit: limit})
	if err != nil {
		return nil, err
	}
	p := &platform{sim: server, core: harness.LastOfCore(server)}
	base := server.Handler()
	if s.latency > 0 {
		base = delayed(s.latency, s.latency).on(base)
	}
	if p.front, err = newFront(base); err != nil {
		return nil, err
	}
	p.trail, p.outer = &trail{}, p.recorded
	for z := faulty; int(z) <= f.size(); z++ {
		if err := p.set(z, f.want(z)); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *platform) baseURL() string { return "http://" + p.address + sim.DefaultBasePath }

// quirks sets the simulator's own.
func (p *platform) quirks(list ...string) error { return p.sim.SetQuirks(list) }

// set gives a zone a threshold behind the back of every client.
func (p *platform) set(z zone, score int) error {
	return harness.SetThreshold(p.sim, p.core, int(z), score)
}

// live is the threshold that a zone has; 0 when none is overridden.
func (p *platform) live(z zone) int {
	return harness.LiveThreshold(p.sim, int(z))
}

// recorded notes what passes.
func (p *platform) recorded(next http.Handler, w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPatch {
		p.trail.noteZone(looked, zoneOf(r), time.Now())
		next.ServeHTTP(w, r)
		return
	}
	p.trail.noteZone(written, zoneOf(r), time.Now())
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	p.mu.Lock()
	n := len(p.record)
	p.record = append(p.record, write{zone: zoneOf(r), score: scoreOf(body), at: time.Now()})
	p.mu.Unlock()
	seen := &harness.StatusWriter{ResponseWriter: w}
	next.ServeHTTP(seen, r)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.record[n].ok = seen.Status == http.StatusOK && r.Context().Err() == nil
}

// writes returns those so far.
func (p *platform) writes() []write {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]write(nil), p.record...)
}

// ignoredPatch answers an update with the entry point as it is, and changes
// nothing.
func (p *platform) ignoredPatch(next http.Handler, w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPatch {
		next.ServeHTTP(w, r)
		return
	}
	entryPoint, err := p.sim.Platform.EntryPoint(r.Context(), mem.FleetZone(int(zoneOf(r))), edge.PhaseFirewallManaged)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"result": entryPoint, "success": true, "errors": []any{}, "messages": []any{}})
}

// zoneOf returns the zone that a request is about; 0 for none.
func zoneOf(r *http.Request) zone {
	_, rest, found := strings.Cut(r.URL.Path, "/zones/f1ee")
	if !found {
		return 0
	}
	id, _, _ := strings.Cut(rest, "/")
	n, err := strconv.Atoi(id)
	if err != nil {
		return 0
	}
	return zone(n)
}

// scoreOf finds the threshold in the body of an update.
func scoreOf(body []byte) int {
	var rule edge.Rule
	if json.Unmarshal(body, &rule) != nil {
		return 0
	}
	return harness.Threshold(rule)
}
