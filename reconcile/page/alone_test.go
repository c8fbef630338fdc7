package page_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/page"
)

// telling has one zone, of which much is said that is of others.
type telling struct{ nothing }

func (telling) Zone(_ context.Context, scope edge.Scope) (inspect.ZonePage, error) {
	if scope != edge.ZoneScope("z1") {
		return inspect.ZonePage{}, &inspect.NoZoneError{Zone: scope.String()}
	}
	labels := map[string]string{"team": "a"}
	limit := "the commit changes 4711 zones, and guards.all allows at most 10% of 4711"
	z := inspect.Zone{
		Zone: "shop.example", Scope: scope, Account: "main", Commit: "c1", Outcome: inspect.Refused,
		Decisions: []inspect.Decision{
			{Deployment: "core", Stage: inspect.StageGuard, Outcome: inspect.Refused, Guard: diff.GuardLimit, Reason: limit, Since: now},
			{Deployment: "more", Stage: inspect.StageGuard, Outcome: inspect.Waiting, Guard: diff.GuardWave, Reason: "wave 2 of 3 is halted: 17 of 4711 failed", Since: now},
		},
		Outages: []reconcile.Outage{{Subject: reconcile.OutagePlatform, Cause: "it is down", Since: now, Zones: 4711}},
		Newer: &inspect.Newer{Commit: "c2", Held: inspect.Held{
			Reason: "4711 of 4712 zones of the last accepted commit: other.example", Problems: []string{"zones.cue:7: other.example"}, Fix: "declare other.example", Since: now,
		}},
		Hold: &diff.Hold{Zone: "shop.example", Until: now.Add(time.Hour), Reason: "a sale", Scopes: []edge.Scope{scope, edge.ZoneScope("0ther")}},
	}
	z.Why = z.Sentences(now)
	return inspect.ZonePage{
		Zone: z, May: inspect.ZoneLabels{Declared: labels, Proved: labels},
		Waiting: []inspect.WaitingChange{{Digest: "sha256:1", Guard: diff.GuardLimit, Reason: limit}},
	}, nil
}

// The page of a zone says nothing of others to who may not see them.
func TestZoneAlone(t *testing.T) {
	h := page.Handler(page.Config{Data: telling{}, Actions: &ordered{}, Login: &page.Login{Begin: "/login"}})
	all := &login.Person{Name: "a", Grants: []login.Grant{{Role: login.Viewer}}}
	some := &login.Person{Name: "b", Grants: []login.Grant{{Role: login.Operator, Labels: map[string]string{"team": "a"}}}}
	for _, path := range []string{"/zones/z1", "/api/v1/zones/z1", "/actions/approve?zone=z1&digest=sha256:1"} {
		w := ask(h, path, some)
		for _, other := range []string{"4711", "other.example", "0ther", "zones.cue"} {
			if strings.Contains(w.Body.String(), other) {
				t.Errorf("%s says %s: %s", path, other, w.Body)
			}
		}
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := ask(h, "/api/v1/zones/z1", all); strings.Count(w.Body.String(), "4711") < 5 {
		t.Errorf("who may see all is not told all: %s", w.Body)
	}
}

// A zone that a person may not see answers as one that is not there, however it is asked for.
func TestHiddenZoneIsNotThere(t *testing.T) {
	h := page.Handler(page.Config{Data: telling{}, Actions: &ordered{}, Login: &page.Login{Begin: "/login"}})
	who := &login.Person{Name: "b", Grants: []login.Grant{{Role: login.Operator, Labels: map[string]string{"team": "b"}}}}
	for _, path := range []string{"/api/v1/zones/", "/api/v1/zones/%3Fzone:", "/actions/approve?zone=", "/actions/approve?zone=%3Fzone:"} {
		hidden, missing := ask(h, path+"z1", who), ask(h, path+"z2", who)
		if got, want := hidden.Body.String(), strings.ReplaceAll(missing.Body.String(), "z2", "z1"); hidden.Code != missing.Code || got != want {
			t.Errorf("%s: %d %s, and of none %d %s", path, hidden.Code, got, missing.Code, want)
		}
	}
}

// counting is one in which so many things have changed.
type counting struct {
	nothing
	changes uint64
}

func (c counting) Changed() (uint64, <-chan struct{}) { return c.changes, nil }

// How many changes there were is not told to who may see some zones only: the sweep reads each.
func TestVersionsDoNotCount(t *testing.T) {
	some := &login.Person{Name: "b", Grants: []login.Grant{{Role: login.Viewer, Labels: map[string]string{"team": "a"}}}}
	pages := page.Handler(page.Config{Data: counting{changes: 4711}, Login: &page.Login{Begin: "/login"}})
	for _, path := range []string{"/zones", "/", "/zones/none"} {
		if w := ask(pages, path, some); strings.Contains(w.Body.String(), `data-version="4711"`) {
			t.Errorf("%s counts", path)
		}
	}
	stopping := make(chan struct{})
	close(stopping)
	pages = page.Handler(page.Config{Data: counting{changes: 4711}, Stopping: stopping, Login: &page.Login{Begin: "/login"}})
	for who, counts := range map[*login.Person]bool{some: false, {Name: "a", Grants: []login.Grant{{Role: login.Viewer}}}: true} {
		if w := ask(pages, "/events", who); !strings.Contains(w.Body.String(), "event: changed") || strings.Contains(w.Body.String(), "4711") != counts {
			t.Errorf("%s is told %q", who.Name, w.Body)
		}
	}
}
