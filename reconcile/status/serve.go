package status

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
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
// to five seconds and returns nil. It keeps at most a quarter of the files open that this process may
// have open as connections: beyond that, it closes those first on which nothing is asked. It closes the listener. Any other end is an
// error.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	unused := unusedConns{most: mostConns()}
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
