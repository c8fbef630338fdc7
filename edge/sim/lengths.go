package sim

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"slices"
	"sync"
)

// Requests with both Transfer-Encoding and Content-Length are declined
// (reference, "Errors", 4). A handler cannot see them: net/http drops the one
// that it ignores. So the connections of [Server.Serve] keep what was read, and
// each request gets the one that it lacks back, under another name.
//
// What net/http refuses by itself (another transfer coding, lengths that
// disagree, malformed chunks) is no request here, and ends its connection.

// ignoredPrefix marks a header that net/http has dropped.
const ignoredPrefix = "Sim-Ignored-"

var lengthHeaders = []string{"Content-Length", "Transfer-Encoding"}

func hasBothLengths(header http.Header) bool {
	return slices.ContainsFunc(lengthHeaders, func(name string) bool { return header.Get(ignoredPrefix+name) != "" })
}

// restoreLengths gives marked headers their names back, for the transcript.
func restoreLengths(header http.Header) {
	for _, name := range lengthHeaders {
		if values := header.Values(ignoredPrefix + name); len(values) > 0 {
			header.Del(ignoredPrefix + name)
			header[name] = values
		}
	}
}

// lengthListener keeps what is read from every connection it accepts.
type lengthListener struct{ net.Listener }

func (l lengthListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &lengthConn{Conn: conn}, nil
}

type connKey struct{}

func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// markLengths marks the header that a request had and net/http has dropped.
func markLengths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, ok := r.Context().Value(connKey{}).(*lengthConn); ok {
			sent := conn.head(r)
			ignored := lengthHeaders[0]
			if !r.ProtoAtLeast(1, 1) {
				ignored = lengthHeaders[1]
			}
			if sent.Get(lengthHeaders[0]) != "" && sent.Get(lengthHeaders[1]) != "" {
				r.Header[ignoredPrefix+ignored] = sent.Values(ignored)
			}
		}
		next.ServeHTTP(w, r)
	})
}

// lengthConn is a connection that keeps what was read since the head of the last request.
type lengthConn struct {
	net.Conn

	mu   sync.Mutex
	kept []byte
	last *http.Request // whose body is at the beginning of what is kept; nil: none
}

func (c *lengthConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = append(c.kept, p[:n]...)
	return n, err
}

// head is the header of a request as it was sent; of each request once, in the order in
// which they came.
func (c *lengthConn) head(r *http.Request) textproto.MIMEHeader {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := bytes.NewReader(c.kept)
	buffer := bufio.NewReader(kept)
	text := textproto.NewReader(buffer)
	if c.last != nil && slices.Contains(c.last.TransferEncoding, "chunked") {
		_, _ = io.Copy(io.Discard, httputil.NewChunkedReader(buffer)) // net/http has read it to its end
		_, _ = text.ReadMIMEHeader()                                  // the trailer
	} else if c.last != nil {
		_, _ = io.CopyN(io.Discard, buffer, c.last.ContentLength)
	}
	line, err := text.ReadLine()
	for err == nil && line == "" { // after a POST net/http overlooks stray line ends
		line, err = text.ReadLine()
	}
	header, _ := text.ReadMIMEHeader() // net/http has taken it
	c.kept = slices.Clone(c.kept[len(c.kept)-kept.Len()-buffer.Buffered():])
	c.last = r
	return header
}
