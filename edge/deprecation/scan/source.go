package scan

import (
	"bytes"
	"path"
	"strings"
)

// literals finds the string literals of source code, of any language, that can be
// paths or addresses. It knows quotes and how they are escaped and joined, and no
// grammar: a quote that its line does not close is none, so that an apostrophe in
// a comment costs nothing but, at worst, the rest of its line.
type literals struct {
	found func(line int, text string) error
	n     int // the line at hand
	// closing ends a literal over several lines that we are in; empty if in none.
	closing string
	backs   bool // back quotes may enclose several lines
	bare    bool // words without quotes are literals too
}

// longestLiteral bounds what is taken for an address.
const longestLiteral = 4 << 10

// source hands every literal of a file to found.
func source(name string, text []byte, found func(line int, text string) error) (lines int, err error) {
	ext := strings.ToLower(path.Ext(name))
	l := &literals{found: found, backs: templates[ext], bare: bareWords[ext] || bareNames[strings.ToLower(path.Base(name))]}
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		l.n++
		if err := l.line(string(trimEnd(line))); err != nil {
			return l.n, err
		}
	}
	return l.n, nil
}

// templates are the languages whose back quotes enclose several lines.
var templates = words(".go .js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte .astro")

// bareWords are files in which strings mostly need no quotes, bareNames those
// that have no extension.
var (
	bareWords = words(".sh .bash .zsh .fish .ksh .yaml .yml .env .properties .ini .conf .cfg .http .rest .mk")
	bareNames = words("makefile dockerfile justfile .env jenkinsfile procfile")
)

// line goes through one line, which may begin within a literal.
func (l *literals) line(line string) error {
	if len(line) == 0 || l.closing == "" && strings.IndexByte(line, '/') < 0 && !strings.ContainsAny(line, "`'\"") {
		return nil
	}
	if l.closing != "" {
		end := strings.Index(line, l.closing)
		if end < 0 {
			return l.inside(line)
		}
		inside, n := line[:end], end+len(l.closing)
		l.closing = ""
		if err := l.inside(inside); err != nil {
			return err
		}
		line = line[n:]
	}
	return l.quoted(line)
}

// inside takes a line that lies within a literal: its words, and the literals of
// what it may quote in turn.
func (l *literals) inside(line string) error {
	closing := l.closing
	l.closing = ""
	inner := &literals{found: l.found, n: l.n, bare: true}
	err := inner.quoted(line)
	l.closing = closing
	return err
}

// quoted finds the literals of a line, each with what is joined to it.
func (l *literals) quoted(line string) error {
	unclosed := map[byte]bool{} // quotes that nothing on the rest of the line closes
	var outside strings.Builder
	for i := 0; i < len(line); {
		if !isQuote(line, i) || unclosed[line[i]] {
			outside.WriteByte(line[i])
			i++
			continue
		}
		if over, err := l.severalLines(line, i); over || err != nil {
			return err
		}
		end := closes(line, i)
		if end < 0 {
			unclosed[line[i]] = true
			outside.WriteByte(line[i])
			i++
			continue
		}
		text, next := l.joined(line, i, end)
		if err := l.give(text); err != nil {
			return err
		}
		outside.WriteByte('"')
		i = next
	}
	if !l.bare {
		return nil
	}
	return l.giveBare(outside.String())
}

// severalLines notes a literal that goes on behind the line, and takes its
// beginning.
func (l *literals) severalLines(line string, i int) (bool, error) {
	quote := line[i : i+1]
	if strings.HasPrefix(line[i:], strings.Repeat(quote, 3)) && quote != "`" {
		quote = strings.Repeat(quote, 3)
	} else if quote != "`" || !l.backs {
		return false, nil
	}
	rest := line[i+len(quote):]
	if strings.Contains(rest, quote) {
		return false, nil // closed on its line: as any other
	}
	l.closing = quote
	return true, l.inside(rest)
}

// isQuote reports whether a literal may begin at i. An apostrophe behind a letter
// (don't) begins none, unless the letters are a prefix such as Python's f.
func isQuote(line string, i int) bool {
	switch line[i] {
	case '"', '`':
		return true
	case '\'':
		from := i
		for from > 0 && (isLetter(line[from-1]) || line[from-1] >= '0' && line[from-1] <= '9') && i-from < 4 {
			from--
		}
		switch strings.ToLower(line[from:i]) {
		case "", "f", "r", "b", "u", "fr", "rf", "br", "rb", "l", "s", "raw", "d", "h":
			return true
		}
	}
	return false
}

// closes returns where the literal that begins at i ends, -1 if not on this line.
func closes(line string, i int) int {
	quote := line[i]
	for j := i + 1; j < len(line); j++ {
		switch {
		case line[j] == '\\':
			j++
		case line[j] == quote:
			return j
		case (line[j] == '$' || line[j] == '#') && j+1 < len(line) && line[j+1] == '{':
			// An expression may quote: `/zones/${ids["a"]}`.
			if n := enclosed(line[j+1:], '{', '}'); n > 0 {
				j += n
			}
		}
	}
	return -1
}
