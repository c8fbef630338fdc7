package status

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
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

// Serve answers requests until ctx ends, then lets those in flight finish for up
// to five seconds and returns nil. It closes the listener. Any other end is an
// error.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler:           compressed(redacted(handler)),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          slog.NewLogLogger(slog.Default().Handler(), slog.LevelWarn),
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
	err := server.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close() // the rest is cut
	}
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		return errors.Join(ended, err)
	}
	return err
}
