package sim_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
)

// raw is one connection on which a test writes bytes.
type raw struct {
	t      *testing.T
	conn   net.Conn
	reader *bufio.Reader
}

func dial(t *testing.T, r *sim.Running) *raw {
	t.Helper()
	address, _, _ := strings.Cut(strings.TrimPrefix(r.BaseURL, "http://"), "/")
	conn, err := net.Dial("tcp", address)
	must.Do(t, err)
	t.Cleanup(func() { conn.Close() })
	return &raw{t, conn, bufio.NewReader(conn)}
}

func (c *raw) write(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.conn, text); err != nil {
		c.t.Fatal(err)
	}
}

// answer reads the next answer on the connection.
func (c *raw) answer() (int, string) {
	c.t.Helper()
	resp, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		c.t.Fatalf("reading an answer: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatalf("reading a body: %v", err)
	}
	return resp.StatusCode, string(body)
}

func (c *raw) wantStatus(what string, want int) {
	c.t.Helper()
	if status, body := c.answer(); status != want {
		c.t.Errorf("%s: %d %s, want %d", what, status, body, want)
	}
}

// requests for the raw connection: heads with the lengths they are given.
type requests struct{ base, rule, auth string }

func newRequests(t *testing.T, r *sim.Running) requests {
	return requests{base: "/client/v4", rule: rulePath(t, r, mem.ShopZone), auth: r.RulesetsToken.Reveal()}
}

func (q requests) patch(proto string, headers ...string) string {
	return fmt.Sprintf("PATCH %s%s %s\r\nHost: sim\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s\r\n\r\n",
		q.base, q.rule, proto, q.auth, strings.Join(headers, "\r\n"))
}

func (q requests) get() string {
	return fmt.Sprintf("GET %s%s HTTP/1.1\r\nHost: sim\r\nAuthorization: Bearer %s\r\n\r\n", q.base, shopPath, q.auth)
}

func (q requests) sized(body string) string {
	return q.patch("HTTP/1.1", fmt.Sprint("Content-Length: ", len(body))) + body
}

func (q requests) chunked(chunks string) string {
	return q.patch("HTTP/1.1", "Transfer-Encoding: chunked") + chunks
}

// chunks cuts a body into chunks of n bytes, the first with an extension, and
// ends it with a trailer.
func chunks(body string, n int) string {
	var b strings.Builder
	for i := 0; i < len(body); i += n {
		chunk := body[i:min(i+n, len(body))]
		extension := ""
		if i == 0 {
			extension = ";name=value"
		}
		fmt.Fprintf(&b, "%x%s\r\n%s\r\n", len(chunk), extension, chunk)
	}
	return b.String() + "0\r\nX-Trailer: Content-Length: 3\r\n\r\n"
}

// lookAlike is a body with text like a request that has both. It is no JSON, so
// the platform refuses it, for that reason and no other.
const lookAlike = "\r\n\r\nPATCH /x HTTP/1.1\r\nHost: sim\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"

const declined = `{"result":null,"success":false,"errors":[{"code":10014,"message":"a request must not have both Transfer-Encoding and Content-Length"}],"messages":[]}`

func TestBothLengthsAreDeclined(t *testing.T) {
	r := start(t, sim.Config{})
	q := newRequests(t, r)
	for name, request := range map[string]string{
		"length first":  q.patch("HTTP/1.1", "Content-Length: 5", "Transfer-Encoding: chunked") + "0\r\n\r\n",
		"length last":   q.patch("HTTP/1.1", "Transfer-Encoding: chunked", "X: y", "Content-Length: 5") + "0\r\n\r\n",
		"other case":    q.patch("HTTP/1.1", "transfer-encoding:chunked", "CONTENT-LENGTH:5") + "0\r\n\r\n",
		"bare newlines": strings.ReplaceAll(q.patch("HTTP/1.1", "Transfer-Encoding: chunked", "Content-Length: 5"), "\r\n", "\n") + "0\r\n\r\n",
		"with a body":   q.patch("HTTP/1.1", "Transfer-Encoding: chunked", fmt.Sprint("Content-Length: ", len(anUpdate))) + chunks(anUpdate, 10),
		"HTTP/1.0":      q.patch("HTTP/1.0", "Transfer-Encoding: chunked", fmt.Sprint("Content-Length: ", len(anUpdate))) + anUpdate,
		"length twice":  q.patch("HTTP/1.1", "Content-Length: 5", "Transfer-Encoding: chunked", "Content-Length: 5") + "0\r\n\r\n",
		"on a read":     strings.TrimSuffix(q.get(), "\r\n") + "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n",
		"bytewise zero": q.patch("HTTP/1.1", "Content-Length: 0", "Transfer-Encoding: chunked") + "0\r\n\r\n",
	} {
		c := dial(t, r)
		c.write(request)
		if status, body := c.answer(); status != 400 || body != declined {
			t.Errorf("%s: %d %s", name, status, body)
		}
		if _, err := c.reader.ReadByte(); err != io.EOF {
			t.Errorf("%s: the connection is not closed: %v", name, err)
		}
	}
	if version := shopVersion(t, r); version != "1" {
		t.Errorf("version %s: a declined request took effect", version)
	}
	for _, e := range r.Transcript() {
		if e.Headers.Get("Content-Length") == "" || e.Headers.Get("Transfer-Encoding") == "" || len(e.Headers.Values("Sim-Ignored-Content-Length")) > 0 {
			t.Errorf("request %d: recorded headers %v", e.N, e.Headers)
		}
	}
}

