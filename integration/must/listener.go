package must

import "net"

// Listener has its connections in memory, without a buffer, so that a server and its clients can
// be in a bubble of synctest, where time is the test's. Close it once.
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
}

// Listen listens in memory.
func Listen() *Listener { return &Listener{make(chan net.Conn), make(chan struct{})} }

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *Listener) Close() error { close(l.closed); return nil }

// Addr implements [net.Listener].
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

// Dial connects to the server.
func (l *Listener) Dial() net.Conn {
	client, server := net.Pipe()
	l.conns <- server
	return client
}
