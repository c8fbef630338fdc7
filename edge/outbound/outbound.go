// Package outbound is what clients hold to that send a credential or a secret: whom they
// believe, and that nobody on the way reads it.
package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Address reads the address of a server, https, or http to this machine. No error repeats a
// password in it.
func Address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "":
		return nil, errors.New("the address is not a URL") // the error of url.Parse repeats it
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the address must have neither user, query nor fragment")
	case u.Scheme != "https" && (u.Scheme != "http" || !Loopback(u.Hostname())):
		return nil, fmt.Errorf("the address %s must be https, or http to this machine", u)
	}
	return u, nil
}

// Loopback reports whether a host, by name or address, is this machine.
func Loopback(host string) bool {
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// ErrNoCertificate: what should hold authorities holds none.
var ErrNoCertificate = errors.New("holds no certificate")

// Transport returns a transport that believes the authorities in pem, or those of the system
// where it is nil.
func Transport(pem []byte) (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if pem != nil {
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, ErrNoCertificate
		}
	}
	return t, nil
}

// Stay is a [http.Client.CheckRedirect] that follows no redirect: the credential would go along.
func Stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
