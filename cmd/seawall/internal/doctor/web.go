package doctor

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/reconcile/login"
)

// soonExpired is how long a certificate should be valid at least.
const soonExpired = 7 * 24 * time.Hour

// webTLS reads the certificate of listen as the daemon does.
func (d *diagnosis) webTLS(_ context.Context, f *findings) {
	const check = "web.tls"
	config, err := setup.ListenTLS(d.Web, slog.New(slog.DiscardHandler))
	if f.failed(check, err) {
		return
	}
	leaf, err := x509.ParseCertificate(config.Certificates[0].Certificate[0])
	if f.failed(check, err) {
		return
	}
	ends := leaf.NotAfter.UTC().Format(time.DateOnly)
	switch left := time.Until(leaf.NotAfter); {
	case left <= 0:
		f.fail(check, fmt.Errorf("the certificate has expired on %s", ends), "renew it; the daemon reads the new one by itself")
	case left < soonExpired:
		f.warn(check, "the certificate expires on "+ends, "renew it; the daemon reads the new one by itself")
	default:
		f.ok(check, "the certificate is valid until %s", ends)
	}
	if u, err := url.Parse(d.Web.URL); err == nil && u.Scheme == "https" {
		if err := leaf.VerifyHostname(u.Hostname()); err != nil {
			f.warn(check, fmt.Sprintf("the certificate is not for %s, the host of web.url", u.Hostname()), "this is right only if a proxy in front has the certificate that browsers see")
		}
	}
}

// login asks the provider, and reads what it will be shown.
func (d *diagnosis) login(ctx context.Context, f *findings) {
	const check = "web.login"
	l := d.Web.Login
	guard, err := setup.NewLogin(d.Settings, login.NewSessions(), slog.New(slog.DiscardHandler), nil)
	if f.failed(check, err) {
		return
	}
	if l.OIDC != nil {
		if _, err := setup.ReadSecret(l.OIDC.ClientSecret); !f.failed(check, err, "no one can log in until web.login.oidc.client_secret can be read") {
			d.provider(ctx, guard, f)
		}
	}
	if l.Proxy != nil {
		f.ok(check, "people are who the header %s says, in requests from %s", l.Proxy.User, cli.Plural(len(l.Proxy.From), "network", "networks"))
	}
	if l.Certificates != nil {
		f.ok(check, "people are who their certificates say, by the authorities in %s", l.Certificates.CA)
	}
}

func (d *diagnosis) provider(ctx context.Context, guard *login.Guard, f *findings) {
	const check = "web.login"
	if f.failed(check, guard.Ask(ctx), "check web.login.oidc.issuer: it must be what the provider's discovery document says, to the letter", "the daemon works without the provider; who is logged in stays so") {
		return
	}
	f.ok(check, "the provider %s answers; its client must have the redirect URI %s", d.Web.Login.OIDC.Issuer, d.Web.URL+login.CallbackPath)
}
