package login_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/login/logintest"
)

// TestRotatedKeys: the provider changes its key, of another kind, and logins go on.
func TestRotatedKeys(t *testing.T) {
	f := withIssuer(t)
	for range 3 {
		f.browser().get("/").want(t, 200, "oidc:ada@example.com")
		f.issuer.Rotate()
	}
	if n := f.issuer.Asked("/.well-known/openid-configuration"); n != 1 {
		t.Errorf("asked %d times how it is set up", n)
	}
}

// TestRotatedSecret: the secret is read for each login.
func TestRotatedSecret(t *testing.T) {
	f := withIssuer(t)
	f.browser().get("/").want(t, 200)
	f.issuer.Set(func(i *logintest.Issuer) { i.Secret = "the next" })
	f.browser().get("/").want(t, 503, "doctor")
	if log := f.logged(); !strings.Contains(log, "invalid_client") || strings.Contains(log, "the code was") || strings.Contains(log, "s3cret") {
		t.Errorf("the log:\n%s", log)
	}
	f.config.OIDC.ClientSecret = func() (edge.Secret, error) { return edge.NewSecret("the next"), nil }
	f.reload(func(*login.Config) {})
	f.browser().get("/").want(t, 200)
}

// TestProviderDown: whoever is logged in stays so, others are told, and it is not asked again
// for each of them.
func TestProviderDown(t *testing.T) {
	f := withIssuer(t)
	f.issuer.Set(func(i *logintest.Issuer) { i.Down = true })
	f.browser().get("/").want(t, 503, "continues its work")
	for range 20 {
		f.browser().get("/").want(t, 503)
	}
	if n := f.issuer.Asked("/.well-known/openid-configuration"); n != 1 {
		t.Errorf("asked %d times", n)
	}
	f.issuer.Set(func(i *logintest.Issuer) { i.Down = false })
	f.clock.advance(6 * time.Second)
	b := f.browser()
	b.get("/").want(t, 200)
	f.issuer.Set(func(i *logintest.Issuer) { i.Down = true })
	f.clock.advance(2 * time.Hour) // what it said of itself is asked again, and the old counts
	b.get("/").want(t, 200)
	if a := f.browser().stay().get("/login"); a.status != 303 || !strings.HasPrefix(a.header.Get("Location"), f.issuer.URL+"/authorize?") {
		t.Errorf("%d %s", a.status, a.header)
	}
	f.Close()
	f.issuer.Close()
	if _, err := login.New(f.config); err != nil {
		t.Errorf("a provider that is down keeps the daemon from starting: %v", err)
	}
}

// TestProviderHangs: a provider that takes connections and says nothing keeps those waiting who
// log in there, and no one else.
func TestProviderHangs(t *testing.T) {
	silent, over := ok(net.Listen("tcp", "127.0.0.1:0")), make(chan answer, 1)
	f := newFixture(t, nil, func(f *fixture, c *login.Config) {
		f.addIssuer(c)
		c.OIDC.Issuer = "http://" + silent.Addr().String()
		c.Proxy = &login.Proxy{From: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, User: "X-Forwarded-User", Groups: "X-Forwarded-Groups"}
	})
	b := f.browser()
	go func() { over <- b.get("/") }()
	connection := ok(silent.Accept())
	f.browser().get("/", "X-Forwarded-User", "bob").want(t, 200, "viewer proxy:bob")
	f.browser().get("/api/v1/zones").want(t, 401)
	select {
	case a := <-over:
		t.Fatalf("answered %d", a.status)
	default:
	}
	connection.Close()
	silent.Close()
	(<-over).want(t, 503)
}

// TestWrongIssuer: a provider that calls itself something else is not believed.
func TestWrongIssuer(t *testing.T) {
	f := newFixture(t, nil, func(f *fixture, c *login.Config) {
		f.addIssuer(c)
		c.OIDC.Issuer += "/"
	})
	f.browser().get("/").want(t, 503)
	if !strings.Contains(f.logged(), "did not match") {
		t.Errorf("the log:\n%s", f.logged())
	}
}
