package login_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/reconcile/login"
)

// withProxy is a fixture that believes a proxy at an address.
func withProxy(t *testing.T, from string) *fixture {
	return newFixture(t, nil, func(_ *fixture, c *login.Config) {
		c.Proxy = &login.Proxy{From: []netip.Prefix{netip.MustParsePrefix(from)}, User: "X-Forwarded-User", Groups: "X-Forwarded-Groups"}
	})
}

// TestProxy: a real proxy that replaces the headers of clients by its own.
func TestProxy(t *testing.T) {
	f := withProxy(t, "127.0.0.1/32")
	proxy := httptestProxy(t, f.URL, func(r *httputil.ProxyRequest) {
		r.Out.Header.Set("X-Forwarded-User", "ada")
		r.Out.Header.Set("X-Forwarded-Groups", "staff, ops,,staff")
	})
	b := f.browser()
	b.base = proxy
	b.get("/", "X-Forwarded-User", "root", "X_forwarded_User", "root").want(t, 400, "or some that servers read as it") // the proxy does not take this one off
	a := b.get("/", "x-forwarded-user", "root")
	a.want(t, 200, "operator proxy:ada")
	if strings.Contains(a.body, "and the header") {
		t.Error("the pages see the header of the login")
	}
	b.base = f.URL
	b.get("/").want(t, 401, "open the pages through the proxy", "X-Forwarded-User")
	if begin, end := f.guard.Load().Addresses(); begin != "" || end != "" {
		t.Errorf("a proxy has the logins %q, %q", begin, end)
	}
}

func httptestProxy(t *testing.T, to string, rewrite func(*httputil.ProxyRequest)) string {
	target := ok(url.Parse(to))
	listener := ok(net.Listen("tcp", "127.0.0.1:0"))
	server := &http.Server{Handler: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		rewrite(r)
	}}}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return "http://" + listener.Addr().String()
}

// TestForgedHeaders: what comes from elsewhere names no one, however it is written, and says
// nothing of where it is from.
func TestForgedHeaders(t *testing.T) {
	f := withProxy(t, "10.1.2.0/24")
	for _, name := range []string{"X-Forwarded-User", "x-forwarded-user", "X_Forwarded_User", "X-FORWARDED_USER"} {
		for _, from := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "True-Client-Ip"} {
			a := f.browser().get("/", name, "ada", from, "10.1.2.3", "X-Forwarded-Groups", "ops")
			a.want(t, 401)
			f.browser().get("/assets/x", name, "ada").want(t, 200, "unknown")
			if a := f.browser().get("/assets/x", name, "ada"); strings.Contains(a.body, "and the header") {
				t.Errorf("%s goes on to the pages", name)
			}
		}
	}
}

// TestSmuggledHeaders: headers of the proxy that can be read in two ways are refused as they
// come over the wire.
func TestSmuggledHeaders(t *testing.T) {
	f := withProxy(t, "127.0.0.0/8")
	for name, test := range map[string]struct {
		lines  string
		status int
		want   string
	}{
		"one":                 {"X-Forwarded-User: ada", 200, "viewer proxy:ada"},
		"in lower case":       {"x-forwarded-user: ada\r\nx-forwarded-groups: ops", 200, "operator proxy:ada"},
		"none":                {"X-Forwarded-Groups: ops", 401, "needs a login"},
		"empty":               {"X-Forwarded-User: \r\nX-Forwarded-Groups: ops", 401, "needs a login"},
		"two":                 {"X-Forwarded-User: ada\r\nX-Forwarded-User: root", 400, "2 headers X-Forwarded-User"},
		"two equal":           {"X-Forwarded-User: ada\r\nX-Forwarded-User: ada", 400, "2 headers"},
		"two of another case": {"X-Forwarded-User: ada\r\nX-FORWARDED-USER: root", 400, "2 headers"},
		"an underscore":       {"X-Forwarded-User: ada\r\nX_Forwarded_User: root", 400, "2 headers"},
		"joined":              {"X-Forwarded-User: ada,root", 400, "has a comma"},
		"joined with a blank": {"X-Forwarded-User: ada, root", 400, "has a comma"},
		"two of groups":       {"X-Forwarded-User: ada\r\nX-Forwarded-Groups: staff\r\nX-Forwarded-Groups: ops", 400, "2 headers X-Forwarded-Groups"},
		"groups, underscore":  {"X-Forwarded-User: ada\r\nX-Forwarded_Groups: ops\r\nX-Forwarded-Groups: staff", 400, "2 headers"},
		"everyone":            {"X-Forwarded-User: *", 400, "means everyone"},
		"a group of everyone": {"X-Forwarded-User: ada\r\nX-Forwarded-Groups: *", 400, "means everyone"},
		"not UTF-8":           {"X-Forwarded-User: \xff\xfe", 400, "cannot be printed"},
		"too long":            {"X-Forwarded-User: " + strings.Repeat("a", 300), 400, "longer than"},
	} {
		connection := ok(net.Dial("tcp", f.Listener.Addr().String()))
		fmt.Fprintf(connection, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n\r\n", test.lines)
		response := ok(http.ReadResponse(bufio.NewReader(connection), nil))
		body := ok(io.ReadAll(response.Body))
		connection.Close()
		if response.StatusCode != test.status || !strings.Contains(string(body), test.want) {
			t.Errorf("%s: %d %s", name, response.StatusCode, body)
		}
	}
	if n := f.count(login.BadHeader); n != 12 || !strings.Contains(f.logged(), "outcome=bad_header") {
		t.Errorf("%d are counted:\n%s", n, f.logged())
	}
	if n := strings.Count(f.logged(), "outcome=bad_header"); n != 10 {
		t.Errorf("%d lines for 12 refusals", n)
	}
}

// TestProxyAddresses: which addresses of a connection are those of the proxy.
func TestProxyAddresses(t *testing.T) {
	f := withProxy(t, "10.1.2.0/24")
	f.reload(func(c *login.Config) { c.Proxy.From = append(c.Proxy.From, netip.MustParsePrefix("fd00::/64")) })
	for remote, want := range map[string]int{
		"10.1.2.3:1": 200, "[::ffff:10.1.2.3]:1": 200, "[fd00::1]:1": 200, "[fd00::1%eth0]:1": 200,
		"10.1.3.3:1": 401, "[::ffff:10.1.3.3]:1": 401, "[fd00:0:0:1::1]:1": 401, "10.1.2.3": 401, "": 401, "@": 401, "10.1.2.3, 10.1.2.4:1": 401, "010.1.2.3:1": 401,
	} {
		r := ok(http.NewRequest(http.MethodGet, "/", nil))
		r.RemoteAddr = remote
		r.Header.Set("X-Forwarded-User", "ada")
		if status := f.ask(r); status != want {
			t.Errorf("%q: %d, want %d", remote, status, want)
		}
	}
}
