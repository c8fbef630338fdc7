package daemon

import (
	"crypto/tls"
	"net"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/reconcile/login"
)

// newLogin makes what finds out who sends a request to listen, and how listen speaks TLS.
func (d *Daemon) newLogin() (err error) {
	if d.tls, err = setup.ListenTLS(d.settings.Web, d.log); err != nil {
		return err
	}
	d.login, err = setup.NewLogin(d.settings, d.sessions, d.log, func(o login.Outcome) { d.health.Login(string(o)) })
	return err
}

// withTLS is a listener that speaks TLS, if there is a configuration of it.
func withTLS(listener net.Listener, config *tls.Config) net.Listener {
	if config == nil {
		return listener
	}
	return tls.NewListener(listener, config)
}
