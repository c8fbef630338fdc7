package page_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

// ordered notes what is ordered, and does nothing.
type ordered struct {
	calls []string
	going page.Reverting
	err   error
}

func (o *ordered) call(words ...string) (string, error) {
	if o.err != nil {
		return "", o.err
	}
	o.calls = append(o.calls, strings.Join(words, " "))
	return "done: " + strings.Join(words, " "), nil
}

func (o *ordered) ReadNow(_ context.Context, who login.Person, zones []edge.Scope) (string, error) {
	words := []string{who.Name, "read"}
	for _, id := range zones {
		words = append(words, id.Text())
	}
	return o.call(words...)
}

func (o *ordered) Hold(_ context.Context, who login.Person, zone edge.Scope, length time.Duration, reason string) (string, error) {
	return o.call(who.Name, "hold", zone.Text(), length.String(), reason)
}

func (o *ordered) Release(_ context.Context, who login.Person, zone edge.Scope) (string, error) {
	return o.call(who.Name, "release", zone.Text())
}

func (o *ordered) Approve(_ context.Context, who login.Person, zone edge.Scope, digest, reason string) (string, error) {
	return o.call(who.Name, "approve", zone.Text(), digest, reason)
}

func (o *ordered) PlanRevert(_ context.Context, who login.Person, commit string) (string, error) {
	return o.call(who.Name, "plan", commit)
}

func (o *ordered) Revert(_ context.Context, who login.Person, commit, digest string) (string, error) {
	return o.call(who.Name, "revert", commit, digest)
}

func (o *ordered) Reverting() page.Reverting { return o.going }

var (
	chief  = login.Person{Name: "oidc:chief@example.com", Grants: []login.Grant{{Role: login.Operator}}}
	viewer = login.Person{Name: "oidc:vera@example.com", Grants: []login.Grant{{Role: login.Viewer}}}
	ofGold = login.Person{Name: "oidc:gold@example.com", Grants: []login.Grant{{Role: login.Operator, Labels: map[string]string{"tier": "gold"}}}}
)

