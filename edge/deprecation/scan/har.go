package scan

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// readHAR reads an HTTP archive entry by entry. Answers and timings are passed
// over without being kept.
func readHAR(r *bufio.Reader, s *sink) error {
	st, entries := newStream(r), false
	err := st.object(func(key string, _ int) error {
		if key != "log" {
			return st.skip()
		}
		return st.object(func(key string, _ int) error {
			if key != "entries" {
				return st.skip()
			}
			entries = true
			return st.array(func() error { return harEntry(st, s) })
		})
	})
	s.stats.Lines = st.line
	if err != nil {
		return err
	}
	if !entries {
		return errors.New("the archive has no log.entries")
	}
	return st.end()
}

func harEntry(st *stream, s *sink) error {
	requests := 0
	err := st.object(func(key string, line int) error {
		if key != "request" {
			return st.skip()
		}
		requests++
		return harRequest(st, line, s)
	})
	if err == nil && requests == 0 {
		s.skip(st.line, "an entry without a request")
	}
	return err
}

// harMember bounds the address and the headers of a request.
const harMember = 256 << 10

// harRequest reads one request: the members a call is made of, the rest passed over.
func harRequest(st *stream, line int, s *sink) error {
	var (
		method, address string
		headers         []struct{ Name, Value string }
		post            struct{ MimeType, Text, Encoding string }
		unread          string
	)
	members := map[string]any{"method": &method, "url": &address, "headers": &headers, "postData": &post}
	limits := map[string]int{"postData": s.o.MaxLine}
	err := st.object(func(key string, _ int) error {
		into, known := members[key]
		if !known {
			return st.skip()
		}
		text, cut, err := st.raw(max(limits[key], harMember))
		if err != nil {
			return err
		}
		if cut || json.Unmarshal(text, into) != nil {
			unread = "the request's " + key + " is too long or of another type"
		}
		return nil
	})
	if err != nil {
		return err
	}
	return harCall(s, line, unread, Call{Method: method, URL: address, Header: headerOf(headers), Body: bodyOf(post.Text, post.Encoding), Line: line})
}

// harCall hands a request on. One that could not be read in full still counts as
// a call where its address is known, and is counted as skipped too.
func harCall(s *sink, line int, unread string, c Call) error {
	if unread != "" {
		s.skip(line, unread)
	}
	c.Method = strings.ToUpper(c.Method) // browsers send fetch's "patch" as it is; no rule tells the two apart
	if !isMethod([]byte(c.Method)) || !isTarget([]byte(c.URL)) {
		if unread == "" && !isData(c.URL) {
			s.skip(line, "a request without a method or an HTTP address")
		}
		return nil
	}
	return s.offer(c)
}

// isData tells addresses that a browser records and never sends.
func isData(address string) bool {
	for _, scheme := range []string{"data:", "blob:", "about:", "chrome", "file:", "ws:", "wss:"} {
		if len(address) >= len(scheme) && address[:len(scheme)] == scheme {
			return true
		}
	}
	return false
}

func headerOf(pairs []struct{ Name, Value string }) http.Header {
	if len(pairs) == 0 {
		return nil
	}
	h := http.Header{}
	for _, p := range pairs {
		addHeader(h, p.Name, p.Value)
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
