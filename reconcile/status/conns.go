package status

import (
	"net"
	"net/http"
	"sync"
)

// The bounds of how many connections a server keeps.
const (
	fewestConns   = 16
	mostConnsEver = 2000
	partOfFiles   = 4
)

// mostConns is how many connections a server may keep: what else the daemon does takes files, too.
func mostConns() int {
	return int(min(max(openFiles()/partOfFiles, fewestConns), mostConnsEver))
}

// unusedConns are connections on which nothing is asked, as browsers and load balancers keep ready. A
// server that ends would wait for a request on each that is new for 5 seconds, and one that has too many
// connections closes those first.
type unusedConns struct {
	most int // of all connections

	mu     sync.Mutex
	all    map[net.Conn]unusedConn
	turn   int // counts up: who is unused for longer has a smaller one
	open   int // all connections, with those that are used
	closed bool
}

type unusedConn struct {
	turn int
	idle bool // something was asked before
}

// follow takes note of what becomes of a connection.
func (u *unusedConns) follow(conn net.Conn, now http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.all == nil {
		u.all = map[net.Conn]unusedConn{}
	}
	delete(u.all, conn)
	u.turn++
	switch now {
	case http.StateNew:
		u.open++
		u.all[conn] = unusedConn{u.turn, false}
		if u.closed {
			_ = conn.Close()
		} else if u.open > u.most {
			u.closeOldest()
		}
	case http.StateIdle:
		u.all[conn] = unusedConn{u.turn, true}
	case http.StateClosed, http.StateHijacked:
		u.open--
	case http.StateActive:
	}
}

// closeOldest closes the connection on which nothing was asked for longest, which may be the new one.
func (u *unusedConns) closeOldest() {
	var oldest net.Conn
	for conn, unused := range u.all {
		if oldest == nil || unused.turn < u.all[oldest].turn {
			oldest = conn
		}
	}
	delete(u.all, oldest)
	go func() { _ = oldest.Close() }() // one of TLS says goodbye, which may take seconds
}

// close closes those that are new, and each that is opened from now on.
func (u *unusedConns) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	for conn, unused := range u.all {
		if !unused.idle {
			_ = conn.Close()
		}
	}
}
