package daemon

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/login/logintest"
)

// pageReader is a browser at a daemon.
type pageReader struct {
	*http.Client
	s *harness.Service
}

func newPageReader(s *harness.Service) pageReader {
	jar, err := cookiejar.New(nil)
	must.Do(s.T, err)
	return pageReader{&http.Client{Jar: jar, Timeout: harness.Patience}, s}
}

// open opens a page, at the end of all redirects; a status of zero is no answer.
func (b pageReader) open(path string, header ...string) (status int, body string) {
	b.s.T.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://"+b.s.Address()+path, nil)
	must.Do(b.s.T, err)
	r.Header.Set("Accept", "text/html")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := b.Do(r)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must.Do(b.s.T, err)
	return response.StatusCode, string(text)
}

// want opens a page until it has a status, as it does some time after a reload.
func (b pageReader) want(path string, status int, piece string) {
	b.s.T.Helper()
	b.s.Poll(fmt.Sprintf("%s is %d, with %q", path, status, piece), func() bool {
		got, body := b.open(path)
		return got == status && strings.Contains(body, piece)
	})
}

// TestLogin: people log in at a provider to see the pages of a daemon. Their session outlives
// a reload, and what they may do does not; the provider may be down then.
func TestLogin(t *testing.T) {
	t.Parallel()
	s := harness.NewService(t, harness.StartPlatform(t, harness.Fleet(2)), harness.ServiceConfig{})
	s.Repo.Commit("edge.cue", harness.Declare(2, 25))
	issuer := logintest.New(t, time.Now)
	listener, err := net.Listen("tcp", "127.0.0.1:0") // the redirect needs the address before
	must.Do(t, err)
	address := listener.Addr().String()
	must.Do(t, listener.Close())
	s.Write("client-secret", logintest.Secret+"\n")
	configure := func(roles string) {
		s.Configure(strings.Replace(s.Config.Text(s), `"127.0.0.1:0"`, strconv.Quote(address), 1) + fmt.Sprintf(`web: {
	url: "http://%s"
	login: {
		oidc: {issuer: %q, client_id: %q, client_secret: file: %q}
		proxy: from: ["192.0.2.1/32"]
	}
	roles: {%s}
}
`, address, issuer.URL, logintest.ClientID, filepath.Join(s.Dir, "client-secret"), roles))
	}
	const viewers, no = `everyone: {role: "viewer", users: ["*"]}`, `others: {role: "viewer", users: ["bob@example.com"]}`
	configure(viewers)
	s.Start()
	s.WantAddress()
	s.PollReady()

	stranger := newPageReader(s)
	if status, body := stranger.open("/api/v1/zones", "X-Forwarded-User", "ada"); status != http.StatusUnauthorized {
		t.Errorf("someone unknown gets %d %s", status, body)
	}
	ada := newPageReader(s)
	ada.want("/zones", http.StatusOK, "zone-00001.example")
	if n := s.Metric("seawall_logins_total", "outcome", "logged_in"); n != 1 {
		t.Errorf("%v logins are counted", n)
	}
	issuer.Set(func(i *logintest.Issuer) { i.Down = true })
	configure(no)
	s.Signal(syscall.SIGHUP)
	ada.want("/zones", http.StatusForbidden, "You are oidc:ada@example.com, and have no role in Seawall")
	configure(viewers)
	s.Signal(syscall.SIGHUP)
	ada.want("/zones", http.StatusOK, "zone-00001.example")
	if status, body := newPageReader(s).open("/zones"); status != http.StatusServiceUnavailable {
		t.Errorf("with a provider that is down: %d %s", status, body)
	}
	if n := issuer.Asked("/token"); n != 1 {
		t.Errorf("%d logins", n)
	}
	if output := s.Output(); strings.Contains(output, logintest.Secret) || strings.Count(output, `"a user has logged in"`) != 1 {
		t.Errorf("the output:\n%s", output)
	}
	s.Signal(syscall.SIGTERM)
	s.WantEnd(0)
}
