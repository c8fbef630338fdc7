package sim

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// Requests with both Transfer-Encoding and Content-Length are declined
// (reference, "Errors", 4). A handler cannot see them: net/http drops the
// length before. So the connections of [Server.Serve] are read along: a request
// head with both headers gets the one that net/http would ignore renamed, and
// the handler declines what carries the new name.
//
// To find heads, and never to take a body for one, the reader follows HTTP/1.x
// framing the way net/http does: lengths, chunks with extensions, trailers,
// several requests on one connection, pipelined or not. What net/http itself
// will refuse (another transfer coding, lengths that disagree, malformed chunks,
// heads over a megabyte) ends the connection, so from there on bytes pass
// unread. They do so too after a Transfer-Encoding whose value is folded onto a
// second line, which no client writes. HTTP/2 and upgrades are not offered.

// ignoredPrefix marks a renamed header.
const ignoredPrefix = "Sim-Ignored-"

const (
	maxHead = 1 << 20
	maxLine = 4 << 10 // of a chunk size or trailer, as in net/http
)

func hasBothLengths(header http.Header) bool {
	return header.Get(ignoredPrefix+"Content-Length") != "" || header.Get(ignoredPrefix+"Transfer-Encoding") != ""
}

// restoreLengths gives renamed headers their names back, for the transcript.
func restoreLengths(header http.Header) {
	for _, name := range []string{"Content-Length", "Transfer-Encoding"} {
		if values := header.Values(ignoredPrefix + name); len(values) > 0 {
			header.Del(ignoredPrefix + name)
			header[name] = values
		}
	}
}

// lengthListener reads along on every connection it accepts.
type lengthListener struct{ net.Listener }

func (l lengthListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &lengthConn{Conn: conn}, nil
}

// lengthConn is a connection whose reader sees marked heads. Like every
// connection of net/http it has one reader at a time.
type lengthConn struct {
	net.Conn
	scan  headScanner
	ready []byte // scanned, not yet read
	err   error  // to be returned once ready is empty
	buf   [4096]byte
}

