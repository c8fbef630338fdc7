package status

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/seawall-dev/seawall/integration/must"
)

// TestServeEndsGracefully: a request in flight is answered after the daemon was
// told to end, and nobody new is let in.
func TestServeEndsGracefully(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	entered, release := make(chan struct{}), make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-release
		if r.Context().Err() != nil {
			t.Error("the request in flight was told to end")
		}
		io.WriteString(w, "done")
	})
	ctx, cancel := context.WithCancel(t.Context())
	served, answered := make(chan error, 1), make(chan string, 1)
	go func() { served <- Serve(ctx, listener, handler) }()
	go func() { answered <- fetch("http://" + listener.Addr().String()) }()
	<-entered
	cancel()
	for { // until the door is shut
		c, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			break
		}
		c.Close()
	}
	select {
	case err := <-served:
		t.Fatalf("ended with a request in flight: %v", err)
	default:
	}
	close(release)
	if got := <-answered; got != "done" {
		t.Errorf("answered %q", got)
	}
	if err := <-served; err != nil {
		t.Errorf("ended with %v, want nil", err)
	}
}

func fetch(url string) string {
	response, err := http.Get(url)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

func TestServeTellsWhatFailed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	listener.Close()
	if err := Serve(t.Context(), listener, http.NotFoundHandler()); err == nil {
		t.Error("serving on a closed listener ended without an error")
	}
}

// TestServeCutsWhoHangs: neither a client that never finishes its request nor a
// handler that never answers keeps the daemon for ever.
func TestServeCutsWhoHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, hung := must.Listen(), make(chan struct{})
		handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(hung)
			<-r.Context().Done()
		})
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- Serve(ctx, listener, handler) }()

		began := time.Now()
		slow := listener.Dial()
		io.WriteString(slow, "GET /healthz HTTP/1.1\r\n")
		if _, err := slow.Read(make([]byte, 1)); err == nil || time.Since(began) != headerTimeout {
			t.Errorf("half a request was cut after %v (%v), want %v", time.Since(began), err, headerTimeout)
		}

		stuck := listener.Dial()
		io.WriteString(stuck, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		<-hung
		began = time.Now()
		cancel()
		if err := <-served; err != nil || time.Since(began) < graceTimeout {
			t.Errorf("ended with %v after %v, want nil after %v", err, time.Since(began), graceTimeout)
		}
		if line, err := bufio.NewReader(stuck).ReadString('\n'); err == nil {
			t.Errorf("answered %q", strings.TrimSpace(line))
		}
	})
}

// TestServeWaitsForNoRequest: a connection on which nothing was asked does not keep a server that ends.
func TestServeWaitsForNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := must.Listen()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- Serve(ctx, listener, http.NotFoundHandler()) }()
		ready := listener.Dial()
		synctest.Wait()
		began := time.Now()
		cancel()
		if err := <-served; err != nil || time.Since(began) > time.Second {
			t.Errorf("ended with %v after %v", err, time.Since(began))
		}
		if _, err := ready.Read(make([]byte, 1)); err == nil {
			t.Error("the connection is open")
		}
	})
}

// TestServerLogIsBounded: whoever sends what is no request fills no log.
func TestServerLogIsBounded(t *testing.T) {
	var text strings.Builder
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&text, nil)))
	defer slog.SetDefault(before)
	l := &serverLog{rate.Sometimes{First: firstErrors, Interval: errorEvery}}
	for range 1000 {
		if n, err := l.Write([]byte("http: TLS handshake error\n")); n != 26 || err != nil {
			t.Fatal(n, err)
		}
	}
	if n := strings.Count(text.String(), `msg="a connection has failed" error="http: TLS handshake error"`); n != firstErrors {
		t.Errorf("%d lines", n)
	}
}

// conn is a connection that says when it is closed.
type conn struct {
	net.Conn
	closed chan struct{}
}

func (c conn) Close() error { close(c.closed); return nil }

// Whoever keeps connections open without a request takes no room from those who ask.
func TestTooManyConnections(t *testing.T) {
	u, used := unusedConns{most: 2}, conn{}
	enter := func() conn {
		c := conn{closed: make(chan struct{})}
		u.follow(c, http.StateNew)
		return c
	}
	closed := func(c conn) bool {
		if _, unused := u.all[c]; unused || c == used {
			return false
		}
		<-c.closed
		u.follow(c, http.StateClosed)
		return true
	}
	asks, waits := enter(), enter()
	u.follow(asks, http.StateActive)
	used = asks
	third := enter()
	if closed(asks) || !closed(waits) || closed(third) {
		t.Error("not the one that waits for longest without a request is closed")
	}
	u.follow(asks, http.StateIdle)
	u.follow(third, http.StateActive)
	used = third
	if fourth := enter(); !closed(asks) || closed(third) || closed(fourth) {
		t.Error("not the one that is idle is closed")
	}
}
