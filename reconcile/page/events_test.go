package page

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/status"
)

// changing counts changes, as a daemon does.
type changing struct {
	Data
	mu    sync.Mutex
	count uint64
	next  chan struct{}
}

func newChanging() *changing { return &changing{next: make(chan struct{})} }

func (c *changing) Changed() (uint64, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count, c.next
}

func (c *changing) change() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.next)
	c.count, c.next = c.count+1, make(chan struct{})
}

// eventServer serves streams as a daemon does.
type eventServer struct {
	*changing
	*streams
	t        *testing.T
	listener net.Listener
	sessions context.Context // of all who are logged in
	logOut   func()
	stop     func() error // as at SIGTERM
}

func startEvents(t *testing.T, listener net.Listener) *eventServer {
	ctx, cancel := context.WithCancel(t.Context())
	s := &eventServer{changing: newChanging(), t: t, listener: listener}
	s.sessions, s.logOut = context.WithCancel(t.Context())
	who := func(r *http.Request) string { return r.URL.Query().Get("who") }
	s.streams = newStreams(Config{Data: s.changing, Log: slog.Default(), Stopping: ctx.Done()})
	mux := http.NewServeMux()
	mux.HandleFunc("/events", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer context.AfterFunc(s.sessions, cancel)()
		if err := s.serve(w, r.WithContext(ctx), who(r), counted); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("/other", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "answered") })
	served := make(chan error, 1)
	go func() { served <- status.Serve(ctx, listener, mux) }()
	s.stop = sync.OnceValue(func() error { cancel(); return <-served })
	t.Cleanup(func() { must.Do(t, s.stop()) })
	return s
}

func (s *eventServer) dial() net.Conn {
	c, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp", s.listener.Addr().String())
	if p, ok := s.listener.(*must.Listener); ok {
		c, err = p.Dial(), nil
	}
	must.Do(s.t, err)
	s.t.Cleanup(func() { c.Close() })
	return c
}

// open opens a stream and reads the head of its answer.
func (s *eventServer) open(who string) (net.Conn, *http.Response) {
	c := s.dial()
	_, err := io.WriteString(c, "GET /events?who="+who+" HTTP/1.1\r\nHost: x\r\n\r\n")
	must.Do(s.t, err)
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	must.Do(s.t, err)
	return c, r
}

func (s *eventServer) count() int {
	s.streams.mu.Lock()
	defer s.streams.mu.Unlock()
	return s.total
}

// events reads a stream, a text for each event, with the time since it began.
func events(body io.Reader) (texts []string, at []time.Duration) {
	began, lines := time.Now(), bufio.NewScanner(body)
	var text []string
	for lines.Scan() {
		if line := lines.Text(); line != "" {
			text = append(text, line)
			continue
		}
		texts, at = append(texts, strings.Join(text, " ")), append(at, time.Since(began))
		text = nil
	}
	return texts, at
}

// TestStream: the first event comes at once, changes at most each second, and a sign of life
// each 15 seconds, for longer than any bound of the server; it ends with the session.
func TestStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startEvents(t, must.Listen())
		_, r := s.open("ada")
		go func() {
			time.Sleep(500 * time.Millisecond)
			for range 10 { // of which one event tells
				s.change()
			}
			time.Sleep(time.Minute)
			s.change()
			time.Sleep(time.Hour)
			s.logOut()
		}()
		texts, at := events(r.Body)
		want := map[time.Duration]string{
			0:                        `retry: 3000 event: changed data: {"version":0}`,
			time.Second:              `event: changed data: {"version":10}`,
			60500 * time.Millisecond: `event: changed data: {"version":11}`,
		}
		for i, text := range texts {
			if expected, ok := want[at[i]]; ok && text == expected {
				delete(want, at[i])
			} else if text != ": nothing else has changed" || at[i]%beatEvery != 0 {
				t.Errorf("%v: %q", at[i], text)
			}
		}
		if len(want) > 0 || len(texts) != 3+4*61 {
			t.Errorf("%d events; missing: %v", len(texts), want)
		}
		if r.Header.Get("Content-Type") != "text/event-stream" || s.count() != 0 {
			t.Errorf("%v, %d streams are open", r.Header, s.count())
		}
	})
}

