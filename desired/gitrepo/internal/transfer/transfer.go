// Package transfer adds to go-git's transports what a daemon needs of them: a
// connection that falls silent is given up, and a server's refs count by their
// exact names alone.
//
// A [Transfer] is one conversation with a git server. It is handed to go-git as
// its credential, which is the only thing that travels from a fetch to the
// transports that go-git looks up by the scheme of a URL:
//
//	t := transfer.New(ctx, transfer.Options{Auth: method, Idle: 10 * time.Second, Peer: "git.example:443"})
//	defer t.Close()
//	err := remote.FetchContext(t.Context(), &git.FetchOptions{Auth: t, …})
//	if silence := t.Silence(); silence != nil {
//		err = silence
//	}
//
// HTTP and SSH connections are watched byte by byte. For local repositories
// go-git starts git-upload-pack itself: there the list of refs counts as one
// piece, and what follows it by its pieces.
package transfer

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// Options are what a transfer is begun with.
type Options struct {
	Auth transport.AuthMethod // nil for none
	// Idle is for how long nothing may arrive while something is waited for; zero
	// for as long as it takes.
	Idle time.Duration
	// Roots are the authorities to trust for https; nil for the system's.
	Roots *x509.CertPool
	Peer  string // who is silent then, for the error: host:port, or a path
	// Refs are the server's refs that count, by their full names. Nil is all of them.
	Refs []string
	// Advertised is called with all refs of the server, as soon as they are known, and
	// with what its annotated tags stand for. Its error ends the transfer before anything
	// is asked for; nil takes all.
	Advertised func(refs, peeled map[string]plumbing.Hash) error
	// Push allows the transfer to push.
	Push bool
}

// SilenceError says that a connection was given up.
type SilenceError struct {
	Peer string
	Idle time.Duration
}

// Error is "no data from git.example:443 for 10s".
func (e *SilenceError) Error() string { return fmt.Sprintf("no data from %s for %s", e.Peer, e.Idle) }

// Transfer is one conversation with a git server, which may take several
// connections one after another. It is go-git's credential for it.
type Transfer struct {
	Options
	id     string // under which the SSH dialer finds it
	ctx    context.Context
	cancel context.CancelFunc

	refused atomic.Bool // the rest of the pack is not wanted

	mu      sync.Mutex
	timer   *time.Timer // fires when nothing has arrived for Idle
	waiting bool        // for the server: otherwise silence is our own
	silence *SilenceError
	conns   map[net.Conn]bool
	cleanup []func()
}

// New begins a transfer. When ctx ends, its connections are closed.
func New(ctx context.Context, o Options) *Transfer {
	t := &Transfer{Options: o, id: strconv.FormatInt(lastID.Add(1), 10), conns: map[net.Conn]bool{}}
	t.ctx, t.cancel = context.WithCancel(ctx)
	t.timer = time.AfterFunc(time.Hour, t.timeout)
	t.timer.Stop()
	context.AfterFunc(t.ctx, t.hangUp) //nolint:contextcheck // t.ctx is made from ctx
	running.Store(t.id, t)
	return t
}

// Context ends with the transfer.
func (t *Transfer) Context() context.Context { return t.ctx }

// Close ends the transfer.
func (t *Transfer) Close() {
	running.Delete(t.id)
	t.timer.Stop()
	t.cancel()
	t.mu.Lock()
	todo := t.cleanup
	t.cleanup = nil
	t.mu.Unlock()
	for _, do := range todo {
		do() // closes connections, which are forgotten then
	}
}

// Silence is why the transfer was given up; nil when it was not.
func (t *Transfer) Silence() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.silence == nil {
		return nil
	}
	return t.silence
}

// Refuse says that the rest of the pack is not wanted: it is not waited for.
func (t *Transfer) Refuse() { t.refused.Store(true) }

// String implements transport.AuthMethod. It shows no credential.
func (t *Transfer) String() string { return "a transfer with " + t.Peer }

// Name implements transport.AuthMethod.
func (t *Transfer) Name() string { return "seawall-transfer" }

// await begins to wait for the server, until the returned function is called.
func (t *Transfer) await() (done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = true
	t.rearm()
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.waiting = false
		t.timer.Stop()
	}
}

// heard notes that something has arrived.
func (t *Transfer) heard() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rearm()
}

func (t *Transfer) rearm() {
	if t.waiting && t.Idle > 0 {
		t.timer.Reset(t.Idle)
	}
}

func (t *Transfer) timeout() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.waiting || t.ctx.Err() != nil {
		return
	}
	t.silence = &SilenceError{t.Peer, t.Idle}
	t.cancel() // and with it hangUp
}

// watch counts what arrives on a connection, and closes it with the transfer:
// some of what go-git does on it heeds no context.
func (t *Transfer) watch(conn net.Conn) net.Conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx.Err() != nil {
		_ = conn.Close()
	}
	t.conns[conn] = true
	return &watched{conn, t}
}

func (t *Transfer) hangUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for conn := range t.conns {
		_ = conn.Close()
	}
}

// watched is a connection of a transfer.
type watched struct {
	net.Conn
	transfer *Transfer
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if n > 0 {
		w.transfer.heard()
	}
	return n, err
}

func (w *watched) Close() error {
	w.transfer.mu.Lock()
	delete(w.transfer.conns, w.Conn)
	w.transfer.mu.Unlock()
	return w.Conn.Close()
}
