package scan

import (
	"bytes"
	"strings"
)

// Bounds that keep a script from growing without end: A=$A$A doubles.
const (
	longestVar  = 1 << 10
	mostVars    = 1 << 12
	mostGrowth  = 1 << 20
	longestName = 64
)

// dollar reads what begins with a dollar sign or a back quote: a variable, or the
// output of a command, which is open and whose calls count.
func (s *script) dollar(w *shellWord, quoted bool) bool {
	if s.src[s.pos] == '`' {
		return s.backQuoted(w)
	}
	s.pos++
	if s.pos == len(s.src) {
		w.text.WriteByte('$')
		return true
	}
	switch c := s.src[s.pos]; {
	case c == '(':
		return s.substitution(w)
	case c == '{':
		return s.braced(w, quoted)
	case c == '\'' && !quoted:
		s.pos++
		w.quoted = true
		return s.ansi(w)
	case c == '"' && !quoted:
		return true // $"…": translated text
	case strings.IndexByte("@*#?$!-0123456789", c) >= 0:
		s.pos++
		w.text.WriteString(opened)
		return true
	}
	name := s.name()
	if name == "" {
		w.text.WriteByte('$')
		return true
	}
	s.fill(w, quoted, name, opened)
	return true
}

func (s *script) name() string {
	from := s.pos
	for s.pos < len(s.src) && (isLetter(s.src[s.pos]) || s.pos > from && s.src[s.pos] >= '0' && s.src[s.pos] <= '9') {
		s.pos++
	}
	return string(s.src[from:s.pos])
}

// braced reads ${name}, and ${name:-default} and its like.
func (s *script) braced(w *shellWord, quoted bool) bool {
	length := s.bracedLength()
	if length == 0 {
		return false
	}
	inside := string(s.src[s.pos+1 : s.pos+length-1])
	s.line += strings.Count(inside, "\n")
	s.pos += length
	name := inside[:nameLength(inside)]
	rest := inside[len(name):]
	fallback := opened
	if value, ok := strings.CutPrefix(strings.TrimPrefix(rest, ":"), "-"); ok && !strings.ContainsAny(value, "$`\"'") && value != "" {
		fallback = value
	} else if rest != "" && rest[0] != ':' && rest[0] != '?' || strings.HasPrefix(rest, ":") && len(rest) > 1 && rest[1] != '?' {
		name = "" // a piece of the value, or something else made of it
	}
	s.fill(w, quoted, name, fallback)
	return true
}

// bracedLength is the length of what stands in the braces we are at, with them.
func (s *script) bracedLength() int {
	depth := 0
	for i := s.pos; i < len(s.src) && i-s.pos < mostGrowth>>6; i++ {
		switch s.src[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1 - s.pos
			}
		}
	}
	return 0
}

func nameLength(s string) int {
	n := 0
	for n < len(s) && (isLetter(s[n]) || n > 0 && s[n] >= '0' && s[n] <= '9') {
		n++
	}
	return n
}

// fill puts in the value of a variable, or what stands for it.
func (s *script) fill(w *shellWord, quoted bool, name, fallback string) {
	value, known := s.vars[name]
	if !known || name == "" {
		value = fallback
	}
	if s.grown += len(value); s.grown > mostGrowth {
		value = opened
	}
	w.split = w.split || !quoted && hasSpace(value)
	w.text.WriteString(value)
}

// substitution reads $(…): commands, or arithmetic. One that nothing closes ends
// with the script.
func (s *script) substitution(w *shellWord) bool {
	w.text.WriteString(opened)
	if s.depth >= substitutions {
		return false
	}
	inner := s.inside(s.src, s.line)
	inner.pos = s.pos + 1
	_ = inner.until(')') // it only collects: nothing fails
	s.pos, s.line = inner.pos, inner.line
	return true
}

// backQuoted reads `…`.
func (s *script) backQuoted(w *shellWord) bool {
	w.text.WriteString(opened)
	end := bytes.IndexByte(s.src[s.pos+1:], '`')
	if end < 0 || s.depth >= substitutions {
		return false
	}
	text := s.src[s.pos+1 : s.pos+1+end]
	_ = s.inside(text, s.line).run()
	s.line += bytes.Count(text, []byte("\n"))
	s.pos += end + 2
	return true
}

// inside is a script in a word of this one. Its commands wait until the word is
// known to be one: at a quote that nothing closes we go back.
func (s *script) inside(text []byte, line int) *script {
	inner := s.within(text, line)
	inner.emit = func(c command) error {
		s.queue = append(s.queue, c)
		return nil
	}
	return inner
}

// assign remembers what a line sets: NAME=value, export NAME=value.
func (s *script) assign(words []string) {
	for i, w := range words {
		name, value, ok := strings.Cut(w, "=")
		switch {
		case ok && len(name) <= longestName && name != "" && nameLength(name) == len(name):
			if len(value) > longestVar || len(s.vars) >= mostVars {
				value = opened
			}
			s.vars[strings.Clone(name)] = value
		case i == 0 && sets[w], strings.HasPrefix(w, "-") && i > 0 && sets[words[0]]:
		default:
			return
		}
	}
}

var sets = map[string]bool{"export": true, "local": true, "readonly": true, "declare": true, "typeset": true}
