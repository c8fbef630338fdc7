package client

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

var testZone = edge.ZoneScope("00000000000000000000000000000a01")

// The tests of this package speak real HTTP between net/http's client and
// server, over pipes in memory. Inside of a synctest bubble time is then the
// tests' own: a pause of five minutes takes none, and takes exactly that long.

const (
	testAccount edge.AccountID = "0123456789abcdef0123456789abcdef"
	testEntry   edge.RulesetID = "00000000000000000000000000000e01"
	testRule    edge.RuleID    = "00000000000000000000000000000f01"

	testToken = "v1.0-secret-of-the-test-0123456789"

	// testSecret is what a server answers a creation with.
	testSecret = "sim-token-of-the-test-0123456789"
)

// network is a listener and the way to dial it.
type network struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once

	mu     sync.Mutex
	refuse bool // nobody listens
	dials  int
}

func newNetwork() *network {
	return &network{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.done:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error   { n.once.Do(func() { close(n.done) }); return nil }
func (n *network) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8700} }

func (n *network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	n.dials++
	refuse := n.refuse
	n.mu.Unlock()
	if refuse {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("connect: %w", syscall.ECONNREFUSED)}
	}
	here, there := net.Pipe()
	select {
	case n.conns <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// server is an HTTP server on a network of its own, and what came to it.
type server struct {
	*network

	mu   sync.Mutex
	seen []arrival
}

type arrival struct {
	at     time.Time
	method string
	uri    string
	header http.Header
	body   string
	length int64
}

// serve starts a server. It ends with the test.
func serve(t *testing.T, handler http.HandlerFunc) *server {
	s := &server{network: newNetwork()}
	h := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.seen = append(s.seen, arrival{time.Now(), r.Method, r.RequestURI, r.Header, string(body), r.ContentLength})
		s.mu.Unlock()
		handler(w, r)
	})}
	go h.Serve(s)
	t.Cleanup(func() { h.Close() })
	return s
}

func (s *server) arrivals() []arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]arrival(nil), s.seen...)
}

// client returns a client of the server.
func (n *network) client(t testing.TB, change func(*Config)) *Client {
	transport := newTransport(16)
	transport.DialContext = n.dial
	t.Cleanup(transport.CloseIdleConnections)
	config := Config{
		BaseURL: "http://127.0.0.1:8700/client/v4/", Transport: transport,
		Token: func() (edge.Secret, error) { return edge.NewSecret(testToken), nil },
	}
	if change != nil {
		change(&config)
	}
	c, err := New(config)
	must.Do(t, err)
	return c
}

// get, patch, del, post and rollToken are the classes of requests.
func get(c *Client) error {
	_, err := c.EntryPoint(context.Background(), testZone, edge.PhaseFirewallManaged)
	return err
}

func patch(c *Client) error {
	_, err := c.Send(context.Background(), edge.UpdateRule(testZone, testEntry, testRule, edge.Rule{Expression: "true"}))
	return err
}

func post(c *Client) error {
	_, err := c.CreateToken(context.Background(), testSpec())
	return err
}

func put(c *Client) error {
	_, err := c.UpdateToken(context.Background(), edge.TokenID(testEntry), edge.Token{TokenSpec: testSpec()})
	return err
}

func del(c *Client) error { return c.DeleteToken(context.Background(), edge.TokenID(testEntry)) }

func rollToken(c *Client) error {
	_, err := c.RollToken(context.Background(), edge.TokenID(testEntry))
	return err
}

// answerAll is what every call takes for a success.
func answerAll(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/value") {
		answer(200, ok(`"`+testSecret+`"`))(w, r)
		return
	}
	if r.URL.Query().Get("dry_run") != "" {
		answer(200, ok("null"))(w, r)
		return
	}
	answer(200, tokenJSON)(w, r)
}

// answer is a handler that always answers the same.
func answer(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// hangUp closes the connection without an answer.
func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func ok(result string) string {
	return `{"result":` + result + `,"success":true,"errors":[],"messages":[]}`
}

func failure(code int, message string) string {
	return fmt.Sprintf(`{"result":null,"success":false,"errors":[{"code":%d,"message":%q}],"messages":null}`, code, message)
}

// tokenJSON is an answer to everything, a creation too.
var tokenJSON = ok(`{"id":"` + string(testEntry) + `","value":"` + testSecret + `","name":"ci","policies":[],"version":"7"}`)

func testSpec() edge.TokenSpec {
	return edge.TokenSpec{Name: "ci", Policies: []edge.Policy{{
		Effect: edge.Allow, Resources: map[string]edge.Breadth{edge.ResourceAccount + string(testAccount): {AllZones: true}},
		PermissionGroups: []edge.PermissionGroup{{ID: "g"}},
	}}}
}

var entryJSON = ok(`{"id":"` + string(testEntry) + `","kind":"zone","version":"7","rules":[]}`)

// inTurn answers with one handler after the other; the last one stays.
func inTurn(handlers ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		h := handlers[0]
		if len(handlers) > 1 {
			handlers = handlers[1:]
		}
		mu.Unlock()
		h(w, r)
	}
}

func wantText(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not say %q", err, part)
		}
	}
}
