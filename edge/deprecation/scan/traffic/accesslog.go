package traffic

import (
	"bufio"
	"bytes"
	"strconv"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// AccessLog reads the common and combined formats, and whatever else writes
// the request line in quotes behind a date in brackets:
//
//	host ident user [date] "METHOD target HTTP/1.1" status bytes …
//
// For a line that is rejected it looks at three places and allocates nothing.
func AccessLog(r *bufio.Reader, s *call.Sink) error {
	l := &call.Lines{In: r, Out: s}
	return l.Each(func(line []byte) { accessLine(line, l.N, s) })
}

func accessLine(line []byte, n int, s *call.Sink) {
	request, ok := quotedRequest(line)
	if !ok {
		if len(bytes.TrimSpace(line)) > 0 {
			s.Skip(n, "not a line of an access log")
		}
		return
	}
	method, target, rest := splitRequest(request)
	switch {
	case noRequest(request), len(method) > 0 && !call.IsTarget(target):
		return // a connection without a request, OPTIONS *, CONNECT host:443
	case len(method) == 0:
		s.Skip(n, "no request line in the quotes")
		return
	}
	target = unescapeLog(target)
	if !s.Keeps(target) {
		return
	}
	if !bytes.HasPrefix(rest, []byte(" HTTP/")) && !bytes.HasPrefix(rest, []byte(`"`)) {
		s.Skip(n, "the request line does not end")
		return
	}
	s.Give(call.Call{Method: string(method), URL: string(target), Line: n})
}

// quotedRequest returns what follows the quote of the request line: the first
// quote behind a bracket. The user before it may be anything.
func quotedRequest(line []byte) ([]byte, bool) {
	i := bytes.Index(line, []byte(`] "`))
	if i < 0 {
		return nil, false
	}
	return line[i+3:], true
}

// splitRequest cuts a request line behind method and target. Without a method
// that could be one, all are empty.
func splitRequest(request []byte) (method, target, rest []byte) {
	space := bytes.IndexByte(request, ' ')
	if space < 1 || !call.IsMethod(request[:space]) {
		return nil, nil, nil
	}
	target = request[space+1:]
	end := bytes.IndexByte(target, ' ')
	if end < 0 {
		end = len(target)
	}
	if quote := bytes.IndexByte(target[:end], '"'); quote >= 0 && (quote == 0 || target[quote-1] != '\\') {
		end = quote // HTTP/0.9: no version
	}
	return request[:space], target[:end], target[end:]
}

// noRequest tells a connection on which no HTTP was spoken: "-", or the first
// bytes of a TLS handshake, escaped.
func noRequest(request []byte) bool {
	return bytes.HasPrefix(request, []byte(`-"`)) || bytes.HasPrefix(request, []byte(`"`)) || bytes.HasPrefix(request, []byte(`\x`))
}

// escapes are what servers make of bytes that would break a line: \xhh, and a backslash
// before a quote or a backslash.
var escapes = lazyregexp.New(`(?s)\\(x[0-9A-Fa-f]{2}|.)`)

// unescapeLog undoes the escapes of a line.
func unescapeLog(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	return escapes().ReplaceAllFunc(text, func(escape []byte) []byte {
		if b, err := strconv.ParseUint(string(escape[2:]), 16, 8); err == nil {
			return []byte{byte(b)}
		}
		return escape[1:]
	})
}
