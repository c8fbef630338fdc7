package call

import "strings"

// Placeholders writes "{}" for every piece of a text that a program fills in:
// {id}, {{id}}, ${id}, #{id}, $id, $1, $(…), \(id), %s, %d, %(id)s, <id>, @{id}.
func Placeholders(text string) string {
	if !strings.ContainsAny(text, `{$%<\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		n := Placeholder(text[i:])
		if n == 0 {
			b.WriteByte(text[i])
			i++
			continue
		}
		b.WriteString(Open)
		i += n
	}
	return b.String()
}

// Placeholder returns the length of the one that a text begins with, 0 if none.
func Placeholder(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[0] {
	case '{':
		return enclosed(s, '{', '}')
	case '#', '@':
		return behind(1, enclosed(s[1:], '{', '}'))
	case '\\':
		return behind(1, enclosed(s[1:], '(', ')'))
	case '<':
		return angled(s)
	case '$':
		return dollar(s)
	case '%':
		return verb(s)
	}
	return 0
}

// behind is the length of something with n bytes before it, 0 if there is nothing.
func behind(n, length int) int {
	if length == 0 {
		return 0
	}
	return n + length
}

// placeholderLimit bounds how long an expression in an address may be.
const placeholderLimit = 256

// enclosed returns the length of a text in brackets, 0 if it does not begin with
// one that is closed soon.
func enclosed(s string, from, to byte) int {
	depth := 0
	for i := 0; i < len(s) && i < placeholderLimit; i++ {
		switch s[i] {
		case from:
			depth++
		case to:
			depth--
		}
		if depth == 0 {
			if i == 0 {
				return 0
			}
			return i + 1
		}
	}
	return 0
}

// angled takes <zone_id>, as documentation writes it.
func angled(s string) int {
	end := strings.IndexByte(s[:min(len(s), 64)], '>')
	if end < 2 || !IsName(strings.ReplaceAll(s[1:end], " ", "_")) {
		return 0
	}
	return end + 1
}

// dollar takes $name, $1, ${…} and $(…).
func dollar(s string) int {
	if n := enclosed(s[1:], '{', '}'); n > 0 {
		return 1 + n
	}
	if n := enclosed(s[1:], '(', ')'); n > 0 {
		return 1 + n
	}
	n := 1
	for n < len(s) && (IsLetter(s[n]) || s[n] >= '0' && s[n] <= '9') {
		n++
	}
	if n == 1 {
		return 0
	}
	return n
}

// verb takes what printf and its kin fill in: %s, %-5d, %[1]s, %1$s, %(id)s, %@. An
// escape of an address (%2F) is none.
func verb(s string) int {
	if isEscape(s) {
		return 0
	}
	if n := enclosed(s[1:], '(', ')'); n > 0 {
		if 1+n < len(s) && IsLetter(s[1+n]) {
			n++ // the letter of %(id)s
		}
		return 1 + n
	}
	if n := enclosed(s[1:], '{', '}'); n > 0 {
		return 1 + n
	}
	i := 1
	for i < len(s) && i < 12 && strings.IndexByte("-+0123456789.$[]", s[i]) >= 0 {
		i++
	}
	if i < len(s) && (IsLetter(s[i]) && s[i] != '_' || s[i] == '@') {
		return i + 1
	}
	return 0
}
