package traffic

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// Plain reads one call a line, as people write them down:
//
//	METHOD PATH-or-URL [JSON body]
//
// Blank lines and those that begin with # are passed over. Any other line that is
// not of this form is counted as skipped.
func Plain(r *bufio.Reader, s *call.Sink) error {
	l := &call.Lines{In: r, Out: s}
	return l.Each(func(line []byte) { plainLine(line, l.N, s) })
}

func plainLine(line []byte, n int, s *call.Sink) {
	if IsBlank(line) {
		return
	}
	method, target, rest := plainWords(line)
	if target == nil {
		s.Skip(n, "not METHOD PATH-or-URL [JSON body]")
		return
	}
	address, ok := call.Normal(string(target))
	if !ok {
		s.Skip(n, "the address has no path that could be read")
		return
	}
	if more := s.KeepWhole && len(rest) > 0; !s.Keeps([]byte(address)) && !more {
		return
	}
	body, ok := plainBody(rest)
	if !ok {
		s.Skip(n, "what follows the address is not JSON")
		return
	}
	s.Give(call.Call{Method: strings.ToUpper(string(method)), URL: address, Body: body, Line: n})
}

// IsBlank reports whether a line holds nothing, or a comment.
func IsBlank(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}

// plainWords cuts a line into method, address and the rest. The target is nil
// where the line is not of that form.
func plainWords(line []byte) (method, target, rest []byte) {
	method, rest = cutWord(bytes.TrimSpace(line))
	target, rest = cutWord(rest)
	known := call.IsCommonMethod(strings.ToUpper(string(method)))
	if !known && !call.IsMethod(method) || bytes.IndexByte(target, '/') < 0 {
		return nil, nil, nil
	}
	return method, target, rest
}

// IsPlain reports whether a line is beyond doubt of this form, and no prose.
func IsPlain(line []byte) bool {
	method, target, rest := plainWords(line)
	_, ok := plainBody(rest)
	return target != nil && ok && call.IsCommonMethod(strings.ToUpper(string(method)))
}

// cutWord returns the first word and what follows it, without the space around.
func cutWord(text []byte) (word, rest []byte) {
	i := bytes.IndexAny(text, " \t")
	if i < 0 {
		return text, nil
	}
	return text[:i], bytes.TrimSpace(text[i:])
}

// plainBody returns the body behind an address. A version of HTTP, as in a
// request line, is passed over.
func plainBody(rest []byte) ([]byte, bool) {
	if bytes.HasPrefix(rest, []byte("HTTP/")) {
		_, rest = cutWord(rest)
	}
	if len(rest) == 0 {
		return nil, true
	}
	return bytes.Clone(rest), json.Valid(rest)
}
