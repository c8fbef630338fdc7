package status

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

// A page in a browser that has its name lead here reads nothing.
func TestHostIsChecked(t *testing.T) {
	handler := Access{Hosts: []string{"seawall.example"}}.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "zones") }))
	for host, want := range map[string]int{
		"127.0.0.1:8710": 200, "[::1]:8710": 200, "10.1.2.3": 200, "localhost": 200, "LOCALHOST:8710": 200, "localhost.:1": 200,
		"seawall.example": 200, "Seawall.Example:443": 200, "": 200,
		"evil.example": 421, "evil.example:8710": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "seawall.example.evil": 421,
	} {
		r := httptest.NewRequest(http.MethodGet, "/status", nil)
		r.Host = host
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, r); w.Code != want || (want != 200) == (w.Body.String() == "zones") {
			t.Errorf("%q: %d %s", host, w.Code, w.Body)
		}
	}
}

func TestMetricsToken(t *testing.T) {
	token := func() (edge.Secret, error) { return edge.NewSecret("a-token-of-the-scraper"), nil }
	for _, c := range []struct {
		name, path, header string
		token              func() (edge.Secret, error)
		want               int
	}{
		{"none is needed", "/metrics", "", nil, 200},
		{"missing", "/metrics", "", token, 401},
		{"wrong", "/metrics", "Bearer a-token-of-the-scrapes", token, 401},
		{"of another kind", "/metrics", "Basic a-token-of-the-scraper", token, 401},
		{"right", "/metrics", "Bearer a-token-of-the-scraper", token, 200},
		{"of other pages", "/healthz", "", token, 200},
		{"unreadable", "/metrics", "Bearer ", func() (edge.Secret, error) { return edge.Secret{}, errors.New("no such file") }, 503},
		{"empty", "/metrics", "Bearer ", func() (edge.Secret, error) { return edge.Secret{}, nil }, 503},
	} {
		handler := Access{MetricsToken: c.token}.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {}))
		r := httptest.NewRequest(http.MethodGet, c.path, nil)
		r.Host = "127.0.0.1"
		if c.header != "" {
			r.Header.Set("Authorization", c.header)
		}
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%s: %d, want %d", c.name, w.Code, c.want)
		}
	}
}
