package scan

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// readRecords reads logs in JSON: one object for each request, on a line of its
// own, in one array, or written over several lines one after another. A record
// that names no path is no call; one that names a path and no method is skipped
// and counted. A log of which no record names a path has words for it that are
// not known here, and is not one without calls.
func readRecords(r *bufio.Reader, s *sink) error {
	err := readRecordForm(r, s)
	if err == nil && s.records > 0 && s.named == 0 {
		s.skip(0, "no record names a path or an address in words that are known: write lines METHOD PATH of it")
	}
	return err
}

// readRecordForm tells the three forms apart.
func readRecordForm(r *bufio.Reader, s *sink) error {
	text, err := r.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch first := bytes.TrimSpace(text); {
	case len(first) > 0 && first[0] == '[':
		return readRecordArray(r, s)
	case spreads(first):
		return readRecordSequence(r, s)
	}
	l := &lines{r: r, s: s}
	return l.each(func(line []byte) error {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			return nil
		}
		return recordOf(line, l.n, s)
	})
}

// spreads reports whether the first object goes on behind its first line.
func spreads(text []byte) bool {
	value, complete := firstValue(text)
	return complete && len(value) > 0 && value[0] == '{' && bytes.IndexByte(value, '\n') >= 0
}

func readRecordArray(r *bufio.Reader, s *sink) error {
	st := newStream(r)
	if err := st.array(func() error { return nextRecord(st, s) }); err != nil {
		return err
	}
	s.stats.Lines = st.line
	return st.end()
}

func readRecordSequence(r *bufio.Reader, s *sink) error {
	st := newStream(r)
	defer func() { s.stats.Lines = st.line }()
	for {
		if _, err := st.peek(); errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err := nextRecord(st, s); err != nil {
			return err
		}
	}
}

func nextRecord(st *stream, s *sink) error {
	if _, err := st.peek(); err != nil {
		return err
	}
	line := st.line
	text, cut, err := st.raw(s.o.MaxLine)
	if err != nil {
		return err
	}
	if cut {
		s.skip(line, "a record longer than the bound of a line")
		return nil
	}
	return recordOf(text, line, s)
}

// recordOf hands on the call of one record.
func recordOf(text []byte, line int, s *sink) error {
	f, err := walkRecord(text)
	if err != nil {
		s.skip(line, err.Error())
		return nil
	}
	method, target, ok := f.call()
	s.records++
	if len(target) > 0 {
		s.named++
	}
	switch {
	case !ok:
		s.skip(line, "a string of the record has a broken escape")
		return nil
	case len(target) == 0 || !isTarget(target) || !s.keeps(target):
		return nil
	case !json.Valid(text):
		s.skip(line, errRecord.Error())
		return nil
	case !isMethod(bytes.ToUpper(method)):
		s.skip(line, "the record names a path and no method")
		return nil
	}
	return s.give(Call{Method: strings.ToUpper(string(method)), URL: string(target), Line: line})
}

// call returns method and target of a record. A request line ("GET /path
// HTTP/1.1") serves where the single members are missing.
func (f found) call() (method, target []byte, ok bool) {
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
