package traffic

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/jsontext"
)

// head is how much of a log decides which of the forms it has.
const head = 64 << 10

// Records reads logs in JSON: one object for each request, on a line of its
// own, in one array, or written over several lines one after another. A record
// that names no path is no call; one that names a path and no method is skipped
// and counted. A log of which no record names a path has words for it that are
// not known here, and is not one without calls.
func Records(r *bufio.Reader, out *call.Sink) error {
	s := &records{Sink: out}
	err := s.form(r)
	if err == nil && s.read > 0 && s.named == 0 {
		s.Skip(0, "no record names a path or an address in words that are known: write lines METHOD PATH of it")
	}
	return err
}

// records counts the records read, and those that name a path or an address.
type records struct {
	*call.Sink
	read, named int
}

// form tells the three forms apart.
func (s *records) form(r *bufio.Reader) error {
	text, err := r.Peek(head)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch first := bytes.TrimSpace(text); {
	case len(first) > 0 && first[0] == '[':
		return s.array(r)
	case spreads(first):
		return s.sequence(r)
	}
	l := &call.Lines{In: r, Out: s.Sink}
	return l.Each(func(line []byte) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			s.record(line, l.N)
		}
	})
}

// spreads reports whether the first object goes on behind its first line.
func spreads(text []byte) bool {
	value, complete := jsontext.First(text)
	return complete && len(value) > 0 && value[0] == '{' && bytes.IndexByte(value, '\n') >= 0
}

func (s *records) array(r *bufio.Reader) error {
	st := jsontext.New(r)
	if err := st.Array(func() error { return s.next(st) }); err != nil {
		return err
	}
	s.Stats.Lines = st.Line
	return st.End()
}

func (s *records) sequence(r *bufio.Reader) error {
	st := jsontext.New(r)
	defer func() { s.Stats.Lines = st.Line }()
	for {
		if _, err := st.Peek(); errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err := s.next(st); err != nil {
			return err
		}
	}
}

func (s *records) next(st *jsontext.Stream) error {
	if _, err := st.Peek(); err != nil {
		return err
	}
	line := st.Line
	text, cut, err := st.Raw(s.MaxLine)
	if err != nil {
		return err
	}
	if cut {
		s.Skip(line, "a record longer than the bound of a line")
		return nil
	}
	s.record(text, line)
	return s.Stopped
}

// record hands on the call of one record.
func (s *records) record(text []byte, line int) {
	f, err := walkRecord(text)
	if err != nil {
		s.Skip(line, err.Error())
		return
	}
	method, target, ok := f.requestLine()
	s.read++
	if len(target) > 0 {
		s.named++
	}
	switch {
	case !ok:
		s.Skip(line, "a string of the record has a broken escape")
	case len(target) == 0 || !call.IsTarget(target) || !s.Keeps(target):
	case !json.Valid(text):
		s.Skip(line, errRecord.Error())
	case !call.IsMethod(bytes.ToUpper(method)):
		s.Skip(line, "the record names a path and no method")
	default:
		s.Give(call.Call{Method: strings.ToUpper(string(method)), URL: string(target), Line: line})
	}
}

// requestLine returns method and target of a record. A request line ("GET /path
// HTTP/1.1") serves where the single members are missing.
func (f found) requestLine() (method, target []byte, ok bool) {
	method, ok1 := f.method.decoded()
	target, ok2 := f.target.decoded()
	query, ok3 := f.query.decoded()
	request, ok4 := f.request.decoded()
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return nil, nil, false
	}
	if m, t, _ := splitRequest(request); len(m) > 0 && (len(method) == 0 || len(target) == 0 || bytes.IndexByte(t, '?') >= 0) {
		return m, t, true
	}
	if query = bytes.TrimPrefix(query, []byte("?")); len(query) > 0 && len(target) > 0 && bytes.IndexByte(target, '?') < 0 {
		target = append(append(bytes.Clone(target), '?'), query...)
	}
	return method, target, true
}
