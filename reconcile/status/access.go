package status

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// Access says which requests are answered.
type Access struct {
	// Hosts are the names that a request may give for this host, beside addresses and
	// localhost. A page in a browser can have its own name lead to this machine, and
	// then read what is served here; it cannot choose what the Host header says.
	Hosts []string
	// MetricsToken is the bearer token without which /metrics is not served; nil needs none.
	// It is asked for each request.
	MetricsToken func() (edge.Secret, error)
}

// Guard serves what handler does to those requests.
func (a Access) Guard(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !a.named(r.Host) {
			http.Error(w, "this host does not serve the name in the request; web.hosts in the configuration lists more names", http.StatusMisdirectedRequest)
			return
		}
		if r.URL.Path == metricsPath && a.MetricsToken != nil {
			if status := a.mayScrape(r); status != 0 {
				w.Header().Set("WWW-Authenticate", `Bearer realm="metrics"`)
				http.Error(w, http.StatusText(status), status)
				return
			}
		}
		handler.ServeHTTP(w, r)
	})
}

const metricsPath = "/metrics"

// named reports whether a Host header names this host.
func (a Access) named(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	if _, err := netip.ParseAddr(host); err == nil || host == "" { // HTTP/1.0 has no Host
		return true
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	for _, name := range a.Hosts {
		if strings.EqualFold(host, name) {
			return true
		}
	}
	return false
}

// mayScrape returns the status that refuses a request for metrics; 0 for none.
func (a Access) mayScrape(r *http.Request) int {
	token, err := a.MetricsToken()
	if err != nil || token.IsZero() {
		return http.StatusServiceUnavailable
	}
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	want, got := sha256.Sum256([]byte(token.Reveal())), sha256.Sum256([]byte(given))
	if !ok || subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
		return http.StatusUnauthorized
	}
	return 0
}
