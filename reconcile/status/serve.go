package status

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// The bounds of a request. Answers are small and at hand, so what takes longer
// is a client that holds on to a connection.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	headerBytes   = 16 << 10
	graceTimeout  = 5 * time.Second // for requests in flight, once the daemon ends
)

// What a server says of connections, such as a failed handshake of TLS, is logged this often:
// whoever reaches listen can have it said.
const (
	firstErrors = 10
	errorEvery  = 10 * time.Second
)

// serverLog takes what a server says of connections.
type serverLog struct{ often rate.Sometimes }

func (l *serverLog) Write(line []byte) (int, error) {
	l.often.Do(func() { slog.Warn("a connection has failed", "error", strings.TrimSpace(string(line))) })
	return len(line), nil
}

// Serve answers requests until ctx ends, then lets those in flight finish for up
// to five seconds and returns nil. It closes the listener. Any other end is an
// error.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	var unused unusedConns
	server := &http.Server{
		Handler:           compressed(redacted(handler)),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerBytes,
		ConnState:         unused.follow,
		ErrorLog:          log.New(&serverLog{rate.Sometimes{First: firstErrors, Interval: errorEvery}}, "", 0),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTimeout)
	defer cancel()
	server.RegisterOnShutdown(unused.close)
	err := server.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close() // the rest is cut
	}
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		return errors.Join(ended, err)
	}
	return err
}

// unusedConns are connections on which nothing was asked yet, as browsers and load balancers keep ready.
// A server that ends would wait for a request on each for 5 seconds.
type unusedConns struct {
	mu     sync.Mutex
	all    map[net.Conn]bool
	closed bool
}

// follow takes note of what becomes of a connection.
func (u *unusedConns) follow(conn net.Conn, now http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case now != http.StateNew:
		delete(u.all, conn)
	case u.closed:
		_ = conn.Close()
	default:
		if u.all == nil {
			u.all = map[net.Conn]bool{}
		}
		u.all[conn] = true
	}
}

// close closes them, and each that is opened from now on.
func (u *unusedConns) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	for conn := range u.all {
		_ = conn.Close()
	}
}