// served are pages whose visitor is one person; the zero person is nobody.
func served(t *testing.T, o page.Actions, data page.Data, who login.Person) (*httptest.Server, *http.Client) {
	t.Helper()
	pages := page.Handler(page.Config{Data: data, Actions: o, Login: &page.Login{Begin: "/login"}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who.Name != "" {
			r = r.WithContext(login.With(r.Context(), who))
		}
		pages.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	jar, _ := cookiejar.New(nil)
	address, _ := url.Parse(server.URL)
	jar.SetCookies(address, []*http.Cookie{{Name: "session", Value: "1", Path: "/"}})
	return server, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func send(t *testing.T, client *http.Client, method, address, kind, body string, header ...string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), answer.Header
}

const (
	form     = "application/x-www-form-urlencoded"
	jsonType = "application/json"
)

func TestOrdersOfForms(t *testing.T) {
	zone := pagetest.Scope(3).Text()
	for _, c := range []struct {
		name string
		who  login.Person
		path string
		body string
		want int
		did  string // empty: nothing
		back string
	}{
		{"read", chief, "read", "zones=" + zone, 303, "read " + zone, "/zones/" + zone},
		{"read several", chief, "read", "zones=" + zone + "&zones=x", 303, "read " + zone + " x", "/zones"},
		{"hold", chief, "hold", "zone=" + zone + "&for=2h&reason=INC-1", 303, "hold " + zone + " 2h0m0s INC-1", "/zones/" + zone},
		{"hold from elsewhere", chief, "hold", "zone=" + zone + "&for=2h&reason=x&back=https://evil.example/", 303, "hold " + zone + " 2h0m0s x", "/zones/" + zone},
		{"hold from //elsewhere", chief, "hold", "zone=" + zone + "&for=2h&reason=x&back=//evil.example/", 303, "hold " + zone + " 2h0m0s x", "/zones/" + zone},
		{"hold from /\\elsewhere", chief, "hold", "zone=" + zone + "&for=2h&reason=x&back=/%5Cevil.example", 303, "hold " + zone + " 2h0m0s x", "/zones/" + zone},
		{"hold from the list", chief, "hold", "zone=" + zone + "&for=2h&reason=x&back=/zones", 303, "hold " + zone + " 2h0m0s x", "/zones"},
		{"an odd zone", chief, "release", "zone=../../x", 303, "release ../../x", "/zones"},
		{"approve", ofGold, "approve", "zone=" + zone + "&digest=sha256:1", 303, "approve " + zone + " sha256:1", "/zones/" + zone},
		{"plan", chief, "plan-revert", "commit=abcdef", 303, "plan abcdef", "/actions/revert"},
		{"revert", chief, "revert", "commit=abcdef&digest=sha256:1", 303, "revert abcdef sha256:1", "/actions/revert"},

		{"revert with a right to some", ofGold, "revert", "commit=abcdef&digest=sha256:1", 403, "", ""},
		{"viewer", viewer, "hold", "zone=" + zone + "&for=2h&reason=x", 403, "", ""},
		{"nobody", login.Person{}, "hold", "zone=" + zone + "&for=2h&reason=x", 401, "", ""},
		{"no such action", chief, "drop", "zone=" + zone, 404, "", ""},
		{"no reason", chief, "hold", "zone=" + zone + "&for=2h&reason=+", 400, "", ""},
		{"no length", chief, "hold", "zone=" + zone + "&for=long&reason=x", 400, "", ""},
		{"an unknown member", chief, "release", "zone=" + zone + "&force=1", 400, "", ""},
		{"a member of another action", chief, "release", "zone=" + zone + "&digest=1", 400, "", ""},
		{"twice", chief, "release", "zone=" + zone + "&zone=x", 400, "", ""},
		{"a line end", chief, "hold", "zone=" + zone + "&for=2h&reason=a%0Ab", 400, "", ""},
		{"a direction", chief, "hold", "zone=" + zone + "&for=2h&reason=a%E2%80%AEb", 400, "", ""},
		{"no UTF-8", chief, "hold", "zone=" + zone + "&for=2h&reason=a%FFb", 400, "", ""},
		{"a long reason", chief, "hold", "zone=" + zone + "&for=2h&reason=" + strings.Repeat("x", 501), 400, "", ""},
		{"a large body", chief, "hold", "zone=" + zone + "&for=2h&reason=" + strings.Repeat("x", 70_000), 413, "", ""},
		{"in the address", chief, "release?zone=" + zone, "", 400, "", ""},
		{"no commit", chief, "plan-revert", "commit=HEAD", 400, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &ordered{}
			server, client := served(t, o, pagetest.New(10), c.who)
			status, body, header := send(t, client, "POST", server.URL+"/actions/"+c.path, form, c.body, "Sec-Fetch-Site", "same-origin")
			want := []string{}
			if c.did != "" {
				want = append(want, c.who.Name+" "+c.did)
			}
			if status != c.want || !slices.Equal(trimmed(o.calls), want) || header.Get("Location") != c.back {
				t.Errorf("%d to %q, did %q\n%s", status, header.Get("Location"), o.calls, body)
			}
		})
	}
}

func trimmed(calls []string) []string {
	all := []string{}
	for _, c := range calls {
		all = append(all, strings.TrimSpace(c))
	}
	return all
}

// What comes from another site, or does not say from where though it has a session, does
// nothing; nor does what only reads.
func TestOrdersFromElsewhere(t *testing.T) {
	o := &ordered{}
	server, client := served(t, o, pagetest.New(10), chief)
	body := "zone=" + pagetest.Scope(3).Text()
	asJSON := `{"zone":"` + pagetest.Scope(3).Text() + `"}`
	for name, header := range map[string][]string{
		"cross-site":     {"Sec-Fetch-Site", "cross-site"},
		"same-site":      {"Sec-Fetch-Site", "same-site"},
		"cross origin":   {"Origin", "https://evil.example"},
		"null origin":    {"Origin", "null"},
		"says nothing":   nil,
		"lies in one":    {"Sec-Fetch-Site", "cross-site", "Origin", server.URL},
		"another port":   {"Origin", "http://127.0.0.1:1"},
		"another scheme": {"Origin", "https://evil.example" + strings.TrimPrefix(server.URL, "http://")},
	} {
		if status, text, _ := send(t, client, "POST", server.URL+"/actions/release", form, body, header...); status != 403 {
			t.Errorf("%s: %d %s", name, status, text)
		}
		if status, text, h := send(t, client, "POST", server.URL+"/api/v1/actions/release", jsonType, asJSON, header...); status != 403 || h.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "PATCH"} {
		for _, path := range []string{"/actions/release?zone=", "/api/v1/actions/release?zone="} {
			if status, text, _ := send(t, client, method, server.URL+path+pagetest.Scope(3).Text(), "", ""); status < 400 {
				t.Errorf("%s %s: %d %s", method, path, status, text)
			}
		}
	}
	for _, kind := range []string{"", "text/plain", "multipart/form-data; boundary=x", jsonType} {
		if status, _, _ := send(t, client, "POST", server.URL+"/actions/release", kind, body, "Sec-Fetch-Site", "same-origin"); status != 415 {
			t.Errorf("%q as a form: %d", kind, status)
		}
	}
	if len(o.calls) > 0 {
		t.Errorf("did %q", o.calls)
	}
}

func TestOrdersAsJSON(t *testing.T) {
	zone := pagetest.Scope(3).Text()
	for _, c := range []struct {
		path, body string
		want       int
		did        string
	}{
		{"hold", `{"zone":"` + zone + `","for":"90m","reason":"INC-1"}`, 200, "hold " + zone + " 1h30m0s INC-1"},
		{"read", `{"zones":["` + zone + `"]}`, 200, "read " + zone},
		{"plan-revert", `{"commit":"abcdef"}`, 200, "plan abcdef"},
		{"hold", `{"zone":"` + zone + `","for":"90m","reason":"INC-1","who":"root"}`, 400, ""},
		{"hold", `{"zone":"` + zone + `","zone":"x","for":"90m","reason":"INC-1"}`, 400, ""},
		{"release", `{"zone":"` + zone + `"} {}`, 400, ""},
		{"release", `{"zone":"` + zone + `","back":"/"}`, 400, ""},
		{"release", `["` + zone + `"]`, 400, ""},
		{"release", `null`, 400, ""},
		{"release", ``, 400, ""},
		{"read", `{"zones":[` + strings.TrimSuffix(strings.Repeat(`"x",`, 201), ",") + `]}`, 400, ""},
	} {
		o := &ordered{going: page.Reverting{Stage: page.RevertPlanning}}
		server, _ := served(t, o, pagetest.New(10), chief)
		// A program that has no session says nothing of where it comes from.
		status, body, header := send(t, http.DefaultClient, "POST", server.URL+"/api/v1/actions/"+c.path, jsonType, c.body)
		if status != c.want || (len(o.calls) > 0) != (c.did != "") || c.did != "" && o.calls[0] != chief.Name+" "+c.did {
			t.Errorf("%s %s: %d %s, did %q", c.path, c.body, status, body, o.calls)
		}
		var answer page.Ordered
		if err := json.Unmarshal([]byte(body), &answer); err != nil || status == 200 && !strings.HasPrefix(answer.Done, "done: ") {
			t.Errorf("%s: %s %v", c.path, body, err)
		}
		if (answer.Revert != nil) != (c.path == "plan-revert") || status != 200 && header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %s", c.path, body)
		}
	}
}

