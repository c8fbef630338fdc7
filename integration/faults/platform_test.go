package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

func startTestPlatform(t *testing.T) *platform {
	t.Helper()
	p, err := startPlatform(shape{}, newFleet(3))
	must.Do(t, err)
	t.Cleanup(func() { _ = p.refuse() })
	return p
}

// send sends one request and returns its status; 0 when there is no answer. It waits long
// for the answer that is wanted, and for none, 0, as long as a request needs to arrive.
func (p *platform) send(t *testing.T, want int, method string, z zone, body string) int {
	t.Helper()
	id := mem.FleetZone(int(z))
	path := edge.EntryPointPath(id, edge.PhaseFirewallManaged)
	if method == http.MethodPatch {
		entryPoint, err := p.sim.Platform.EntryPoint(t.Context(), id, edge.PhaseFirewallManaged)
		must.Do(t, err)
		path = edge.RulePath(id, entryPoint.ID, entryPoint.Rules[0].ID)
	}
	wait := time.Minute
	if want == 0 {
		wait = time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.baseURL()+path, strings.NewReader(body))
	must.Do(t, err)
	req.Header.Set("Authorization", "Bearer "+mem.RulesetsTokenValue)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); err != nil {
		return 0
	}
	return res.StatusCode
}

const update = `{"action":"execute","expression":"true","action_parameters":{"id":"c04e0000000000000000000000000001",` +
	`"overrides":{"rules":[{"id":"c04e000000000000000000010000000f","action":"block","score_threshold":77}]}}}`

// TestFaultsOfAZone: a fault touches its zone and no other, and a write is
// recorded whether the platform sees it or not.
func TestFaultsOfAZone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		fault       func(*platform) fault
		read, write int
	}{
		{"silent", always(silent), 0, 0},
		{"headers alone", always(headersOnly), 0, 0},
		{"stalled", always(stalled(10)), 0, 0},
		{"forbidden", always(answering(http.StatusForbidden, noPermission)), 403, 403},
		{"slow", always(delayed(time.Minute, 2*time.Minute)), 0, 0},
		{"ignored", func(p *platform) fault { return p.ignoredPatch }, 200, 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := startTestPlatform(t)
			p.disturb(within(2, test.fault(p)))
			if got := p.send(t, test.read, http.MethodGet, 2, ""); got != test.read {
				t.Errorf("a read is answered %d, want %d", got, test.read)
			}
			if got := p.send(t, test.write, http.MethodPatch, 2, update); got != test.write {
				t.Errorf("a write is answered %d, want %d", got, test.write)
			}
			if got := p.send(t, 200, http.MethodGet, 3, ""); got != 200 {
				t.Errorf("another zone is answered %d", got)
			}
			if w := p.writes(); len(w) != 1 || w[0].zone != 2 || w[0].score != 77 {
				t.Errorf("the writes are %+v", w)
			}
			if got := p.live(2); test.name != "stalled" && got == 77 {
				t.Error("the write took effect")
			}
			must.Do(t, p.set(2, 22))
			p.calm()
			if got := p.send(t, 200, http.MethodPatch, 2, update); got != 200 || p.live(2) != 77 || !p.writes()[len(p.writes())-1].ok {
				t.Errorf("when it is calm a write is answered %d, and the threshold is %d", got, p.live(2))
			}
		})
	}
}

func always(f fault) func(*platform) fault { return func(*platform) fault { return f } }

// TestRefuse: a platform that refuses connections comes back at its address.
func TestRefuse(t *testing.T) {
	p := startTestPlatform(t)
	must.Do(t, p.refuse())
	if got := p.send(t, 0, http.MethodGet, 1, ""); got != 0 {
		t.Errorf("answered %d", got)
	}
	for range 2 {
		must.Do(t, p.reopen())
	}
	if got := p.send(t, 200, http.MethodGet, 1, ""); got != 200 {
		t.Errorf("answered %d", got)
	}
}

func TestUnreasonedWrites(t *testing.T) {
	f := &fixture{fleet: newFleet(3), platform: startTestPlatform(t)}
	f.fleet.declare(map[zone]int{1: 50})
	f.fleet.planted(1)
	f.fleet.planted(2)
	f.platform.record = []write{
		{zone: 1, ok: true},
		{zone: 1, ok: false},
		{zone: 1, ok: true},
		{zone: 2, ok: true},
		{zone: 2, ok: true}, // too many
		{zone: 3, ok: true}, // too many
	}
	if got := unreasonedWrites(f); got != 2 {
		t.Errorf("%d writes too many, want 2", got)
	}
}
