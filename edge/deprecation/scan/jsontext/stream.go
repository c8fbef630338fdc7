// Package jsontext reads JSON value by value, in constant memory.
package jsontext

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Stream reads one JSON text value by value, in constant memory: what is not
// asked for is passed over without being kept, however long. encoding/json would
// hold every string whole. What is passed over is checked for its brackets only.
type Stream struct {
	r    *bufio.Reader
	Line int // the line of the next byte
	buf  []byte
}

// New returns a stream at the first line of a text.
func New(r *bufio.Reader) *Stream { return &Stream{r: r, Line: 1} }

// Peek returns the next byte that is not white space and leaves it there;
// io.ErrUnexpectedEOF at the end.
func (s *Stream) Peek() (byte, error) {
	for {
		next, err := s.r.Peek(1)
		switch {
		case errors.Is(err, io.EOF):
			return 0, io.ErrUnexpectedEOF
		case err != nil:
			return 0, err
		case !IsSpace(next[0]):
			return next[0], nil
		case next[0] == '\n':
			s.Line++
		}
		s.take()
	}
}

// take takes the byte that was peeked at.
func (s *Stream) take() { _, _ = s.r.Discard(1) }

// Expect takes the next byte, which must be want.
func (s *Stream) Expect(want byte) error {
	c, err := s.Peek()
	if err != nil {
		return err
	}
	if c != want {
		return fmt.Errorf("line %d: expecting %q in the JSON text, found %q", s.Line, want, c)
	}
	s.take()
	return nil
}

// Skip passes over one value.
func (s *Stream) Skip() error {
	_, _, err := s.Raw(0)
	return err
}

// Raw returns the text of one value, valid until the next call. cut says that it
// is longer than the limit: the rest was passed over, a buffer at a time, since most of a
// capture is answers.
func (s *Stream) Raw(limit int) (text []byte, cut bool, err error) {
	s.buf = s.buf[:0]
	if _, err := s.Peek(); err != nil {
		return nil, false, err
	}
	for v := (valueEnd{}); ; {
		chunk, err := s.r.Peek(max(1, s.r.Buffered()))
		if errors.Is(err, io.EOF) && v.bare {
			return s.buf, cut, nil // a number may end the text
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, false, err
		}
		n, ended, err := s.within(chunk, &v)
		kept := min(n, limit-len(s.buf))
		s.buf, cut = append(s.buf, chunk[:kept]...), cut || kept < n
		_, _ = s.r.Discard(n) // it is buffered
		if ended || err != nil {
			return s.buf, cut, err
		}
	}
}

// within returns how much of a chunk belongs to the value, and whether that ends
// there.
func (s *Stream) within(chunk []byte, v *valueEnd) (int, bool, error) {
	for i, c := range chunk {
		ends, behind, bad := v.step(c)
		switch {
		case bad:
			return i, false, fmt.Errorf("line %d: the JSON text is not sound at %q", s.Line, c)
		case behind:
			return i, true, nil
		case c == '\n':
			s.Line++
		case ends:
			return i + 1, true, nil
		}
	}
	return len(chunk), false, nil
}

// valueEnd finds the end of a JSON value, byte by byte.
type valueEnd struct {
	depth           int
	quoted, escaped bool
	bare            bool // within a number or a word that nothing encloses
}

// step takes one byte. ends: the value ends with it; behind: it ended before it.
func (v *valueEnd) step(c byte) (ends, behind, bad bool) {
	if v.quoted {
		return v.stepQuoted(c), false, false
	}
	if v.bare && (IsSpace(c) || c == ',' || c == ']' || c == '}' || c == ':') {
		return false, true, false
	}
	switch c {
	case '"':
		v.quoted = true
		return false, false, v.bare
	case '{', '[':
		v.depth++
		return false, false, v.bare
	case '}', ']':
		v.depth--
		return v.depth == 0, false, v.depth < 0
	case ',', ':':
		return false, false, v.depth == 0
	}
	v.bare = v.depth == 0 && !IsSpace(c)
	return false, false, false
}

// stepQuoted takes one byte of a string, and reports whether the value ends with it.
func (v *valueEnd) stepQuoted(c byte) (ends bool) {
	switch {
	case v.escaped:
		v.escaped = false
	case c == '\\':
		v.escaped = true
	case c == '"':
		v.quoted = false
		return v.depth == 0
	}
	return false
}

// IsSpace reports whether a byte is white space of JSON.
func IsSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// Object calls f for each member; f must take exactly one value.
func (s *Stream) Object(f func(key string, line int) error) error {
	return s.list('{', '}', func() error {
		text, cut, err := s.Raw(KeyLimit)
		if err != nil {
			return err
		}
		var key string
		if err := json.Unmarshal(text, &key); err != nil && !cut {
			return fmt.Errorf("line %d: reading a member's name: %w", s.Line, err)
		}
		line := s.Line
		if err := s.Expect(':'); err != nil {
			return err
		}
		return f(key, line)
	})
}

// KeyLimit bounds the names of members that are told apart.
const KeyLimit = 64 << 10

// Array calls f for each element; f must take exactly one value.
func (s *Stream) Array(f func() error) error { return s.list('[', ']', f) }

func (s *Stream) list(from, to byte, element func() error) error {
	if err := s.Expect(from); err != nil {
		return err
	}
	if c, err := s.Peek(); err != nil || c == to {
		s.take()
		return err
	}
	for {
		if err := element(); err != nil {
			return err
		}
		c, err := s.Peek()
		if err != nil {
			return err
		}
		s.take()
		switch c {
		case to:
			return nil
		case ',':
		default:
			return fmt.Errorf("line %d: expecting a comma or %q in the JSON text, found %q", s.Line, to, c)
		}
	}
}

// End checks that nothing but white space is left.
func (s *Stream) End() error {
	c, err := s.Peek()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("line %d: %q follows the end of the JSON text", s.Line, c)
}

// First returns the first JSON value of a text; false where it is cut short or broken.
func First(text []byte) ([]byte, bool) {
	value, _, err := New(bufio.NewReader(bytes.NewReader(text))).Raw(len(text))
	return value, err == nil
}

// TopKeys returns the members of an object's text, as far as it goes.
func TopKeys(text []byte) map[string]bool {
	keys := map[string]bool{}
	s := New(bufio.NewReader(bytes.NewReader(text)))
	// An object that is cut short or broken still shows the members before that.
	_ = s.Object(func(key string, _ int) error {
		keys[key] = true
		return s.Skip()
	})
	return keys
}
