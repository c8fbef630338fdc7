package page

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page"
)

// operated is a service whose people are named by a proxy: olga operates all, gus what is gold,
// and vera sees all. Whatever weakens a zone waits for an approval.
func operated(t *testing.T, zones int) *harness.Service {
	t.Helper()
	s := harness.NewService(t, harness.StartPlatform(t, harness.Fleet(zones)), harness.ServiceConfig{})
	s.Configure(s.Config.Text(s) + `guards: calm: approve: "weakening"
web: {
	login: proxy: from: ["127.0.0.1/32"]
	roles: all: {role: "operator", users: ["proxy:olga"]}
	roles: gold: {role: "operator", users: ["proxy:gus"], labels: tier: "gold"}
	roles: see: {role: "viewer", users: ["proxy:vera"]}
}
`)
	return s
}

// declared are zones with a threshold, of which the first is gold.
func declared(zones, threshold int) string {
	text := harness.Declare(zones, threshold)
	return strings.Replace(text, `"zone-00001.example": {`, `"zone-00001.example": {labels: tier: "gold", `, 1)
}

// ask sends a request as a person, as a browser does from a page of the daemon.
func ask(s *harness.Service, who, method, path string, form url.Values, header ...string) (int, string, http.Header) {
	s.T.Helper()
	req, err := http.NewRequestWithContext(s.T.Context(), method, "http://"+s.Address()+path, strings.NewReader(form.Encode()))
	must.Do(s.T, err)
	req.Header.Set("X-Forwarded-User", who)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	must.Do(s.T, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must.Do(s.T, err)
	return res.StatusCode, string(body), res.Header
}

func readAs[T any](s *harness.Service, who, path string) (value T) {
	s.T.Helper()
	code, body, _ := ask(s, who, http.MethodGet, path, nil)
	if code != http.StatusOK {
		s.T.Fatalf("%s: %d %s", path, code, body)
	}
	must.Do(s.T, json.Unmarshal([]byte(body), &value))
	return value
}

// TestOperatorsOnPages: an operator reads, holds, releases, approves and reverts with nothing
// but forms; what took effect is on the platform and in the history, with who did it; and who
// has no right does nothing.
func TestOperatorsOnPages(t *testing.T) {
	t.Parallel()
	const zones = 3
	s := operated(t, zones)
	first := s.Repo.Commit("edge.cue", declared(zones, 25))
	s.Start()
	s.PollLong(t, "the first commit is live", func() bool { return s.Platform.At(1, zones, 25) == zones })
	one, two := mem.FleetZone(1).Text(), mem.FleetZone(2).Text()
	s.PollLong(t, "the labels of the first zone are proved", func() bool {
		code, _, _ := ask(s, "gus", http.MethodGet, "/api/v1/zones/"+one, nil)
		return code == http.StatusOK
	})
	order := func(who, name string, form url.Values, want int) string {
		t.Helper()
		code, body, header := ask(s, who, http.MethodPost, "/actions/"+name, form)
		if code != want {
			t.Fatalf("%s by %s: %d, want %d\n%s", name, who, code, want, body)
		}
		if code == http.StatusSeeOther {
			cookie, _, _ := strings.Cut(header.Get("Set-Cookie"), ";")
			_, body, _ = ask(s, who, http.MethodGet, header.Get("Location"), nil, "Cookie", cookie)
			_, said, _ := strings.Cut(body, `class="said"`)
			said, _, _ = strings.Cut(said, "</p>")
			return said
		}
		return body
	}
	hold := url.Values{"zone": {one}, "for": {"2h"}, "reason": {"INC-1 <b>"}}
	order("vera", "hold", hold, 403)
	order("mallory", "hold", hold, 403)
	order("gus", "hold", url.Values{"zone": {two}, "for": {"2h"}, "reason": {"x"}}, 404)
	if said := order("gus", "hold", hold, 303); !strings.Contains(said, "zone-00001.example is held until") || strings.Contains(said, "<b>") {
		t.Errorf("said %q", said)
	}
	command(s, "hold", "list").Want(t, 0, "zone-00001.example", "INC-1 <b>")
	if said := order("olga", "read", url.Values{"zones": {two}}, 303); !strings.Contains(said, "zone-00002.example is read now") {
		t.Errorf("said %q", said)
	}

	// A commit that weakens all waits in each zone, in the first for its hold, too.
	bad := s.Repo.Commit("edge.cue", declared(zones, 900))
	waits := func(zone string) string {
		for _, w := range readAs[inspect.ZonePage](s, "olga", "/api/v1/zones/"+zone).Waiting {
			return w.Digest
		}
		return ""
	}
	s.PollLong(t, "the change waits", func() bool { return waits(two) != "" })
	if said := order("gus", "release", url.Values{"zone": {one}}, 303); !strings.Contains(said, "is not held any more") {
		t.Errorf("said %q", said)
	}
	s.PollLong(t, "the change of the first waits", func() bool { return waits(one) != "" })
	order("gus", "approve", url.Values{"zone": {one}, "digest": {waits(two)}}, 409)
	order("gus", "approve", url.Values{"zone": {two}, "digest": {waits(two)}}, 404)
	_, shown, _ := ask(s, "gus", http.MethodGet, "/actions/approve?"+url.Values{"zone": {one}, "digest": {waits(one)}}.Encode(), nil)
	if !strings.Contains(shown, "900") || !strings.Contains(shown, `action="/actions/approve"`) {
		t.Errorf("what is to be approved is shown as\n%s", shown)
	}
	for zone, who := range map[string]string{one: "gus", two: "olga"} {
		order(who, "approve", url.Values{"zone": {zone}, "digest": {waits(zone)}, "reason": {"INC-2"}}, 303)
	}
	s.PollLong(t, "what is approved is written", func() bool { return s.Platform.At(1, zones, 900) == 2 })

	// It is undone: the plan is shown, and done once it is agreed to.
	order("gus", "plan-revert", url.Values{"commit": {bad}}, 403)
	order("olga", "plan-revert", url.Values{"commit": {bad}}, 303)
	going := func() page.Reverting { return readAs[page.Reverting](s, "olga", "/api/v1/actions/revert") }
	s.PollLong(t, "the revert is planned", func() bool { return going().Stage == page.RevertPlanned })
	plan := going().Plan
	if plan.Zones != 2 || plan.Stops != 1 || !strings.Contains(plan.Text, "zone-00001.example") {
		t.Errorf("plan %+v", plan)
	}
	order("olga", "revert", url.Values{"commit": {bad}, "digest": {plan.Digest + "0"}}, 409)
	order("olga", "revert", url.Values{"commit": {bad}, "digest": {plan.Digest}}, 303)
	s.PollLong(t, "the revert has ended", func() bool { return going().Stage == page.RevertEnded })
	if end := going(); end.Failed || s.Platform.At(1, zones, 25) != zones {
		t.Errorf("%d of %d zones are as before: %+v", s.Platform.At(1, zones, 25), zones, end)
	}
	wantWho(s, first, bad)
	command(s, "history", "verify").Want(t, 0, "the history is whole")
}

// wantWho checks that each action is in the history with who did it, and no other is.
func wantWho(s *harness.Service, first, bad string) {
	s.T.Helper()
	did := map[string]int{}
	for _, e := range readAs[inspect.EntryList](s, "olga", "/api/v1/history").Entries {
		if e.Kind == reconcile.EntryDecision && e.Asked.User != "" {
			did[e.Asked.User+" "+e.Action]++
		}
	}
	want := map[string]int{
		"proxy:gus hold": 1, "proxy:gus release": 1, "proxy:gus approve": 1, "proxy:olga approve": 1, "proxy:olga read": 2, "proxy:olga revert": 1,
	}
	if fmt.Sprint(did) != fmt.Sprint(want) {
		s.T.Errorf("history has %v, want %v (commits %s, %s)", did, want, first, bad)
	}
}

// TestActionsFromOtherSites: what another site has a browser send does nothing.
func TestActionsFromOtherSites(t *testing.T) {
	t.Parallel()
	s := operated(t, 1)
	s.Repo.Commit("edge.cue", declared(1, 25))
	s.Start()
	s.PollReady()
	zone := mem.FleetZone(1).Text()
	form := url.Values{"zone": {zone}, "for": {"2h"}, "reason": {"x"}}
	for name, header := range map[string][]string{
		"cross-site": {"Sec-Fetch-Site", "cross-site"}, "same-site": {"Sec-Fetch-Site", "same-site"},
		"an origin": {"Sec-Fetch-Site", "", "Origin", "https://evil.example"}, "a session alone": {"Sec-Fetch-Site", "", "Cookie", "a=b"},
	} {
		if code, body, _ := ask(s, "olga", http.MethodPost, "/actions/hold", form, header...); code != http.StatusForbidden {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
	if code, _, _ := ask(s, "olga", http.MethodGet, "/actions/hold?"+form.Encode(), nil); code < 400 {
		t.Errorf("by GET: %d", code)
	}
	time.Sleep(100 * time.Millisecond)
	command(s, "hold", "list").Want(t, 0, "no zone is held")
}
