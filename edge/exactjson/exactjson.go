// Package exactjson finds JSON that readers understand differently: a key that stands twice
// in an object, of which encoding/json takes the last, and text that is not Unicode, which it
// replaces. What decides about protection must not rest on such text.
//
//	if err := exactjson.Check(data); err != nil { … }    // data is JSON: something else has checked that
//
// It reads once, allocates nothing for usual text, and knows nothing of what is described.
// It imports the standard library only.
package exactjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Error is a place that readers understand differently.
type Error struct {
	Offset int // in bytes, from 0
	Reason string
}

func (e *Error) Error() string { return e.Reason }

// Place returns the line and the column of an offset in a text, from 1; columns count bytes.
func Place(data []byte, offset int) (line, column int) {
	before := data[:min(max(offset, 0), len(data))]
	return 1 + bytes.Count(before, []byte{'\n'}), len(before) - bytes.LastIndexByte(before, '\n')
}

// Check returns an [*Error] for the first such place, nil where there is none. Keys count as
// equal where encoding/json takes them for the same member of a struct: by letters, whatever
// their case. Text that is not JSON gets no promise.
func Check(data []byte) error { return Members(data, func(_, _ []byte) {}) }

// Members is Check, and calls member with each member of the object that a text is: its name
// and its value, which are parts of the text but for a name with escapes. What it has been
// called with means nothing where there is an error.
func Members(data []byte, member func(name, value []byte)) error {
	if !utf8.Valid(data) {
		return &Error{invalidAt(data), "the text is not valid UTF-8"}
	}
	s := scanners.Get().(*scanner) //nolint:forcetypeassert // nothing else is put there
	s.data = data
	defer s.end()
	value := 0 // where that of a member of the whole begins
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{':
			s.objects, s.key = append(s.objects, len(s.keys)), true
		case '[':
			s.objects, s.key = append(s.objects, noObject), false
		case ':':
			if s.whole() {
				value = i + 1
			}
		case '}', ']', ',':
			if s.whole() && len(s.keys) > 0 {
				member(s.keys[len(s.keys)-1], bytes.TrimSpace(data[value:i]))
			}
			s.part(data[i])
		case '"':
			end, err := s.text(i)
			if err != nil {
				return err
			}
			i = end
		}
	}
	return nil
}

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(data)
}

// noObject stands for an array among objects.
const noObject = -1

// manyKeys is how many keys an object has before they are looked up in a map.
const manyKeys = 24

// scanner is where a check has come to.
type scanner struct {
	data    []byte
	key     bool              // the next string is a key
	objects []int             // the open ones, each by its first key in keys; arrays are noObject
	keys    [][]byte          // of the open objects, without quotes
	seen    []map[string]bool // by depth: the folded keys of an object with many; nil for others
}

// scanners are those that are done, with their memory.
var scanners = sync.Pool{New: func() any { return &scanner{} }}

// mostKept is how many keys a scanner has room for that is used again.
const mostKept = 256

// end forgets the text.
func (s *scanner) end() {
	if max(cap(s.keys), cap(s.seen), cap(s.objects)) > mostKept {
		return
	}
	clear(s.keys[:cap(s.keys)])
	clear(s.seen)
	*s = scanner{objects: s.objects[:0], keys: s.keys[:0], seen: s.seen[:0]}
	scanners.Put(s)
}

// whole reports whether the object that is open is the whole text.
func (s *scanner) whole() bool { return len(s.objects) == 1 && s.objects[0] != noObject }

// part comes behind a part of an object or an array: what opens the next, or closes it.
func (s *scanner) part(c byte) {
	if c == ',' {
		s.key = len(s.objects) > 0 && s.objects[len(s.objects)-1] != noObject
		return
	}
	s.leave()
}

func (s *scanner) leave() {
	depth := len(s.objects) - 1
	if depth < 0 {
		return
	}
	if first := s.objects[depth]; first != noObject {
		s.keys = s.keys[:first]
	}
	if depth < len(s.seen) {
		s.seen[depth] = nil
	}
	s.objects, s.key = s.objects[:depth], false
}

// text looks at the string that begins with the quote at an offset, and returns where it
// ends.
func (s *scanner) text(begin int) (end int, err error) {
	escaped := false
	end = begin + 1
	for {
		next := bytes.IndexByte(s.data[end:], '"')
		if next < 0 {
			return len(s.data), nil // cut short
		}
		part := s.data[end : end+next]
		end += next
		back := len(part) - len(bytes.TrimRight(part, `\`))
		if !escaped && bytes.IndexByte(part, '\\') >= 0 {
			escaped = true
		}
		if back%2 == 0 {
			break
		}
		end++
	}
	word := s.data[begin+1 : end]
	if escaped {
		if word, err = unescaped(word, begin); err != nil {
			return end, err
		}
	}
	if s.key {
		s.key, err = false, s.add(word, begin)
	}
	return end, err
}

// unescaped is a string without its escapes. A half of a pair of surrogates is none of
// Unicode.
func unescaped(word []byte, begin int) ([]byte, error) {
	var plain string
	if err := json.Unmarshal(append(append([]byte{'"'}, word...), '"'), &plain); err != nil {
		return word, nil //nolint:nilerr // it is not JSON, which is for the decoder to say
	}
	written := bytes.Count(word, []byte("\uFFFD")) + strings.Count(strings.ToLower(string(word)), `\ufffd`)
	if strings.Count(plain, "\uFFFD") > written {
		return nil, &Error{begin, "a string has half of a surrogate pair, which is not Unicode"}
	}
	return []byte(plain), nil
}

// add takes note of a key of the object that is open, and fails where it has it already.
func (s *scanner) add(key []byte, begin int) error {
	depth := len(s.objects) - 1
	if depth < 0 || s.objects[depth] == noObject {
		return nil
	}
	have := s.keys[s.objects[depth]:]
	if s.twice(have, key, depth) {
		return &Error{begin, fmt.Sprintf("the key %q stands twice in an object", shortened(key))}
	}
	s.keys = append(s.keys, key)
	return nil
}

func (s *scanner) twice(have [][]byte, key []byte, depth int) bool {
	if len(have) < manyKeys {
		for _, other := range have {
			if sameKey(other, key) {
				return true
			}
		}
		return false
	}
	for len(s.seen) <= depth {
		s.seen = append(s.seen, nil)
	}
	if s.seen[depth] == nil {
		s.seen[depth] = make(map[string]bool, 2*manyKeys)
		for _, other := range have {
			s.seen[depth][folded(other)] = true
		}
	}
	name := folded(key)
	there := s.seen[depth][name]
	s.seen[depth][name] = true
	return there
}

// sameKey compares by simple folding, as encoding/json does.
func sameKey(a, b []byte) bool {
	if len(a) > 0 && len(b) > 0 && a[0] < utf8.RuneSelf && b[0] < utf8.RuneSelf && a[0]|0x20 != b[0]|0x20 {
		return false // nearly all pairs
	}
	return bytes.EqualFold(a, b)
}

// folded is the same for keys that are equal by simple folding.
func folded(key []byte) string { return strings.Map(smallest, string(key)) }

// smallest is the smallest of the letters that are equal by simple folding.
func smallest(r rune) rune {
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}

// shortened keeps an error in one line.
func shortened(key []byte) []byte { return key[:min(len(key), 60)] }