// TestStreamsEndWithTheServer: streams do not delay the end of the daemon.
func TestStreamsEndWithTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startEvents(t, must.Listen())
		ended := make(chan int)
		for i := range 50 {
			_, r := s.open(strconv.Itoa(i))
			go func() { texts, _ := events(r.Body); ended <- len(texts) }()
		}
		began := time.Now()
		must.Do(t, s.stop())
		for range 50 {
			if n := <-ended; n != 1 {
				t.Errorf("%d events", n)
			}
		}
		// http.Server looks for idle connections in steps that grow to half a second
		if took := time.Since(began); took > time.Second {
			t.Errorf("the server took %v to end", took)
		}
	})
}

// TestSlowReader: who reads nothing more is cut 10 seconds after the write that waits.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startEvents(t, must.Listen())
		for range mostStreamsOfOne {
			c := s.dial()
			io.WriteString(c, "GET /events?who=ada HTTP/1.1\r\nHost: x\r\n\r\n")
		}
		time.Sleep(streamWriteWithin - time.Millisecond)
		if n := s.count(); n != mostStreamsOfOne {
			t.Errorf("%d streams are open, want %d", n, mostStreamsOfOne)
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if n := s.count(); n != 0 {
			t.Errorf("%d streams of readers that do not read are open", n)
		}
		if _, r := s.open("ada"); r.StatusCode != http.StatusOK {
			t.Errorf("after them a stream is answered with %s", r.Status)
		}
	})
}

// TestStreamBounds: one person opens 20, and all together 1,000; each that ends makes room.
func TestStreamBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startEvents(t, must.Listen())
		refused := func(who string) bool {
			c, r := s.open(who)
			defer c.Close()
			return r.StatusCode == http.StatusServiceUnavailable && r.Header.Get("Retry-After") == "30"
		}
		var first net.Conn
		for i := range mostStreams {
			c, r := s.open(strconv.Itoa(i / mostStreamsOfOne))
			if r.StatusCode != http.StatusOK {
				t.Fatalf("stream %d: %s", i, r.Status)
			}
			go io.Copy(io.Discard, r.Body)
			if i == 0 {
				first = c
			}
			if i == mostStreamsOfOne-1 && !refused("0") {
				t.Errorf("%d streams are open, and one more of the same person is not refused", i+1)
			}
		}
		if !refused("other") {
			t.Errorf("%d streams are open, and one more is not refused", s.count())
		}
		first.Close()
		synctest.Wait()
		if n := s.count(); n != mostStreams-1 || refused("other") {
			t.Errorf("one of %d has ended, %d are open, and one more is refused", mostStreams, n)
		}
	})
}

// TestSlowHeaders: requests that never end their head open no stream, and are cut.
func TestSlowHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startEvents(t, must.Listen())
		began := time.Now()
		var all sync.WaitGroup
		for range 200 {
			c := s.dial()
			go io.Copy(io.Discard, c)
			all.Go(func() {
				for _, b := range []byte("GET /events?who=ada HTTP/1.1\r\nHost: " + strings.Repeat("x", 1000)) {
					if _, err := c.Write([]byte{b}); err != nil {
						return
					}
					time.Sleep(time.Second)
				}
			})
		}
		time.Sleep(3 * time.Second)
		if _, r := s.open("ada"); r.StatusCode != http.StatusOK {
			t.Errorf("beside them a stream is answered with %s", r.Status)
		}
		if all.Wait(); time.Since(began) > 10*time.Second {
			t.Errorf("they were cut after %v", time.Since(began))
		}
	})
}

// TestStreamOverHTTP2: there a deadline that has passed ends a stream while nothing is written.
func TestStreamOverHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changes, listener, protocols := newChanging(), must.Listen(), new(http.Protocols)
		protocols.SetUnencryptedHTTP2(true)
		streams := newStreams(Config{Data: changes, Log: slog.Default()})
		server := &http.Server{Protocols: protocols, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second}
		server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { must.Do(t, streams.serve(w, r, "ada", counted)) })
		go server.Serve(listener)
		client := &http.Transport{Protocols: protocols, DialContext: func(context.Context, string, string) (net.Conn, error) { return listener.Dial(), nil }}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute-time.Millisecond)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://x/events", nil)
		must.Do(t, err)
		r, err := client.RoundTrip(request)
		must.Do(t, err)
		time.AfterFunc(14*time.Second, changes.change)
		if texts, at := events(r.Body); len(texts) != 5 || at[4] != 45*time.Second || r.ProtoMajor != 2 {
			t.Errorf("%s: events %q after %v", r.Proto, texts, at)
		}
		client.CloseIdleConnections()
		must.Do(t, server.Shutdown(t.Context()))
	})
}

// counted is a version for who may see the whole fleet.
func counted(version uint64) uint64 { return version }
