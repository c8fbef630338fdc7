package traffic

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/jsontext"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
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
	request, response *message
	line              int // of the request
	unread            string
}

// message is what requests and answers have in common, with the names of both.
type message struct {
	Method, URL       string
	Status            int
	Headers           []struct{ Name, Value string }
	PostData, Content struct{ Text, Encoding string }
}

// harMember bounds the address and the headers of a request.
const harMember = 256 << 10

// read reads the members that a call is made of, each by itself: a body that is too long
// does not take the address with it. It returns what of them could not be read.
func (m *message) read(st *jsontext.Stream, longest int) (unread string, err error) {
	members := map[string]any{"method": &m.Method, "url": &m.URL, "status": &m.Status, "headers": &m.Headers, "postData": &m.PostData, "content": &m.Content}
	err = st.Object(func(key string, _ int) error {
		into, known := members[key]
		if !known {
			return st.Skip()
		}
		text, cut, err := st.Raw(max(harMember, longest))
		if err == nil && (cut || json.Unmarshal(text, into) != nil) {
			unread = key
		}
		return err
	})
	return unread, err
}

func harEntry(st *jsontext.Stream, s *call.Sink) error {
	e := entry{}
	err := st.Object(func(key string, line int) error {
		m, what := &message{}, "the answer's "
		switch {
		case key == "request":
			e.request, e.line, what = m, line, "the request's "
		case key == "response" && (e.request == nil || s.Keep == nil || s.Keep([]byte(e.request.URL))):
			e.response = m
		default:
			return st.Skip()
		}
		unread, err := m.read(st, s.MaxLine)
		if unread != "" {
			e.unread = what + unread + " is too long or of another type"
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case e.request == nil:
		s.Skip(st.Line, "an entry without a request")
	default:
		e.offer(s)
	}
	return s.Stopped
}

// offer hands the call on. One that could not be read in full still counts as a
// call where its address is known, and is counted as skipped too.
func (e *entry) offer(s *call.Sink) {
	c := call.Call{
		Method: strings.ToUpper(e.request.Method), // browsers send fetch's "patch" as it is; no rule tells the two apart
		URL:    e.request.URL, Header: e.request.header(), Body: e.body(e.request, s), Line: e.line,
	}
	if a := e.response; a != nil {
		c.Response = &call.Response{Header: a.header(), Body: e.body(a, s)}
	}
	known := call.IsMethod([]byte(c.Method)) && call.IsTarget([]byte(c.URL))
	switch {
	case e.unread != "":
		s.Skip(e.line, e.unread)
	case !known && !isData().MatchString(c.URL):
		s.Skip(e.line, "a request without a method or an HTTP address")
	}
	if known {
		s.Offer(c)
	}
}

// isData tells addresses that a browser records and never sends.
var isData = lazyregexp.New(`^(data:|blob:|about:|chrome|file:|wss?:)`)

func (m *message) header() (h http.Header) {
	for _, p := range m.Headers {
		call.AddHeader(&h, p.Name, p.Value)
	}
	return h
}

// body returns a body as it was sent; nil where it cannot be known.
func (e *entry) body(m *message, s *call.Sink) []byte {
	content := m.PostData
	if content.Text == "" {
		content = m.Content
	}
	body := []byte(content.Text)
	if content.Encoding == "base64" {
		body, _ = base64.StdEncoding.DecodeString(content.Text) // nothing of one that is broken
	}
	switch {
	case len(body) > s.MaxLine:
		e.unread = "a body is longer than the bound of a line"
		return nil
	case len(body) == 0:
		return nil
	}
	return body
}
