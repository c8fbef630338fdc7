package outage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// history is a tracker under a clock of its own, and what it has told.
type history struct {
	*Tracker
	now  time.Time
	told []string
}

func newHistory(zones int) *history {
	h := &history{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	h.Tracker = New(Config{Now: func() time.Time { return h.now }, Tell: func(e Event) {
		h.told = append(h.told, fmt.Sprintf("%s %s %q: %s, zones %d", e.Kind, e.Outage.Subject, e.Outage.Name, e.Outage.Cause, e.Outage.Zones))
	}})
	h.Declare(zones, func(edge.Scope) bool { return true })
	return h
}

// pass lets time pass, a second at a time.
func (h *history) pass(d time.Duration) {
	for range d / time.Second {
		h.now = h.now.Add(time.Second)
		h.Tick()
	}
}

func (h *history) want(t *testing.T, lines ...string) {
	t.Helper()
	if strings.Join(h.told, "\n") != strings.Join(lines, "\n") {
		t.Errorf("told\n\t%s\nwant\n\t%s", strings.Join(h.told, "\n\t"), strings.Join(lines, "\n\t"))
	}
	h.told = nil
}

func zoneNumber(i int) Zone {
	return Zone{Scope: edge.ZoneScope(edge.ZoneID(fmt.Sprintf("z%d", i))), Name: fmt.Sprintf("zone-%d.example", i), Account: "prod"}
}

var (
	errReset  = fmt.Errorf("GET /zones/1: %w: read tcp 127.0.0.1:41234->127.0.0.1:80: connection reset by peer", edge.ErrUnavailable)
	errDenied = &edge.Error{Call: "GET /zones/1", Status: 403, Details: []edge.ErrorDetail{{Code: 10000, Message: "Authentication error"}}}
	errFailed = &edge.Error{Call: "PATCH /zones/1", Status: 200, Details: []edge.ErrorDetail{{Code: 10001, Message: "failed"}}}
)

func TestGitBeginsAndEndsOnce(t *testing.T) {
	h := newHistory(10)
	for i := range 20 {
		h.Failed(reconcile.OutageGit, "", "fetch", fmt.Errorf("dial tcp 10.0.0.1:%d: connection refused", 40000+i))
		h.pass(5 * time.Second)
	}
	if list := h.Outages(); len(list) != 1 || list[0].Tries != 20 || list[0].Cause != "connection refused" || !list[0].Until.IsZero() {
		t.Errorf("outages %+v", list)
	}
	h.Worked(reconcile.OutageGit, "", "fetch")
	h.pass(time.Minute)
	h.want(t, `began git "": connection refused, zones 0`, `ended git "": connection refused, zones 0`)
	if len(h.Outages()) != 0 || len(h.Ended()) != 1 || h.Ended()[0].Until.Sub(h.Ended()[0].Since) != 100*time.Second {
		t.Errorf("outages %+v, ended %+v", h.Outages(), h.Ended())
	}
}

func TestAnotherCauseIsTold(t *testing.T) {
	h := newHistory(10)
	for range 5 {
		for _, err := range []string{"connection refused", "no such host", "certificate expired", "no such ref"} {
			h.Failed(reconcile.OutageGit, "", "fetch", errors.New(err))
		}
	}
	h.want(t, `began git "": connection refused, zones 0`, `changed git "": no such host, zones 0`, `changed git "": certificate expired, zones 0`)
}

func TestOneZoneIsItsOwnOutage(t *testing.T) {
	h := newHistory(10)
	for i := range 60 {
		h.Zone(zoneNumber(i%9), nil)
		if i%5 == 0 {
			h.Zone(zoneNumber(9), errReset)
		}
		h.pass(time.Second)
	}
	h.Zone(zoneNumber(9), nil)
	h.pass(time.Minute)
	const zone = `zone "zone-9.example": no answer from the platform, zones 1`
	h.want(t, "began "+zone, "ended "+zone)
}

func TestZonesWithOneCauseAreOneOutage(t *testing.T) {
	h := newHistory(100)
	for i := range 60 {
		h.Zone(zoneNumber(i), nil)
		h.Zone(zoneNumber(60+i%7), errDenied)
		h.pass(time.Second)
	}
	h.want(t, `began zone "zone-60.example, zone-61.example, zone-62.example and 4 more": the platform answers 403 Forbidden: Authentication error (code 10000), zones 7`)
	for i := range 7 {
		h.Zone(zoneNumber(60+i), nil)
	}
	h.pass(time.Minute)
	if len(h.told) != 1 || !strings.HasPrefix(h.told[0], "ended zone") {
		t.Errorf("told %q", h.told)
	}
}

func TestThePlatformIsOneOutage(t *testing.T) {
	h := newHistory(100)
	for i := range 100 {
		h.Zone(zoneNumber(i), nil)
	}
	for i := range 100 {
		h.Zone(zoneNumber(i), errReset)
		h.pass(time.Second)
	}
	for i := range 100 {
		h.Zone(zoneNumber(i), nil)
	}
	h.pass(time.Minute)
	const platform = `platform "": no answer from the platform, zones 100`
	h.want(t, "began "+platform, "ended "+platform)
}

// TestAnAnswerUnderWayIsNoEvidence: what is answered just after the first failure, as it was under
// way, makes no outage of zones of one of the platform.
func TestAnAnswerUnderWayIsNoEvidence(t *testing.T) {
	h := newHistory(20)
	for i := range 5 {
		h.Zone(zoneNumber(i), errReset)
	}
	h.pass(2 * time.Second)
	h.Zone(zoneNumber(9), nil)
	for i := range 20 {
		h.Zone(zoneNumber(i), errReset)
		h.pass(time.Second)
	}
	h.want(t, `began platform "": no answer from the platform, zones 20`)
}

func TestABreakerThatOpensTellsAtOnce(t *testing.T) {
	h := newHistory(100)
	for i := range 32 {
		h.Zone(zoneNumber(i), errDenied)
	}
	h.want(t)
	h.Down(errDenied)
	h.want(t, `began credential "credentials.rulesets": the platform answers 403 Forbidden: Authentication error (code 10000), zones 100`)
	h.Zone(zoneNumber(40), errDenied)
	h.Zone(zoneNumber(1), nil)
	h.pass(time.Minute)
	if len(h.told) != 1 {
		t.Errorf("told %q", h.told)
	}
}

func TestAnAccountIsOneOutage(t *testing.T) {
	h := newHistory(100)
	for i := range 100 {
		z := zoneNumber(i % 10)
		z.Account, z.OfAccount = "other", true
		h.Zone(z, errReset)
		h.Zone(zoneNumber(50+i%10), nil)
		h.pass(time.Second)
	}
	h.want(t, `began account "other": no answer from the platform, zones 10`)
	z := zoneNumber(3)
	z.Account = "other"
	h.Zone(z, nil)
	h.pass(time.Minute)
	h.want(t, `ended account "other": no answer from the platform, zones 10`)
}

// Writes that fail while reads work are no outage of the platform.
func TestWritesThatFail(t *testing.T) {
	h := newHistory(100)
	for i := range 40 {
		z := zoneNumber(i)
		z.Answered = true
		h.Zone(z, errFailed)
		h.pass(time.Second)
	}
	if len(h.told) != 1 || !strings.HasPrefix(h.told[0], "began zone") || len(h.Outages()) != 1 {
		t.Errorf("told %q", h.told)
	}
}

func TestAFullDiskIsTheStateFolders(t *testing.T) {
	h := newHistory(10)
	full := fmt.Errorf("writing the store: %w", syscall.ENOSPC)
	h.Failed(reconcile.OutageGit, "", "fetch", full)
	h.Zone(zoneNumber(1), fmt.Errorf("%w: %w", reconcile.ErrState, full))
	h.want(t, `began state "": the disk is full, zones 0`)
	h.Worked(reconcile.OutageGit, "", "fetch")
	h.pass(time.Minute)
	h.want(t)
	h.Zone(zoneNumber(1), nil)
	h.want(t, `ended state "": the disk is full, zones 1`)
}

// One try shows that the state folder works again, and the outage ends with it; one that
// comes and goes has to work for longer.
func TestAStateFolderThatWorksAgain(t *testing.T) {
	h := newHistory(10)
	fail := func() {
		for i := range 5 {
			h.Zone(zoneNumber(i), fmt.Errorf("%w: %w", reconcile.ErrState, syscall.ENOSPC))
		}
	}
	fail()
	h.want(t, `began state "": the disk is full, zones 1`)
	if lasts, fails := h.State(); !lasts || !fails {
		t.Errorf("it lasts: %v, and fails: %v", lasts, fails)
	}
	h.StateWorks()
	h.want(t, `ended state "": the disk is full, zones 5`)
	if lasts, fails := h.State(); lasts || fails || len(h.Outages()) != 0 {
		t.Errorf("outages %+v", h.Outages())
	}

	fail()
	h.Failed(reconcile.OutageGit, "", "fetch", syscall.ENOSPC)
	h.StateWorks()
	h.pass(time.Minute) // a fetch still finds no space
	h.Worked(reconcile.OutageGit, "", "fetch")
	h.pass(time.Second)
	h.want(t, `began state "": the disk is full, zones 1`)
	h.pass(settle)
	h.want(t, `ended state "": the disk is full, zones 5`)
}

func TestASinkBesideAnother(t *testing.T) {
	h := newHistory(1)
	h.Only(reconcile.OutageSink, "deliver", map[string]error{"ci": errors.New("denied"), "vault": errors.New("sealed")})
	h.Only(reconcile.OutageSink, "deliver", map[string]error{"ci": errors.New("denied")})
	h.pass(time.Minute)
	if list := h.Outages(); len(list) != 1 || list[0].Name != "ci" {
		t.Errorf("outages %+v", list)
	}
}

// What works and fails in turns has to work for longer each time.
func TestFlappingIsDamped(t *testing.T) {
	h := newHistory(1)
	for range 24 * 60 * 2 {
		h.Failed(reconcile.OutageGit, "", "fetch", errReset)
		h.pass(5 * time.Second)
		h.Worked(reconcile.OutageGit, "", "fetch")
		h.pass(25 * time.Second)
	}
	if n := len(h.told); n > 6 {
		t.Errorf("%d lines in a day of an outage each 30 s: %q", n, h.told)
	}
	h.told = nil
	for range 24 * 4 {
		h.Failed(reconcile.OutageGit, "", "fetch", errReset)
		h.pass(time.Minute)
		h.Worked(reconcile.OutageGit, "", "fetch")
		h.pass(14 * time.Minute)
	}
	if n := len(h.told); n > 2*24*4 {
		t.Errorf("%d lines", n)
	}
}

func TestStoppingIsNoFailure(t *testing.T) {
	h := newHistory(1)
	h.Failed(reconcile.OutageGit, "", "fetch", fmt.Errorf("fetching: %w", context.Canceled))
	h.Zone(zoneNumber(1), context.Canceled)
	h.pass(time.Hour)
	h.want(t)
}

func TestCausesAreStable(t *testing.T) {
	for want, errs := range map[string][]error{
		"no answer from the platform": {errReset, fmt.Errorf("%w: EOF (tried 5 times)", edge.ErrUnavailable)},
		"the platform answers 503 Service Unavailable": {
			&edge.Error{Status: 503, Body: "<html><body>ray 8f3a</body></html>"}, &edge.Error{Status: 503, Body: "busy"},
		},
		"fetching https://git.example/edge.git main: connection refused": {
			errors.New("fetching https://git.example/edge.git main: dial tcp 10.1.2.3:443: connection refused"),
			errors.New("fetching https://git.example/edge.git main: dial tcp [::1]:443: connection refused"),
		},
		"silent for …": {errors.New("silent for 10s"), errors.New("silent for 1m30.2s")},
		"failed at …, request id: … (code 10001)": {
			errors.New("failed at 2026-01-02T03:04:05.678Z, request id: abc123 (code 10001)"),
			errors.New("failed at 2026-02-02T03:04:05Z, request id: def456 (code 10001)"),
		},
	} {
		for _, err := range errs {
			if got := Cause(err); got != want {
				t.Errorf("%q is of cause %q, want %q", err, got, want)
			}
		}
	}
	if got := Line("bad gateway: <!DOCTYPE html><html><head><title>x</title></head><body><h1>502</h1>\n nginx</body></html>"); got != "bad gateway: 502 nginx" {
		t.Errorf("line %q", got)
	}
}
