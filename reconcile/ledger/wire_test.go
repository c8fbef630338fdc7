package ledger

import (
	"bytes"
	"net"
	"net/url"
	"sync"
	"testing"
)

// wire is the way to a server, which may break.
type wire struct {
	t        testing.TB
	listener net.Listener
	server   string

	mu     sync.Mutex
	next   fault
	refuse bool // nobody comes through any more
	open   map[net.Conn]bool
	struck chan struct{} // closed when the fault has come
}

// fault is what becomes of a message and its answer.
type fault struct {
	on     string // part of the message
	what   damage
	refuse bool // and nobody comes through afterwards
}

type damage int

const (
	noRequest damage = iota // the message does not arrive, and the connection is cut
	noAnswer                // it arrives and is done, and the connection is cut
	silence                 // nothing is said any more
)

// newWire returns a way to the server of a URL, and its own.
func newWire(t testing.TB, to string) (*wire, string) {
	t.Helper()
	u, err := url.Parse(to)
	must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	w := &wire{t: t, listener: listener, server: u.Host, open: map[net.Conn]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { w.carry(client) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		w.cut()
		all.Wait()
	})
	u.Host = listener.Addr().String()
	return w, u.String()
}

// breaks has the next message that has a text in it meet a fault, and returns what is closed then.
func (w *wire) breaks(f fault) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next, w.struck = f, make(chan struct{})
	return w.struck
}

// mend has all come through again.
func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next, w.refuse = fault{}, false
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for conn := range w.open {
		_ = conn.Close()
	}
}

// strikes reports which fault a message meets; false for none.
func (w *wire) strikes(message []byte) (fault, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.next
	if f.on == "" || !bytes.Contains(message, []byte(f.on)) {
		return f, false
	}
	w.next, w.refuse = fault{}, f.refuse
	close(w.struck)
	return f, true
}

func (w *wire) note(conn net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[conn] = true
	return !w.refuse
}

// carry takes messages to the server and answers back.
func (w *wire) carry(client net.Conn) {
	defer client.Close()
	if !w.note(client) {
		return
	}
	server, err := net.Dial("tcp", w.server)
	if err != nil {
		return
	}
	defer server.Close()
	w.note(server)
	var mu sync.Mutex
	var answers net.Conn = client // nil: they get lost
	go func() {
		defer client.Close()
		buffer := make([]byte, 1<<16)
		for {
			n, err := server.Read(buffer)
			mu.Lock()
			to := answers
			mu.Unlock()
			if to != nil && n > 0 {
				_, _ = to.Write(buffer[:n])
			} else if n > 0 {
				return // this was the answer
			}
			if err != nil {
				return
			}
		}
	}()
	buffer := make([]byte, 1<<16)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		f, strikes := w.strikes(buffer[:n])
		if strikes && f.what == noRequest {
			return
		}
		if strikes && f.what == silence {
			<-w.t.Context().Done()
			return
		}
		if strikes {
			mu.Lock()
			answers = nil
			mu.Unlock()
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}
