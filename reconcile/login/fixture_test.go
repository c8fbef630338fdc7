package login_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/login/logintest"
)

// clock is a time that a test moves.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

// fixture is pages behind a guard, at a real address.
type fixture struct {
	*httptest.Server
	t        *testing.T
	clock    *clock
	issuer   *logintest.Issuer // nil without
	config   login.Config
	guard    atomic.Pointer[login.Guard]
	sessions *login.Sessions
	held     chan struct{} // closed when a request to /held ends

	mu       sync.Mutex
	log      bytes.Buffer
	outcomes map[login.Outcome]int
}

func (f *fixture) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log.Write(p)
}

func (f *fixture) logged() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log.String()
}

func (f *fixture) count(o login.Outcome) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.outcomes[o]
}

// everyone are the roles of most tests: all may read, and ops may act.
func everyone() []login.Rule {
	return []login.Rule{
		{Grant: login.Grant{Role: login.Viewer}, Users: []string{login.Everyone}},
		{Grant: login.Grant{Role: login.Operator}, Groups: []string{"ops"}},
	}
}

// newFixture serves pages that say who asks for them. change makes the configuration, which
// has roles and no way to log in.
func newFixture(t *testing.T, secure *tls.Config, change func(*fixture, *login.Config)) *fixture {
	f := &fixture{t: t, clock: &clock{}, sessions: login.NewSessions(), outcomes: map[login.Outcome]int{}, held: make(chan struct{})}
	f.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.guard.Load().Wrap(http.HandlerFunc(f.page)).ServeHTTP(w, r)
	}))
	scheme := "http://"
	if secure != nil {
		scheme = "https://"
	}
	f.config = login.Config{
		URL: scheme + f.Listener.Addr().String(), Roles: everyone(), Sessions: f.sessions, Now: f.clock.now, Log: slog.New(slog.NewTextHandler(f, nil)),
		Count: func(o login.Outcome) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.outcomes[o]++
		},
	}
	change(f, &f.config)
	f.reload(func(*login.Config) {})
	if secure != nil {
		f.TLS = secure
		f.StartTLS()
	} else {
		f.Start()
	}
	t.Cleanup(f.Close)
	return f
}

// withIssuer is a fixture with a login by OIDC.
func withIssuer(t *testing.T) *fixture {
	return newFixture(t, nil, func(f *fixture, c *login.Config) { f.addIssuer(c) })
}

func (f *fixture) addIssuer(c *login.Config) {
	f.issuer = logintest.New(f.t, f.clock.now)
	c.OIDC = &login.OIDC{
		Issuer: f.issuer.URL, ClientID: logintest.ClientID, User: "email", Groups: "groups", Scopes: []string{"profile", "email"},
		ClientSecret: func() (edge.Secret, error) { return edge.NewSecret(logintest.Secret), nil },
	}
}

// reload replaces the guard by one of another configuration, as SIGHUP does.
func (f *fixture) reload(change func(*login.Config)) {
	f.t.Helper()
	change(&f.config)
	g, err := login.New(f.config)
	must.Do(f.t, err)
	f.guard.Store(g)
}

// page says who asks, and what they may do.
func (f *fixture) page(w http.ResponseWriter, r *http.Request) {
	p, known := login.From(r.Context())
	if r.URL.Path == "/held" {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(f.held)
		return
	}
	who := "unknown"
	switch {
	case known && p.MayAll(login.Operator):
		who = "operator " + p.Name
	case known:
		who = "viewer " + p.Name
	}
	for _, name := range []string{"X-Forwarded-User", "X_Forwarded_User"} {
		if value := r.Header.Values(name); len(value) > 0 {
			who += " and the header"
		}
	}
	io.WriteString(w, who)
}

// browser is a client with cookies that follows redirects.
type browser struct {
	*http.Client
	f    *fixture
	base string
}

func (f *fixture) browser() *browser {
	jar, err := cookiejar.New(nil)
	must.Do(f.t, err)
	client := *f.Client()
	client.Jar = jar
	return &browser{&client, f, f.URL}
}

// answer is what a browser shows.
type answer struct {
	status int
	body   string
	header http.Header
	at     *url.URL // where redirects have led
}

func (b *browser) send(method, path string, header ...string) answer {
	b.f.t.Helper()
	r, err := http.NewRequest(method, b.base+path, nil)
	must.Do(b.f.t, err)
	r.Header.Set("Accept", "text/html,application/xhtml+xml")
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Accept" {
			r.Header.Del("Accept")
		}
		r.Header[header[i]] = append(r.Header[header[i]], header[i+1])
	}
	response, err := b.Do(r)
	must.Do(b.f.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must.Do(b.f.t, err)
	return answer{response.StatusCode, string(body), response.Header, response.Request.URL}
}

func (b *browser) get(path string, header ...string) answer {
	b.f.t.Helper()
	return b.send(http.MethodGet, path, header...)
}

// stay has a browser follow no redirect.
func (b *browser) stay() *browser {
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return b
}

// want holds an answer to a status, and to pieces of its text.
func (a answer) want(t *testing.T, status int, pieces ...string) {
	t.Helper()
	for _, piece := range pieces {
		if !strings.Contains(a.body, piece) {
			t.Errorf("the answer does not say %q", piece)
		}
	}
	if a.status != status || t.Failed() {
		t.Fatalf("got %d at %s:\n%s", a.status, a.at, a.body)
	}
}

// cookie is one that a browser has.
func (b *browser) cookie(name string) string {
	u, err := url.Parse(b.base)
	must.Do(b.f.t, err)
	for _, c := range b.Jar.Cookies(u) {
		if strings.Contains(c.Name, name) {
			return c.Value
		}
	}
	return ""
}

// put gives a browser a cookie.
func (b *browser) put(name, value string) {
	u, err := url.Parse(b.base)
	must.Do(b.f.t, err)
	b.Jar.SetCookies(u, []*http.Cookie{{Name: name, Value: value, Path: "/", Secure: u.Scheme == "https"}})
}

// ask is the status of a request that comes over no connection.
func (f *fixture) ask(r *http.Request) int {
	answer := httptest.NewRecorder()
	f.guard.Load().Wrap(http.HandlerFunc(f.page)).ServeHTTP(answer, r)
	return answer.Code
}

// ok is a value without its error, of what cannot fail in a test.
func ok[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
