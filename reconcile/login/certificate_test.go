package login_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/reconcile/login"
)

// authority issues certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority() authority {
	key := ok(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	return authority{ok(x509.ParseCertificate(ok(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)))), key}
}

func (a authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// issue issues a certificate for a client; change says what is in it.
func (a authority) issue(change func(*x509.Certificate)) tls.Certificate {
	key := ok(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	change(template)
	return tls.Certificate{Certificate: [][]byte{ok(x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key))}, PrivateKey: key}
}

// withCertificates is a fixture that asks for client certificates of an authority.
func withCertificates(t *testing.T, of authority) *fixture {
	return newFixture(t, &tls.Config{ClientCAs: of.pool(), ClientAuth: tls.VerifyClientCertIfGiven}, func(_ *fixture, c *login.Config) { c.Certificates = true })
}

// show has a browser show a certificate.
func (b *browser) show(c tls.Certificate) *browser {
	transport := b.Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.Certificates = []tls.Certificate{c}
	b.Transport = transport
	b.f.t.Cleanup(transport.CloseIdleConnections)
	return b
}

func named(common string, groups ...string) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.Subject = pkix.Name{CommonName: common, OrganizationalUnit: groups} }
}

func TestCertificates(t *testing.T) {
	of := newAuthority()
	f := withCertificates(t, of)
	for name, test := range map[string]struct {
		change func(*x509.Certificate)
		status int
		want   string
	}{
		"common name": {named("ada"), 200, "viewer certificate:ada"},
		"a unit":      {named("ada", "staff", "ops"), 200, "operator certificate:ada"},
		"a company":   {func(c *x509.Certificate) { c.Subject = pkix.Name{CommonName: "ada", Organization: []string{"ops"}} }, 200, "operator certificate:ada"},
		"mail": {func(c *x509.Certificate) {
			named("ada")(c)
			c.EmailAddresses, c.DNSNames = []string{"ada@example.com", "root@example.com"}, []string{"x.example"}
		}, 200, "viewer certificate:ada@example.com"},
		"URI": {func(c *x509.Certificate) {
			c.URIs, c.DNSNames = []*url.URL{ok(url.Parse("spiffe://example.com/ci"))}, []string{"x.example"}
		}, 200, "viewer certificate:spiffe://example.com/ci"},
		"host":         {func(c *x509.Certificate) { c.DNSNames = []string{"ci.example"} }, 200, "viewer certificate:ci.example"},
		"no name":      {named(""), 401, "needs a login"},
		"everyone":     {named("*"), 401, "needs a login"},
		"not printed":  {named("ada\x00root"), 401, "needs a login"},
		"empty groups": {named("ada", ""), 401, "needs a login"},
	} {
		t.Run(name, func(t *testing.T) {
			f.browser().show(of.issue(test.change)).get("/").want(t, test.status, test.want)
		})
	}
	f.browser().get("/").want(t, 401, "client certificate")
	f.browser().get("/", "X-Forwarded-User", "ada").want(t, 401)
}

// TestForgedCertificates: TLS lets no one in whose certificate another has issued, or is of
// another time or for another use.
func TestForgedCertificates(t *testing.T) {
	of := newAuthority()
	f := withCertificates(t, of)
	for name, c := range map[string]tls.Certificate{
		"another authority": newAuthority().issue(named("ada")),
		"expired":           of.issue(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }),
		"not yet":           of.issue(func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }),
		"of a server":       of.issue(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }),
	} {
		response, err := f.browser().show(c).Get(f.URL)
		if err == nil {
			response.Body.Close()
			t.Errorf("%s: %s", name, response.Status)
		} else if !strings.Contains(err.Error(), "remote error: tls") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCertificateEnds: a connection that stays open ends being the person's.
func TestCertificateEnds(t *testing.T) {
	of := newAuthority()
	f := withCertificates(t, of)
	b := f.browser().show(of.issue(named("ada")))
	b.get("/").want(t, 200)
	f.clock.advance(2 * time.Hour)
	b.get("/").want(t, 401)
	if f.count(login.BadCertificate) != 1 {
		t.Errorf("%s", f.logged())
	}
}

// TestNotVerified: a server that does not verify certificates lets no one in by them.
func TestNotVerified(t *testing.T) {
	f := newFixture(t, &tls.Config{ClientAuth: tls.RequestClientCert}, func(_ *fixture, c *login.Config) { c.Certificates = true })
	f.browser().show(newAuthority().issue(named("ada"))).get("/").want(t, 401)
}

// TestCertificateOfProxy: the certificate of a proxy is no person's.
func TestCertificateOfProxy(t *testing.T) {
	of := newAuthority()
	f := withCertificates(t, of)
	f.reload(func(c *login.Config) {
		c.Proxy = &login.Proxy{From: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, User: "X-Forwarded-User", Groups: "X-Forwarded-Groups"}
	})
	b := f.browser().show(of.issue(named("the proxy", "ops")))
	b.get("/").want(t, 401)
	b.get("/", "X-Forwarded-User", "ada").want(t, 200, "viewer proxy:ada")
}
