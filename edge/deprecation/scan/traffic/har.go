package traffic

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/jsontext"
)

// HAR reads an HTTP archive entry by entry. Of a call that is kept the answer is
// read too, if it is JSON and within the bound of a line; other answers and the
// timings are passed over without being kept.
func HAR(r *bufio.Reader, s *call.Sink) error {
	st, entries := jsontext.New(r), false
	err := st.Object(func(key string, _ int) error {
		if key != "log" {
			return st.Skip()
		}
		return st.Object(func(key string, _ int) error {
			if key != "entries" {
				return st.Skip()
			}
			entries = true
			return st.Array(func() error { return harEntry(st, s) })
		})
	})
	s.Stats.Lines = st.Line
	if err != nil {
		return err
	}
	if !entries {
		return errors.New("the archive has no log.entries")
	}
	return st.End()
}

// entry is one entry of an archive as it is being read.
type entry struct {
	line    int // of the request; 0 before it was met
	unread  string
	request call.Call
	answer  *call.Response
}

func harEntry(st *jsontext.Stream, s *call.Sink) error {
	e := entry{}
	err := st.Object(func(key string, line int) error {
		switch key {
		case "request":
			e.line = line
			m, err := e.read("the request's", st, s)
			e.request = call.Call{
				Method: strings.ToUpper(m.method), // browsers send fetch's "patch" as it is; no rule tells the two apart
				URL:    m.address, Header: headerOf(m.headers), Body: bodyOf(m.content.Text, m.content.Encoding), Line: line,
			}
			return err
		case "response":
			if e.line > 0 && !e.matters(s) {
				return st.Skip()
			}
			m, err := e.read("the answer's", st, s)
			e.answer = &call.Response{Status: m.status, Header: headerOf(m.headers), Body: bodyOf(m.content.Text, m.content.Encoding)}
			return err
		}
		return st.Skip()
	})
	if err != nil {
		return err
	}
	if e.line == 0 {
		s.Skip(st.Line, "an entry without a request")
		return nil
	}
	e.offer(s)
	return s.Stopped
}

// matters reports whether the answer of the request may be asked for. The sink
// counts the address when it is offered, and not here.
func (e *entry) matters(s *call.Sink) bool { return s.Keep == nil || s.Keep([]byte(e.request.URL)) }

// harMember bounds the address and the headers of a request.
const harMember = 256 << 10

// message is what requests and answers have in common, with the names of both.
type message struct {
	method, address string
	status          int
	headers         []struct{ Name, Value string }
	content         struct{ Text, Encoding string }
}

// read reads the members of a request or an answer that a call is made of.
func (e *entry) read(what string, st *jsontext.Stream, s *call.Sink) (m message, err error) {
	members := map[string]any{"method": &m.method, "url": &m.address, "status": &m.status, "headers": &m.headers, "postData": &m.content, "content": &m.content}
	return m, st.Object(func(key string, _ int) error {
		into, known := members[key]
		if !known {
			return st.Skip()
		}
		limit := harMember
		if into == any(&m.content) {
			limit = max(limit, s.MaxLine)
		}
		text, cut, err := st.Raw(limit)
		if err == nil && (cut || json.Unmarshal(text, into) != nil) {
			e.unread = what + " " + key + " is too long or of another type"
		}
		return err
	})
}

// offer hands the call on. One that could not be read in full still counts as a
// call where its address is known, and is counted as skipped too.
func (e *entry) offer(s *call.Sink) {
	c := e.request
	if e.unread != "" {
		s.Skip(e.line, e.unread)
	}
	if !call.IsMethod([]byte(c.Method)) || !call.IsTarget([]byte(c.URL)) {
		if e.unread == "" && !isData(c.URL) {
			s.Skip(e.line, "a request without a method or an HTTP address")
		}
		return
	}
	c.Response = e.answer
	s.Offer(c)
}

// isData tells addresses that a browser records and never sends.
func isData(address string) bool {
	return slices.ContainsFunc([]string{"data:", "blob:", "about:", "chrome", "file:", "ws:", "wss:"}, func(scheme string) bool {
		return strings.HasPrefix(address, scheme)
	})
}

func headerOf(pairs []struct{ Name, Value string }) http.Header {
	if len(pairs) == 0 {
		return nil
	}
	h := http.Header{}
	for _, p := range pairs {
		call.AddHeader(h, p.Name, p.Value)
	}
	return h
}

// bodyOf returns a body as it was sent; nil where it cannot be known.
func bodyOf(text, encoding string) []byte {
	switch {
	case text == "":
		return nil
	case encoding == "base64":
		body, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil
		}
		return body
	}
	return []byte(text)
}
