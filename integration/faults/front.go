package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
)

// fault is what is done to a request on its way to a server.
type fault func(next http.Handler, w http.ResponseWriter, r *http.Request)

// on is a server behind a fault.
func (by fault) on(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { by(next, w, r) })
}

// front is an HTTP server on a port of its own. What it serves can be disturbed,
// and it can refuse connections for a while.
type front struct {
	base    http.Handler
	outer   fault  // what all requests pass, disturbed or not; nil: nothing. Set it before the first one
	address string // host:port, the same for good

	mu     sync.Mutex
	now    http.Handler
	server *http.Server
	stop   context.CancelFunc // nil while connections are refused
}

func newFront(base http.Handler) (*front, error) {
	f := &front{base: base, now: base, address: "127.0.0.1:0"}
	return f, f.open()
}

// open accepts connections.
func (f *front) open() error {
	listener, err := net.Listen("tcp", f.address)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	server := &http.Server{
		Handler:     http.HandlerFunc(f.serve),
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    quiet,
	}
	f.mu.Lock()
	f.address, f.server, f.stop = listener.Addr().String(), server, stop
	f.mu.Unlock()
	go func() { _ = server.Serve(listener) }()
	return nil
}

// reopen accepts connections, where they are refused.
func (f *front) reopen() error {
	f.mu.Lock()
	refusing := f.stop == nil
	f.mu.Unlock()
	if !refusing {
		return nil
	}
	return f.open()
}

// refuse cuts all connections, and accepts none until it is opened again.
func (f *front) refuse() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop == nil {
		return nil
	}
	f.stop()
	f.stop = nil
	if err := f.server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// disturb lets requests that arrive from now on pass through the fault.
func (f *front) disturb(by fault) { f.set(by.on(f.base)) }

// calm ends a fault. Requests that hang in it go on hanging, as they do when a
// server comes back behind connections that it has forgotten.
func (f *front) calm() { f.set(f.base) }

func (f *front) set(now http.Handler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = now
}

func (f *front) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	now := f.now
	f.mu.Unlock()
	if f.outer != nil {
		now = f.outer.on(now)
	}
	now.ServeHTTP(w, r)
}
