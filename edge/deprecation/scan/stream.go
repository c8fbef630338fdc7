package scan

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// stream reads one JSON text value by value, in constant memory: what is not
// asked for is passed over without being kept, however long. encoding/json would
// hold every string whole. What is passed over is checked for its brackets only.
type stream struct {
	r    *bufio.Reader
	line int // the line of the next byte
	buf  []byte
}

func newStream(r *bufio.Reader) *stream { return &stream{r: r, line: 1} }

// next returns the next byte, io.ErrUnexpectedEOF at the end.
func (s *stream) next() (byte, error) {
	c, err := s.r.ReadByte()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if c == '\n' {
		s.line++
	}
	return c, err
}

func (s *stream) back(c byte) {
	if c == '\n' {
		s.line--
	}
	_ = s.r.UnreadByte() // cannot fail behind a ReadByte
}

// peek returns the next byte that is not white space and leaves it there.
func (s *stream) peek() (byte, error) {
	for {
		c, err := s.next()
		if err != nil {
			return 0, err
		}
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			s.back(c)
			return c, nil
		}
	}
}

// expect takes the next byte, which must be want.
func (s *stream) expect(want byte) error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	if c != want {
		return fmt.Errorf("line %d: expecting %q in the JSON text, found %q", s.line, want, c)
	}
	_, err = s.next()
	return err
}

// skip passes over one value, a buffer at a time: most of a capture is answers.
func (s *stream) skip() error {
	if _, err := s.peek(); err != nil {
		return err
	}
	for v := (valueEnd{}); ; {
		chunk, err := s.r.Peek(max(1, s.r.Buffered()))
		if errors.Is(err, io.EOF) {
			if v.bare {
				return nil // a number may end the text
			}
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		n, ended, err := s.skipIn(chunk, &v)
		_, _ = s.r.Discard(n) // it is buffered
		if ended || err != nil {
			return err
		}
	}
}

// skipIn returns how much of a chunk belongs to the value, and whether that ends
// there.
func (s *stream) skipIn(chunk []byte, v *valueEnd) (int, bool, error) {
	for i, c := range chunk {
		ends, behind, bad := v.step(c)
		switch {
		case bad:
			return i, false, fmt.Errorf("line %d: the JSON text is not sound at %q", s.line, c)
		case behind:
			return i, true, nil
		case c == '\n':
			s.line++
		case ends:
			return i + 1, true, nil
		}
	}
	return len(chunk), false, nil
}

// raw returns the text of one value, valid until the next call. cut says that it
// is longer than the limit and was passed over.
func (s *stream) raw(limit int) (text []byte, cut bool, err error) {
	s.buf = s.buf[:0]
	if _, err := s.peek(); err != nil {
		return nil, false, err
	}
	v := valueEnd{}
	for {
		c, err := s.next()
		if errors.Is(err, io.ErrUnexpectedEOF) && v.bare {
			break // a number may end the text
		}
		if err != nil {
			return nil, false, err
		}
		ends, behind, bad := v.step(c)
		if bad {
			return nil, false, fmt.Errorf("line %d: the JSON text is not sound at %q", s.line, c)
		}
		if behind {
			s.back(c)
			break
		}
		if len(s.buf) < limit {
			s.buf = append(s.buf, c)
		} else {
			cut = true
		}
		if ends {
			break
		}
	}
	return s.buf, cut, nil
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
		switch {
		case v.escaped:
			v.escaped = false
		case c == '\\':
			v.escaped = true
		case c == '"':
			v.quoted = false
			return v.depth == 0, false, false
		}
		return false, false, false
	}
	if v.bare && (isSpace(c) || c == ',' || c == ']' || c == '}' || c == ':') {
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
	v.bare = v.depth == 0 && !isSpace(c)
	return false, false, false
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// object calls f for each member; f must take exactly one value.
func (s *stream) object(f func(key string, line int) error) error {
	return s.list('{', '}', func() error {
		text, cut, err := s.raw(keyLimit)
		if err != nil {
			return err
		}
		key, err := unquoted(text)
		if err != nil && !cut {
			return fmt.Errorf("line %d: reading a member's name: %w", s.line, err)
		}
		line := s.line
		if err := s.expect(':'); err != nil {
			return err
		}
		return f(key, line)
	})
}

// unquoted returns the string of a JSON string's text.
func unquoted(text []byte) (s string, err error) {
	if n := len(text); n >= 2 && text[0] == '"' && text[n-1] == '"' && bytes.IndexByte(text, '\\') < 0 {
		return string(text[1 : n-1]), nil
	}
	err = json.Unmarshal(text, &s)
	return s, err
}

// keyLimit bounds the names of members that are told apart.
const keyLimit = 64 << 10

// array calls f for each element; f must take exactly one value.
func (s *stream) array(f func() error) error { return s.list('[', ']', f) }

func (s *stream) list(from, to byte, element func() error) error {
	if err := s.expect(from); err != nil {
		return err
	}
	if c, err := s.peek(); err != nil || c == to {
		_, _ = s.next()
		return err
	}
	for {
		if err := element(); err != nil {
			return err
		}
		c, err := s.peek()
		if err != nil {
			return err
		}
		_, _ = s.next()
		switch c {
		case to:
			return nil
		case ',':
		default:
			return fmt.Errorf("line %d: expecting a comma or %q in the JSON text, found %q", s.line, to, c)
		}
	}
}

// end checks that nothing but white space is left.
func (s *stream) end() error {
	c, err := s.peek()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("line %d: %q follows the end of the JSON text", s.line, c)
}

// firstValue returns the first JSON value of a text, and whether it is complete.
func firstValue(text []byte) ([]byte, bool) {
	v := valueEnd{}
	for i, c := range text {
		ends, _, bad := v.step(c)
		if bad {
			return text[:i], false
		}
		if ends {
			return text[:i+1], true
		}
	}
	return text, false
}

// topKeys returns the members of an object's text, as far as it goes.
func topKeys(text []byte) map[string]bool {
	keys := map[string]bool{}
	s := newStream(bufio.NewReader(bytes.NewReader(text)))
	// An object that is cut short or broken still shows the members before that.
	_ = s.object(func(key string, _ int) error {
		keys[key] = true
		return s.skip()
	})
	return keys
}
