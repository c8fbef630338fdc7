package login_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/login/logintest"
)

// TestOIDC: a browser that opens a page is sent to log in, and comes back to this page.
func TestOIDC(t *testing.T) {
	f := withIssuer(t)
	b := f.browser()
	a := b.get("/zones?outcome=failed&label=a%3Db")
	a.want(t, 200, "operator oidc:ada@example.com")
	if a.at.RequestURI() != "/zones?outcome=failed&label=a%3Db" {
		t.Errorf("the login has led to %s", a.at)
	}
	b.get("/").want(t, 200, "operator oidc:ada@example.com")
	if n := f.issuer.Asked("/token"); n != 1 {
		t.Errorf("%d logins", n)
	}
	if log := f.logged(); !strings.Contains(log, `msg="a user has logged in" user=oidc:ada@example.com address=127.0.0.1`) || f.count(login.LoggedIn) != 1 {
		t.Errorf("the log:\n%s", log)
	}
	b.send(http.MethodPost, "/logout").want(t, 200, "You are logged out")
	if log := f.logged(); !strings.Contains(log, `msg="a user has logged out" user=oidc:ada@example.com address=127.0.0.1`) {
		t.Errorf("the log:\n%s", log)
	}
	b.get("/", "Accept", "*/*").want(t, 401)
	b.get("/").want(t, 200, "operator oidc:ada@example.com")
}

// TestOIDCForPrograms: what cannot follow a redirect to another site is told so.
func TestOIDCForPrograms(t *testing.T) {
	f := withIssuer(t)
	for path, header := range map[string][]string{
		"/api/v1/zones": nil, "/events": {"Accept", "text/event-stream"}, "/": {"Sec-Fetch-Mode", "cors"},
	} {
		a := f.browser().get(path, header...)
		a.want(t, 401, "needs a login")
		if header == nil && a.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %v", path, a.header)
		}
	}
	f.browser().send(http.MethodPost, "/actions/hold").want(t, 401)
	f.browser().get("/assets/page.css").want(t, 200) // a page of the login may need it
	f.browser().send(http.MethodPost, "/assets/page.css").want(t, 401)
	f.browser().get("/assets/..%2fzones", "Accept", "*/*").want(t, 401)
	if f.issuer.Asked("/authorize") > 0 {
		t.Error("a program was sent to log in")
	}
}

// TestClaims: whom an ID token names.
func TestClaims(t *testing.T) {
	for name, test := range map[string]struct {
		claims map[string]any
		status int
		want   string
	}{
		"a list":          {map[string]any{"email": "ada@example.com", "groups": []string{"ops"}}, 200, "operator oidc:ada@example.com"},
		"one text":        {map[string]any{"email": "ada@example.com", "groups": "ops"}, 200, "operator oidc:ada@example.com"},
		"no groups":       {map[string]any{"email": "ada@example.com"}, 200, "viewer oidc:ada@example.com"},
		"null":            {map[string]any{"email": "ada@example.com", "groups": nil}, 200, "viewer oidc:ada@example.com"},
		"two in one text": {map[string]any{"email": "ada@example.com", "groups": "ops,staff"}, 200, "viewer oidc:ada@example.com"},
		"numbers":         {map[string]any{"email": "ada@example.com", "groups": []int{1}}, 403, "neither a list of texts nor a text"},
		"an object":       {map[string]any{"email": "ada@example.com", "groups": map[string]any{"ops": true}}, 403, "neither a list of texts nor a text"},
		"no name":         {map[string]any{"sub": "1"}, 403, "has no claim &#34;email&#34;"},
		"name no text":    {map[string]any{"email": []string{"ada@example.com"}}, 403, "is not a text"},
		"empty name":      {map[string]any{"email": ""}, 403, "name is empty"},
		"everyone":        {map[string]any{"email": "*"}, 403, "means everyone"},
		"markup":          {map[string]any{"email": "<b>@example.com"}, 200, "viewer oidc:<b>@example.com"},
		"two lines":       {map[string]any{"email": "ada@example.com\nlevel=INFO"}, 403, "cannot be printed"},
		"invisible":       {map[string]any{"email": "ada\u202e@example.com"}, 403, "cannot be printed"},
		"blanks":          {map[string]any{"email": " ada@example.com"}, 403, "begins or ends with blanks"},
		"too long":        {map[string]any{"email": strings.Repeat("a", 300)}, 403, "longer than"},
		"not verified":    {map[string]any{"email": "ada@example.com", "email_verified": false}, 403, "not verified"},
		"not in a text":   {map[string]any{"email": "ada@example.com", "email_verified": "false"}, 403, "not verified"},
		"in a text":       {map[string]any{"email": "ada@example.com", "email_verified": "true"}, 200, "viewer oidc:ada@example.com"},
		"too many groups": {map[string]any{"email": "ada@example.com", "groups": strings.Split(strings.Repeat("g,", 1100)+"g", ",")}, 403, "more than 1000 groups"},
	} {
		t.Run(name, func(t *testing.T) {
			f := withIssuer(t)
			f.issuer.Set(func(i *logintest.Issuer) { i.Claims = test.claims })
			f.browser().get("/").want(t, test.status, test.want)
		})
	}
}

