package scan

import "strings"

// joins are the operators that put strings together: of most languages, of Lua,
// of Elixir, of Haskell, of Visual Basic, of SQL, of PHP and Perl.
var joins = []string{"..", "<>", "++", "||", "+", "&", "~", "."}

// joinLimit bounds the expression between two literals that are joined.
const joinLimit = 120

// joined returns the literal from i to end, with those that are joined to it on
// the same line, and where they end. What stands between them is open.
func (l *literals) joined(line string, i, end int) (string, int) {
	var text strings.Builder
	text.WriteString(unescaped(line[i+1 : end]))
	next := end + 1
	for text.Len() < longestLiteral {
		at, open, ok := joinedAt(line, next)
		if !ok {
			break
		}
		close := closes(line, at)
		if close < 0 {
			break
		}
		if open {
			text.WriteString(opened)
		}
		text.WriteString(unescaped(line[at+1 : close]))
		next = close + 1
	}
	if strings.HasSuffix(text.String(), "/") && operator(strings.TrimLeft(line[next:], " \t")) > 0 {
		text.WriteString(opened) // "/zones/" + id
	}
	return text.String(), next
}

// joinedAt finds the literal that an operator joins to one that ended before i:
// directly, or with an expression between two operators.
func joinedAt(line string, i int) (at int, open, ok bool) {
	i = behindSpace(line, i)
	n := operator(line[i:])
	if n == 0 {
		return 0, false, false
	}
	i = behindSpace(line, i+n)
	if i < len(line) && isQuote(line, i) {
		return i, false, true
	}
	for end, depth := min(len(line), i+joinLimit), 0; i < end; i++ {
		switch c := line[i]; {
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case depth == 0 && (c == ',' || c == ';'):
			return 0, false, false
		}
		if depth < 0 {
			return 0, false, false
		}
		if n := operator(line[i:]); depth == 0 && n > 0 {
			if at := behindSpace(line, i+n); at < len(line) && isQuote(line, at) {
				return at, true, true
			}
		}
	}
	return 0, false, false
}

func behindSpace(line string, i int) int {
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	return i
}

func operator(s string) int {
	for _, op := range joins {
		if strings.HasPrefix(s, op) {
			return len(op)
		}
	}
	return 0
}

// unescaped undoes the escapes that matter to an address.
func unescaped(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch text[i] {
		case '/', '"', '\'', '\\', '`', '$', '#':
			b.WriteByte(text[i])
		case 'n', 'r', 't':
			b.WriteByte(' ')
		default:
			b.WriteString(text[i-1 : i+1]) // \( of Swift among them
		}
	}
	return b.String()
}

// give hands on the words of a literal that can be addresses.
func (l *literals) give(text string) error {
	for len(text) > 0 {
		word, rest := nextWord(text)
		text = rest
		if strings.IndexByte(word, '/') < 0 || len(word) > longestLiteral || strings.HasPrefix(word, "HTTP/") {
			continue
		}
		address, ok := normal(word)
		if !ok {
			continue
		}
		if err := l.found(l.n, address); err != nil {
			return err
		}
	}
	return nil
}

// giveBare takes the words of a line that stand without quotes, up to a comment.
func (l *literals) giveBare(outside string) error {
	text := outside
	if i := strings.Index(" "+text, " #"); i >= 0 {
		text = text[:i]
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\"'`;|<>=,()", r) && r != '=' }) {
		if name, value, ok := strings.Cut(word, "="); ok && isName(name) {
			word = value // URL=https://…
		}
		if err := l.give(word); err != nil {
			return err
		}
	}
	return nil
}

// nextWord cuts a text at the first space outside of braces: ${ zone.id } is one
// word.
func nextWord(text string) (word, rest string) {
	text = strings.TrimLeft(text, " ")
	for i := 0; i < len(text); i++ {
		if text[i] == ' ' {
			return text[:i], text[i+1:]
		}
		if text[i] == '{' || text[i] == '(' {
			if n := placeholder(text[max(0, i-1):]); n > 1 && (i == 0 || text[i-1] != ' ') {
				i += n - 2
			} else if n := placeholder(text[i:]); n > 0 {
				i += n - 1
			}
		}
	}
	return text, ""
}