// What was done is shown to who did it, on the next page, and to no one else.
func TestSaysWhatWasDone(t *testing.T) {
	o := &ordered{going: page.Reverting{Stage: page.RevertNone}}
	server, client := served(t, o, pagetest.New(10), chief)
	body := url.Values{"zone": {pagetest.Scope(3).Text()}, "for": {"2h"}, "reason": {`<script>alert("1")</script>`}}.Encode()
	_, _, header := send(t, client, "POST", server.URL+"/actions/hold", form, body, "Sec-Fetch-Site", "same-origin")
	cookie, _, _ := strings.Cut(header.Get("Set-Cookie"), ";")
	if !strings.Contains(header.Get("Set-Cookie"), "HttpOnly") || !strings.Contains(header.Get("Set-Cookie"), "SameSite=Strict") {
		t.Errorf("cookie %q", header.Get("Set-Cookie"))
	}
	_, text, _ := send(t, client, "GET", server.URL+"/actions/revert", "", "")
	if !strings.Contains(text, "done: "+chief.Name+" hold") || strings.Contains(text, "<script>alert") || !strings.Contains(text, "&lt;script&gt;") {
		t.Errorf("the next page says\n%s", text)
	}
	other, _ := served(t, o, pagetest.New(10), chief)
	if _, text, _ := send(t, http.DefaultClient, "GET", other.URL+"/actions/revert", "", "", "Cookie", cookie); strings.Contains(text, "done: ") {
		t.Error("a cookie that another server has signed is shown")
	}
	if _, text, _ := send(t, http.DefaultClient, "GET", server.URL+"/actions/revert", "", "", "Cookie", cookie[:len(cookie)-8]+"AAAAAAAA"); strings.Contains(text, "done: ") {
		t.Error("a changed cookie is shown")
	}
}