// TestForgedTokens: an ID token that is not for this login lets no one in.
func TestForgedTokens(t *testing.T) {
	other := logintest.New(t, time.Now)
	alter := func(change func(map[string]any)) func(*logintest.Issuer) {
		return func(i *logintest.Issuer) { i.Lie = change }
	}
	for name, change := range map[string]func(*logintest.Issuer){
		"nonce":                alter(func(c map[string]any) { c["nonce"] = "another" }),
		"no nonce":             alter(func(c map[string]any) { delete(c, "nonce") }),
		"audience":             alter(func(c map[string]any) { c["aud"] = "another" }),
		"another client's":     alter(func(c map[string]any) { c["aud"], c["azp"] = []string{"another", "seawall"}, "another" }),
		"many clients'":        alter(func(c map[string]any) { c["aud"] = []string{"another", "seawall"} }),
		"party":                alter(func(c map[string]any) { c["azp"] = "another" }),
		"issuer":               alter(func(c map[string]any) { c["iss"] = "https://other.example" }),
		"expired":              alter(func(c map[string]any) { c["exp"] = time.Now().Add(-time.Second).Unix() }),
		"never expires":        alter(func(c map[string]any) { delete(c, "exp") }),
		"not yet":              alter(func(c map[string]any) { c["nbf"] = time.Now().Add(time.Hour).Unix() }),
		"no signature":         func(i *logintest.Issuer) { i.Forge = func(s string) string { return s[:strings.LastIndex(s, ".")+1] } },
		"signature of another": func(i *logintest.Issuer) { i.Forge = func(s string) string { return logintest.Resign(s, other) } },
		"altered":              func(i *logintest.Issuer) { i.Forge = logintest.Altered },
		"algorithm none": func(i *logintest.Issuer) {
			i.Forge = func(s string) string {
				return logintest.Part(map[string]any{"alg": "none"}) + "." + strings.Split(s, ".")[1] + "."
			}
		},
		"secret as a key": func(i *logintest.Issuer) {
			i.Forge = func(s string) string { return logintest.HMACSigned(s, i.Secret) }
		},
		"no token":          func(i *logintest.Issuer) { i.Forge = func(string) string { return "" } },
		"two tokens in one": func(i *logintest.Issuer) { i.Forge = func(s string) string { return s + "." + s } },
		"no JWT":            func(i *logintest.Issuer) { i.Forge = func(s string) string { return "x" + s } },
	} {
		t.Run(name, func(t *testing.T) {
			f := withIssuer(t)
			f.issuer.Set(change)
			b := f.browser()
			b.get("/").want(t, 403, "does not fit this login")
			if b.cookie("session") != "" || f.count(login.BadToken) != 1 || f.count(login.LoggedIn) != 0 {
				t.Errorf("%d bad, %d logged in, cookie %q", f.count(login.BadToken), f.count(login.LoggedIn), b.cookie("session"))
			}
		})
	}
}