// What is not to be declined works, one request after the other on one
// connection, and a request to be declined is found at the end of them.
func TestOneLengthIsFine(t *testing.T) {
	r := start(t, sim.Config{})
	q := newRequests(t, r)
	sequence := []struct {
		name, request string
		status        int
	}{
		{"chunked", q.chunked(chunks(anUpdate, 7)), 200},
		{"sized", q.sized(anUpdate), 200},
		{"read", q.get(), 200},
		{"sized look-alike", q.sized(lookAlike), 400},
		{"chunked look-alike", q.chunked(chunks(lookAlike, 1000)), 400},
		{"look-alike in small chunks", q.chunked(chunks(lookAlike, 3)), 400},
		{"no body at all", q.chunked("0\r\n\r\n"), 400},
		{"read with a length", strings.TrimSuffix(q.get(), "\r\n") + "Content-Length: 0\r\n\r\n", 200},
		{"other case", q.patch("HTTP/1.1", "transfer-encoding: Chunked") + chunks(anUpdate, 50), 200},
		{"read at the end", q.get(), 200},
	}
	both := q.patch("HTTP/1.1", "Transfer-Encoding: chunked", "Content-Length: 5") + "0\r\n\r\n"
	var all strings.Builder
	for _, step := range sequence {
		all.WriteString(step.request)
	}
	for name, write := range map[string]func(*raw, int){
		"in turns": func(c *raw, i int) { c.write(sequence[i].request) },
		"pipelined": func(c *raw, i int) {
			if i == 0 {
				c.write(all.String())
			}
		},
		"byte by byte": func(c *raw, i int) {
			for _, b := range []byte(sequence[i].request) {
				c.write(string(b))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, r)
			for i, step := range sequence {
				write(c, i)
				if status, body := c.answer(); status != step.status || body == declined {
					t.Errorf("%s: %d %s, want %d", step.name, status, body, step.status)
				}
			}
			c.write(both)
			c.wantStatus("both", 400)
		})
	}
	quoted, err := json.Marshal(lookAlike)
	must.Do(t, err)
	for _, e := range r.Transcript() {
		if i := (e.N - 1) % (len(sequence) + 1); i >= 3 && i <= 5 && string(e.Body) != string(quoted) {
			t.Errorf("%s: the body arrived as %s", sequence[i].name, e.Body)
		}
	}
}

// After a POST net/http overlooks stray line ends, as old clients sent them.
func TestStrayLineEnds(t *testing.T) {
	r := start(t, sim.Config{})
	q := newRequests(t, r)
	c := dial(t, r)
	c.write("POST /client/v4/user HTTP/1.1\r\nHost: sim\r\nContent-Length: 2\r\n\r\nab\r\n" + q.get())
	c.wantStatus("the post", 400)
	c.wantStatus("the read after it", 200)
}

// The day before, a request with both is answered as net/http and HTTP itself
// have it: by its chunks, or as HTTP/1.0 by its length.
func TestBothLengthsWereAcceptedBefore(t *testing.T) {
	const day = deprecation.Date("2023-07-01")
	r := travelling(t, day)
	q := newRequests(t, r)
	length := fmt.Sprint("Content-Length: ", len(anUpdate))
	for name, request := range map[string]string{
		"chunks":    q.patch("HTTP/1.1", length, "Transfer-Encoding: chunked") + chunks(anUpdate, 10),
		"length":    q.patch("HTTP/1.0", "Transfer-Encoding: chunked", length) + anUpdate,
		"on a read": strings.TrimSuffix(q.get(), "\r\n") + "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n",
	} {
		r.SetClock(eve(day))
		conn := dial(t, r)
		conn.write(request)
		conn.wantStatus(name+" the day before", 200)
		r.SetClock(day.Time())
		conn = dial(t, r)
		conn.write(request)
		if status, body := conn.answer(); status != 400 || body != declined {
			t.Errorf("%s on the day: %d %s", name, status, body)
		}
	}
	for _, e := range r.Transcript() {
		if e.Headers.Get("Transfer-Encoding") == "" || e.Headers.Get("Content-Length") == "" {
			t.Errorf("request %d is not in the transcript as it was sent: %v", e.N, e.Headers)
		}
	}
}