// Whoever may not do something sees no page to agree to it.
func TestConfirmations(t *testing.T) {
	data := pagetest.New(200)
	fleet, err := data.Fleet(inspect.FleetQuery{Outcomes: []inspect.Outcome{inspect.Refused}})
	if err != nil || len(fleet.Zones) == 0 {
		t.Fatal("no zone waits for a person", err)
	}
	row := fleet.Zones[0]
	address := "/actions/approve?zone=" + row.Scope.Text() + "&digest=" + url.QueryEscape(row.Approve)
	mine := login.Person{Name: "oidc:m@example.com", Grants: []login.Grant{{Role: login.Operator, Labels: row.Labels}}}
	elsewhere := login.Person{Name: "oidc:e@example.com", Grants: []login.Grant{{Role: login.Operator, Labels: map[string]string{"no": "such"}}}}
	for _, c := range []struct {
		who  login.Person
		path string
		want int
	}{
		{chief, address, 200},
		{mine, address, 200},
		{elsewhere, address, 404},
		{viewer, address, 403},
		{chief, address + "x", 409},
		{chief, "/actions/approve?zone=nosuch&digest=x", 404},
		{login.Person{}, address, 401},
		{chief, "/actions/revert", 200},
		{mine, "/actions/revert", 403},
		{viewer, "/api/v1/actions/revert", 403},
		{chief, "/api/v1/actions/revert", 200},
	} {
		o := &ordered{going: page.Reverting{Stage: page.RevertPlanned, Plan: &page.RevertPlan{Commit: "abcdef", Digest: "sha256:d", Text: "<b>bold</b>", Zones: 2}}}
		server, client := served(t, o, data, c.who)
		status, text, _ := send(t, client, "GET", server.URL+c.path, "", "")
		if status != c.want {
			t.Errorf("%s of %s: %d %s", c.path, c.who.Name, status, text)
		}
		if status == 200 && strings.HasPrefix(c.path, "/actions/revert") && (!strings.Contains(text, `value="sha256:d"`) || strings.Contains(text, "<b>bold")) {
			t.Errorf("%s", text)
		}
		if status == 200 && c.path == address && !strings.Contains(text, `name="digest" value="`+row.Approve+`"`) {
			t.Errorf("%s", text)
		}
	}
	data.SetProved(row.Scope, nil)
	server, client := served(t, &ordered{}, data, mine)
	if status, _, _ := send(t, client, "GET", server.URL+address, "", ""); status != 404 {
		t.Errorf("by labels that are only declared: %d", status)
	}
}

// Without a login there are no actions, and without actions no address of one.
func TestNoActions(t *testing.T) {
	o := &ordered{}
	for name, config := range map[string]page.Config{
		"no actions": {Data: pagetest.New(10), Login: &page.Login{}}, "no login": {Data: pagetest.New(10), Actions: o},
	} {
		server := httptest.NewServer(page.Handler(config))
		t.Cleanup(server.Close)
		status, text, _ := send(t, http.DefaultClient, "POST", server.URL+"/actions/release", form, "zone=x", "Sec-Fetch-Site", "same-origin")
		if status < 400 || len(o.calls) > 0 {
			t.Errorf("%s: %d %s", name, status, text)
		}
		if status, _, _ := send(t, http.DefaultClient, "GET", server.URL+"/actions/revert", "", ""); status < 400 {
			t.Errorf("%s: %d", name, status)
		}
	}
}
