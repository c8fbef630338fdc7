package login_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/login/logintest"
)

// TestSessionFixation: each login has a new id, and the one before is worth nothing.
func TestSessionFixation(t *testing.T) {
	f := withIssuer(t)
	b := f.browser()
	b.put("seawall-session", "chosen-by-somebody-else-and-long-enough-0000")
	b.get("/").want(t, 200)
	first := b.cookie("session")
	if strings.HasPrefix(first, "chosen") || len(first) != 43 {
		t.Fatalf("the id is %q", first)
	}
	b.get("/login").want(t, 200)
	if second := b.cookie("session"); second == first {
		t.Error("a second login keeps the id")
	}
	thief := f.browser()
	thief.put("seawall-session", first)
	thief.get("/", "Accept", "*/*").want(t, 401)
}

// TestSessionsEnd: after 8 hours without an activity, and after 24 hours; a page that
// refreshes itself is no activity.
func TestSessionsEnd(t *testing.T) {
	f := withIssuer(t)
	b := f.browser()
	b.get("/").want(t, 200)
	for hour := 0; hour < 23; hour += 7 {
		b.get("/", "Sec-Fetch-Mode", "navigate").want(t, 200)
		f.clock.advance(7 * time.Hour)
	}
	b.get("/", "Accept", "*/*").want(t, 401) // 28 hours
	b = f.browser()
	b.get("/").want(t, 200)
	for range 3 {
		f.clock.advance(2 * time.Hour)
		b.get("/events", "Accept", "text/event-stream", "Sec-Fetch-Mode", "cors").want(t, 200)
	}
	f.clock.advance(2*time.Hour + time.Second)
	b.get("/events", "Accept", "text/event-stream", "Sec-Fetch-Mode", "cors").want(t, 401)
}

// TestSessionsOverReload: a session outlives a reload, and what it may do is what the new
// configuration says; a login of another configuration does not count.
func TestSessionsOverReload(t *testing.T) {
	f := withIssuer(t)
	b := f.browser()
	b.get("/").want(t, 200, "operator")
	f.reload(func(c *login.Config) { c.Roles = everyone()[:1] })
	b.get("/").want(t, 200, "viewer")
	f.reload(func(c *login.Config) { c.Roles = nil })
	b.get("/").want(t, 403)
	f.reload(func(c *login.Config) { c.Roles = everyone() })
	b.get("/").want(t, 200, "operator")
	if n := f.issuer.Asked("/token"); n != 1 {
		t.Errorf("%d logins", n)
	}
	f.reload(func(c *login.Config) {
		other := *c.OIDC
		other.User = "sub"
		c.OIDC = &other
	})
	b.get("/", "Accept", "*/*").want(t, 401)
	f.reload(func(c *login.Config) { c.OIDC = nil })
	b.get("/", "Accept", "*/*").want(t, 401)
}

// TestStreamEnds: what a person has open ends when they log out.
func TestStreamEnds(t *testing.T) {
	f := withIssuer(t)
	b := f.browser()
	b.get("/").want(t, 200)
	response, err := b.Get(f.URL + "/held")
	must.Do(t, err)
	defer response.Body.Close()
	select {
	case <-f.held:
		t.Fatal("ended before")
	default:
	}
	b.send(http.MethodPost, "/logout").want(t, 200)
	select {
	case <-f.held:
	case <-time.After(10 * time.Second):
		t.Fatal("it is still open")
	}
}

// TestCookies: with https only this very host can set them, no script reads them, and other
// sites do not have them sent but by a link.
func TestCookies(t *testing.T) {
	f := newFixture(t, &tls.Config{}, func(f *fixture, c *login.Config) { f.addIssuer(c) })
	b := f.browser()
	set := map[string]string{}
	b.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		for _, line := range r.Response.Header.Values("Set-Cookie") {
			name, value, _ := strings.Cut(line, "=")
			_, attributes, _ := strings.Cut(value, ";")
			if !strings.HasSuffix(attributes, "Max-Age=0; HttpOnly; Secure; SameSite=Lax") {
				set[name] = strings.TrimSpace(attributes)
			}
		}
		return nil
	}
	b.get("/").want(t, 200, "operator")
	want := map[string]string{
		"__Host-seawall-session": "Path=/; Max-Age=86400; HttpOnly; Secure; SameSite=Lax", "__Host-seawall-login": "Path=/; Max-Age=600; HttpOnly; Secure; SameSite=Lax",
	}
	if fmt.Sprint(set) != fmt.Sprint(want) {
		t.Errorf("the cookies are %v", set)
	}
	tossed := f.browser() // the name without the prefix, which another host can set
	tossed.put("seawall-session", b.cookie("session"))
	tossed.get("/", "Accept", "*/*").want(t, 401)
	jar, _ := cookiejar.New(nil)
	twice := f.browser()
	twice.Jar = jar
	twice.get("/", "Accept", "*/*", "Cookie", "__Host-seawall-session="+b.cookie("session")+"; __Host-seawall-session=x").want(t, 401)
}