func (c *lengthConn) Read(p []byte) (int, error) {
	for len(c.ready) == 0 && c.err == nil {
		n, err := c.Conn.Read(c.buf[:])
		c.ready = c.scan.feed(c.ready[:0], c.buf[:n])
		if isTimeout(err) && len(c.ready) == 0 {
			return 0, err // net/http sets deadlines to interrupt a read, and reads on later
		}
		if err != nil && !isTimeout(err) {
			c.ready, c.err = append(c.ready, c.scan.rest()...), err
		}
	}
	if len(c.ready) == 0 {
		return 0, c.err
	}
	n := copy(p, c.ready)
	c.ready = c.ready[n:]
	return n, nil
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// part is where in a request the scanner is.
type part int

const (
	inHead part = iota
	inBody
	inChunkSize
	inChunk
	inTrailer
	unread // framing is lost or of no interest any more
)

// headScanner passes bytes on, heads only once they are complete.
type headScanner struct {
	part part
	head []byte // of the request so far, in inHead
	line []byte // so far, in inChunkSize and inTrailer
	left int64  // bytes to come, in inBody and inChunk
}

// feed scans in and appends to out what may be passed on.
func (s *headScanner) feed(out, in []byte) []byte {
	for len(in) > 0 {
		switch s.part {
		case inHead:
			out, in = s.feedHead(out, in)
		case inBody, inChunk:
			n := min(s.left, int64(len(in)))
			out, in = append(out, in[:n]...), in[n:]
			if s.left -= n; s.left == 0 {
				s.part = map[part]part{inBody: inHead, inChunk: inChunkSize}[s.part]
			}
		case inChunkSize, inTrailer:
			line, rest, whole := cutLine(in)
			out, in = append(out, line...), rest
			s.feedLine(line, whole)
		case unread:
			return append(out, in...)
		}
	}
	return out
}

// rest returns what was held back, when no more will come.
func (s *headScanner) rest() []byte { return s.head }

// cutLine returns the line with its end, or all there is of it.
func cutLine(in []byte) (line, rest []byte, whole bool) {
	if i := bytes.IndexByte(in, '\n'); i >= 0 {
		return in[:i+1], in[i+1:], true
	}
	return in, nil, false
}

func (s *headScanner) feedHead(out, in []byte) (passed, rest []byte) {
	line, rest, whole := cutLine(in)
	start := bytes.LastIndexByte(s.head, '\n') + 1
	s.head = append(s.head, line...)
	blank := whole && len(bytes.TrimRight(s.head[start:], "\r\n")) == 0
	switch {
	case len(s.head) > maxHead:
		s.part = unread
	case blank && start > 0: // the blank line that ends a head
		s.endHead()
	case !blank: // one before a head is tolerated after a POST, and passes at once
		return out, rest
	}
	out = append(out, s.head...)
	s.head = nil
	return out, rest
}

// endHead finds out what follows a head, and marks it when it has both lengths.
func (s *headScanner) endHead() {
	head := parseHead(s.head)
	encodings, lengths := head.values("Transfer-Encoding"), head.values("Content-Length")
	if len(encodings) > 0 && len(lengths) > 0 {
		ignored := "Content-Length"
		if head.isHTTP10() {
			ignored = "Transfer-Encoding"
		}
		s.head = head.rename(ignored)
	}
	switch {
	case len(encodings) > 0 && !head.isHTTP10():
		s.part = unread
		if len(encodings) == 1 && strings.EqualFold(encodings[0], "chunked") {
			s.part = inChunkSize
		}
	case len(lengths) > 0:
		n, err := strconv.ParseUint(lengths[0], 10, 63)
		s.left, s.part = int64(n), inBody
		if err != nil {
			s.part = unread
		} else if n == 0 {
			s.part = inHead
		}
	}
}

// feedLine takes a line, or the beginning of one, of chunked framing.
func (s *headScanner) feedLine(line []byte, whole bool) {
	if s.line = append(s.line, line...); len(s.line) > maxLine {
		s.part = unread
		return
	}
	if !whole {
		return
	}
	text := strings.TrimRight(string(s.line), " \t\r\n")
	s.line = s.line[:0]
	if s.part == inTrailer {
		if text == "" {
			s.part = inHead
		}
		return
	}
	size, _, _ := strings.Cut(text, ";")
	n, err := strconv.ParseUint(strings.TrimRight(size, " \t"), 16, 62)
	switch {
	case err != nil:
		s.part = unread
	case n == 0:
		s.part = inTrailer
	default:
		s.left, s.part = int64(n)+int64(len("\r\n")), inChunk
	}
}

// requestHead is a head as lines, each with its end.
type requestHead struct{ lines [][]byte }

func parseHead(head []byte) requestHead { return requestHead{bytes.SplitAfter(head, []byte("\n"))} }

func (h requestHead) isHTTP10() bool {
	return bytes.HasSuffix(bytes.TrimSpace(h.lines[0]), []byte(" HTTP/1.0"))
}

// values returns what a header is set to, as often as it occurs.
func (h requestHead) values(name string) []string {
	var values []string
	for _, line := range h.lines[1:] {
		if key, value, ok := bytes.Cut(line, []byte(":")); ok && strings.EqualFold(string(key), name) {
			values = append(values, strings.Trim(string(value), " \t\r\n"))
		}
	}
	return values
}

// rename returns the head with a header marked as ignored.
func (h requestHead) rename(name string) []byte {
	var out []byte
	for i, line := range h.lines {
		if key, _, ok := bytes.Cut(line, []byte(":")); i > 0 && ok && strings.EqualFold(string(key), name) {
			out = append(out, ignoredPrefix...)
		}
		out = append(out, line...)
	}
	return out
}
