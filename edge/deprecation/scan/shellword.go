package scan

import (
	"bytes"
	"strings"
	"unicode"
)

// shellWord is a word as it is being read.
type shellWord struct {
	text   strings.Builder
	quoted bool // in part at least
	split  bool // an unquoted variable brought spaces in
}

// fields is the word, or the words that an unquoted variable makes of it:
// CURL="curl -s"; $CURL https://…
func (w *shellWord) fields() []string {
	if w.split && !w.quoted {
		return strings.Fields(w.text.String())
	}
	return []string{w.text.String()}
}

func isNumber(w *shellWord) bool {
	text := w.text.String()
	return text != "" && !w.quoted && strings.Trim(text, "0123456789") == ""
}

func hasSpace(s string) bool { return strings.ContainsAny(s, " \n\t") }

// word reads one word. It is false at a quote that nothing closes.
func (s *script) word() (*shellWord, bool) {
	w := &shellWord{}
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; c {
		case ' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>':
			return w, true
		case '\r':
			if s.pos+1 == len(s.src) || s.src[s.pos+1] == '\n' {
				return w, true
			}
			s.literal(w)
		case '\\':
			s.backslash(w)
		case '\'', '"':
			if c == '\'' && s.apostrophe(w) {
				s.literal(w)
				continue
			}
			w.quoted = true
			if !s.quote(w, c) {
				return w, false
			}
		case '$', '`':
			if !s.dollar(w, false) {
				return w, false
			}
		default:
			s.literal(w)
		}
	}
	return w, true
}

// apostrophe tells the one in "don't" from a quote: in prose it would swallow all
// that follows up to the next one.
func (s *script) apostrophe(w *shellWord) bool {
	before, after := w.text.String(), s.src[s.pos+1:]
	n := 0
	for n < len(after) && isLetter(after[n]) {
		n++
	}
	ends := n == len(after) || strings.IndexByte(" \t\r\n.,;:!?)", after[n]) >= 0
	return !w.quoted && before != "" && strings.TrimFunc(before, unicode.IsLetter) == "" && n > 0 && n <= 2 && ends
}

func (s *script) literal(w *shellWord) {
	w.text.WriteByte(s.src[s.pos])
	s.pos++
}

func (s *script) backslash(w *shellWord) {
	if s.continues() {
		return
	}
	if s.pos++; s.pos < len(s.src) {
		s.literal(w)
	}
}

// quote reads a quoted piece, from its quote to the one that closes it.
func (s *script) quote(w *shellWord, c byte) bool {
	s.pos++
	if c == '"' {
		return s.double(w, true)
	}
	end := bytes.IndexByte(s.src[s.pos:], '\'')
	if end < 0 {
		return false
	}
	s.verbatim(w, end)
	s.pos++
	return true
}

// verbatim takes n bytes as they stand.
func (s *script) verbatim(w *shellWord, n int) {
	piece := s.src[s.pos : s.pos+n]
	w.text.Write(piece)
	s.line += bytes.Count(piece, []byte("\n"))
	s.pos += n
}

// double reads what double quotes enclose, up to the closing one, or, in a
// here-document, to the end.
func (s *script) double(w *shellWord, closed bool) bool {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '"' && closed:
			s.pos++
			return true
		case c == '\\' && s.pos+1 < len(s.src) && strings.IndexByte("\"\\$`\n", s.src[s.pos+1]) >= 0:
			s.backslash(w)
		case c == '$' || c == '`':
			if !s.dollar(w, true) {
				return false
			}
		default:
			s.verbatim(w, 1)
		}
	}
	return !closed
}

// ansi reads $'…', with the escapes of C.
func (s *script) ansi(w *shellWord) bool {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '\'':
			s.pos++
			return true
		case c == '\\' && s.pos+1 < len(s.src):
			s.pos++
			if i := strings.IndexByte("nrtabfve", s.src[s.pos]); i >= 0 {
				w.text.WriteByte("\n\r\t\a\b\f\v\x1b"[i])
				s.pos++
				continue
			}
			s.verbatim(w, 1)
		default:
			s.verbatim(w, 1)
		}
	}
	return false
}

// redirect takes an operator such as >, 2>&1 or <<EOF, and its word.
func (s *script) redirect() {
	op := s.pos
	for s.pos < len(s.src) && s.pos-op < 3 && strings.IndexByte("<>&|", s.src[s.pos]) >= 0 {
		s.pos++
	}
	text := string(s.src[op:s.pos])
	tabs := text == "<<" && s.pos < len(s.src) && s.src[s.pos] == '-'
	if tabs {
		s.pos++
	}
	for s.pos < len(s.src) && (s.src[s.pos] == ' ' || s.src[s.pos] == '\t') {
		s.pos++
	}
	line := s.line
	w, ok := s.wholeWord()
	if !ok {
		return
	}
	switch text {
	case "<<":
		h := &heredoc{end: w.text.String(), literal: w.quoted, tabs: tabs}
		s.current.input = h
		s.waiting = append(s.waiting, h)
	case "<<<":
		s.current.input = &heredoc{text: w.text.String(), line: line, collected: true}
	}
}

// collect reads a here-document, which begins at the line we are at.
func (s *script) collect(h *heredoc) {
	h.line, h.collected = s.line, true
	var text strings.Builder
	for s.pos < len(s.src) {
		from := s.pos
		s.toLineEnd()
		line := string(trimEnd(s.src[from:s.pos]))
		if s.pos < len(s.src) {
			s.pos++
			s.line++
		}
		if h.tabs {
			line = strings.TrimLeft(line, "\t")
		}
		if line == h.end {
			break
		}
		text.WriteString(line + "\n")
	}
	h.text = text.String()
	if !h.literal {
		h.text = s.expanded(h.text)
	}
}

// expanded fills in what is known of the variables in a here-document.
func (s *script) expanded(text string) string {
	inner := s.inside([]byte(text), s.line)
	w := &shellWord{}
	if !inner.double(w, false) {
		return text
	}
	return w.text.String()
}