// TestCrossOrigin: no other site has a person act, or log out.
func TestCrossOrigin(t *testing.T) {
	f := withIssuer(t)
	b := f.browser()
	b.get("/").want(t, 200)
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
		for _, path := range []string{"/logout", "/actions/hold", "/api/v1/actions/hold"} {
			b.send(http.MethodPost, path, header...).want(t, 403, "another site")
		}
		b.get("/", header...).want(t, 200, "operator")
	}
	b.send(http.MethodPost, "/actions/hold", "Origin", f.URL).want(t, 200, "operator")
	b.send(http.MethodPost, "/actions/hold", "Sec-Fetch-Site", "same-origin").want(t, 200, "operator")
	if f.count(login.CrossOrigin) != 12 {
		t.Errorf("%d are counted", f.count(login.CrossOrigin))
	}
}

// TestManyLogins: logins that are begun and never end cost no memory.
func TestManyLogins(t *testing.T) {
	f := withIssuer(t)
	f.browser().get("/").want(t, 200)
	guard, r := f.guard.Load().Wrap(http.NotFoundHandler()), httptest.NewRequest(http.MethodGet, "/login?to=/zones", nil)
	attempts := 50_000 // a million take a minute, and no more memory
	if testing.Short() {
		attempts = 5_000
	}
	measure := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := measure()
	for i := range attempts {
		w := httptest.NewRecorder()
		guard.ServeHTTP(w, r)
		if w.Code != http.StatusSeeOther {
			t.Fatalf("the attempt %d: %d %s", i, w.Code, w.Body)
		}
		if i%1000 == 0 { // and callbacks that no login has begun
			guard.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/login/callback?state=x&code="+fmt.Sprint(i), nil))
		}
	}
	if after := measure(); after > before+1<<20 {
		t.Errorf("%d logins that never end take %d KiB", attempts, (after-before)>>10)
	}
	if n := f.issuer.Asked("/token"); n != 1 {
		t.Errorf("the provider was asked %d times", n)
	}
}

// TestManySessions: who logs in again and again ends their own sessions only.
func TestManySessions(t *testing.T) {
	f := withIssuer(t)
	f.issuer.Set(func(i *logintest.Issuer) { i.Claims["email"] = "bob@example.com" })
	bob := f.browser()
	bob.get("/").want(t, 200)
	f.issuer.Set(func(i *logintest.Issuer) { i.Claims["email"] = "ada@example.com" })
	var ada []*browser
	for range 40 {
		b := f.browser()
		b.get("/").want(t, 200)
		ada = append(ada, b)
	}
	live := 0
	for i, b := range ada {
		if b.get("/", "Accept", "*/*").status == 200 {
			live++
		} else if i >= 8 {
			t.Errorf("session %d of 40 was ended before older ones", i)
		}
	}
	if live != 32 {
		t.Errorf("%d sessions of one person", live)
	}
	bob.get("/", "Accept", "*/*").want(t, 200)
}

// TestOpen: without a login everyone may read, and no one may act.
func TestOpen(t *testing.T) {
	f := newFixture(t, nil, func(_ *fixture, c *login.Config) { c.Open, c.Roles = true, nil })
	f.browser().get("/").want(t, 200, "viewer anyone")
	f.browser().get("/", "X-Forwarded-User", "root").want(t, 200, "viewer anyone")
	f.reload(func(c *login.Config) { c.Open = false })
	f.browser().get("/").want(t, 401)
	if _, err := login.New(login.Config{Open: true, Certificates: true, Now: time.Now}); err == nil {
		t.Error("a login that is open has a way to log in")
	}
}

// TestRefusalHeaders: the pages of the login load nothing, and no one keeps them.
func TestRefusalHeaders(t *testing.T) {
	f := withIssuer(t)
	for _, a := range []answer{f.browser().get("/login/callback"), f.browser().get("/logout"), f.browser().get("/api/v1/status"), f.browser().stay().get("/login"), f.browser().stay().get("/")} {
		if a.header.Get("Cache-Control") != "no-store" || a.status != 303 && (!strings.HasPrefix(a.header.Get("Content-Security-Policy"), "default-src 'none'") || a.header.Get("X-Content-Type-Options") != "nosniff") {
			t.Errorf("%s: %v", a.at, a.header)
		}
		if strings.Contains(a.body, "style=") || strings.Contains(a.body, "<script") {
			t.Errorf("%s", a.body)
		}
	}
	f.reload(func(c *login.Config) { c.StyleSheet = "/assets/style-1.css" })
	f.browser().get("/logout").want(t, 200, `<link rel="stylesheet" href="/assets/style-1.css">`)
}