// TestCallback: a callback counts once, in the browser that has begun the login, in ten minutes.
func TestCallback(t *testing.T) {
	f := withIssuer(t)
	f.issuer.Again = true // a provider that takes a code twice
	begin := func() (*browser, *url.URL) {
		b := f.browser().stay()
		at := ok(url.Parse(b.get("/login?to=/zones").header.Get("Location")))
		response := ok(b.Get(at.String()))
		response.Body.Close()
		return b, ok(url.Parse(response.Header.Get("Location")))
	}
	b, back := begin()
	state := b.cookie("login")
	f.browser().get(back.RequestURI()).want(t, 400, "did not begin this login") // of another browser
	a := b.get(back.RequestURI())
	if a.status != 303 || a.header.Get("Location") != "/zones" || b.cookie("session") == "" || b.cookie("login") != "" {
		t.Fatalf("%d %v", a.status, a.header)
	}
	b.get(back.RequestURI()).want(t, 400, "did not begin this login")
	b.put("seawall-login", state) // somebody has kept it
	b.get(back.RequestURI()).want(t, 400, "was used before")

	b, back = begin()
	for name, alter := range map[string]func(url.Values){
		"state":    func(q url.Values) { q.Set("state", "x") },
		"no state": func(q url.Values) { q.Del("state") },
	} {
		q := back.Query()
		alter(q)
		if a := b.get("/login/callback?" + q.Encode()); a.status != 400 {
			t.Errorf("%s: %d", name, a.status)
		}
	}
	b, back = begin()
	b.put("seawall-login", b.cookie("login")+"x")
	b.get(back.RequestURI()).want(t, 400)

	b, back = begin()
	f.clock.advance(11 * time.Minute)
	b.get(back.RequestURI()).want(t, 400, "ten minutes")

	b, back = begin() // the code of another person, which the attacker has stopped before its callback
	other, theirs := begin()
	q := back.Query()
	q.Set("code", theirs.Query().Get("code"))
	b.get("/login/callback?"+q.Encode()).want(t, 503) // PKCE: invalid_grant
	other.get(theirs.RequestURI())
	for _, code := range []string{"access_denied", "<script>alert(1)</script>"} {
		b, back = begin()
		a := b.get("/login/callback?" + url.Values{"state": {back.Query().Get("state")}, "error": {code}, "error_description": {"call 555-1234"}}.Encode())
		a.want(t, 403, "did not log you in")
		if strings.Contains(a.body, "555") || strings.Contains(a.body, "script") {
			t.Errorf("%s", a.body)
		}
	}
	b.send(http.MethodPost, "/login/callback?"+back.RawQuery).want(t, 405)
	b.send(http.MethodPost, "/login").want(t, 405)
}

// TestReturn: after a login a browser goes to a page of ours.
func TestReturn(t *testing.T) {
	f := withIssuer(t)
	for to, want := range map[string]string{
		"/zones?a=b": "/zones?a=b", "/zones/x%20y": "/zones/x%20y", "": "/", "/": "/",
		"//evil.example": "/", "https://evil.example": "/", "/\\evil.example": "/", "\\\\evil.example": "/", "javascript:alert(1)": "/", "/\t/evil.example": "/",
		"/%5cevil.example": "/", "/%2f/evil.example": "/", "evil.example": "/", "/\r\nSet-Cookie: a=b": "/", " /zones": "/", "/zones\x00": "/", "/ü": "/",
		"///evil.example": "/", "http:evil.example": "/", "?to=x": "/", "/login": "/", "/login/callback?code=x": "/", "/logout": "/", "/api/v1/zones": "/", "/" + strings.Repeat("a", 2000): "/",
	} {
		b := f.browser()
		var last string
		b.CheckRedirect = func(r *http.Request, via []*http.Request) error {
			if via[len(via)-1].URL.Path == "/login/callback" {
				last = r.Response.Header.Get("Location")
				return http.ErrUseLastResponse
			}
			return nil
		}
		b.get("/login?" + url.Values{"to": {to}}.Encode())
		if last != want {
			t.Errorf("%q: leads to %q, want %q", to, last, want)
		}
	}
}

// TestNoRole: who has no role is told who they are, and what gives one.
func TestNoRole(t *testing.T) {
	f := withIssuer(t)
	f.reload(func(c *login.Config) { c.Roles = everyone()[1:] })
	f.issuer.Set(func(i *logintest.Issuer) { i.Claims["groups"] = []string{"<staff>"} })
	b := f.browser()
	b.get("/").want(t, 403, "You are oidc:ada@example.com", "web.roles", "&#34;ada@example.com&#34;", "or its groups one of yours", `href="/logout"`)
	b.get("/logout").want(t, 200, `<form method="post" action="/logout">`)
	if !strings.Contains(f.logged(), "outcome=no_role user=oidc:ada@example.com address=127.0.0.1") {
		t.Errorf("the log:\n%s", f.logged())
	}
}
