package eval

import (
	"cmp"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Wildcard tells whether a pattern matches all of a value. A star is any text; \* and \\ are
// themselves, and everything else stands for itself, in one case where fold says so: that of
// ASCII letters alone. ok is false for what is no pattern. It takes time in proportion to the
// value.
func Wildcard(pattern, value string, fold bool) (is, ok bool) {
	if fold {
		pattern, value = lower(pattern), lower(value)
	}
	var parts []string // between the stars
	var part strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*':
			if i+1 < len(pattern) && pattern[i+1] == '*' {
				return false, false
			}
			parts = append(parts, part.String())
			part.Reset()
			continue
		case c == '\\':
			if i++; i == len(pattern) || pattern[i] != '*' && pattern[i] != '\\' {
				return false, false
			}
		}
		part.WriteByte(pattern[i])
	}
	return inSequence(append(parts, part.String()), value), true
}

// inSequence reports whether a value has the first part at its start, the last at its end, and
// the others between them in order. One part is all of the value.
func inSequence(parts []string, value string) bool {
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return value == first
	}
	rest, ok := strings.CutPrefix(value, first)
	if !ok {
		return false
	}
	if rest, ok = strings.CutSuffix(rest, last); !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return true
}

// lower changes ASCII letters alone, and keeps bytes that are no text.
func lower(s string) string { return mapASCII(s, 'A', 'Z', 'a'-'A') }

func upper(s string) string { return mapASCII(s, 'a', 'z', -('a' - 'A')) }

func mapASCII(s string, from, to byte, by int) string {
	b := []byte(s)
	for i, c := range b {
		if c >= from && c <= to {
			b[i] = byte(int(c) + by)
		}
	}
	return string(b)
}

// compiled is a regular expression, and how many instructions it has.
type compiled struct {
	*regexp.Regexp
	size int
}

// compile reads a regular expression. lack is why it cannot.
func compile(pattern string) (c compiled, why string) {
	if why := foreign(pattern); why != "" {
		return c, why
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return c, err.Error()
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err == nil {
		c.size = len(program.Inst)
		c.Regexp, err = regexp.Compile(pattern)
	}
	if err != nil {
		return c, err.Error()
	}
	return c, ""
}

// matches tells whether a regular expression matches a part of a value. The platform's engine is
// Rust's without Unicode (E rhs_types/regex/imp_real.rs): where it and Go's may differ, the
// answer is not known.
func (v *evaluator) matches(pattern, value string) (is bool, lack *Lack) {
	re, known := v.regexps[pattern]
	why := ""
	if !known {
		if re, why = compile(pattern); v.regexps == nil {
			v.regexps = map[string]compiled{}
		}
		v.regexps[pattern] = re
	}
	switch {
	case re.Regexp == nil:
		return false, &Lack{Why: fmt.Sprintf("the platform may read the regular expression %q otherwise: %s", pattern, cmp.Or(why, foreign(pattern)))}
	case !isASCII(value) || strings.ContainsRune(value, '\v'):
		return false, &Lack{Why: fmt.Sprintf("the platform may read the regular expression %q otherwise: the value is not plain ASCII", pattern)}
	case !v.spend(re.size * (1 + len(value))): // which is how long it takes at most
		return false, &tooMuch
	}
	return re.MatchString(value), nil
}

// foreign is why Go may read a regular expression in another way than Rust; empty if it does not.
// The differences: Go knows \Q…\E, \C and octal escapes; Rust knows the flags x, u and R,
// classes in classes and && -- ~~ between them, {,n}, and \b{…}, and refuses other {; and without Unicode, it has bytes
// where Go has characters.
func foreign(pattern string) string {
	if !isASCII(pattern) {
		return "it is not plain ASCII"
	}
	for rest := pattern; rest != ""; {
		skip, why := 1, ""
		switch {
		case rest[0] == '\\':
			skip, why = 2, foreignEscape(rest[1:])
		case rest[0] == '[':
			skip, why = foreignClass(rest)
		case rest[0] == '{' && !counted.MatchString(rest):
			why = "{ that begins no count"
		case strings.HasPrefix(rest, "(?"):
			if flags := rest[2:][:span(rest[2:])]; strings.ContainsAny(flags, "xuR") {
				why = "the flags " + flags
			}
		}
		if why != "" {
			return why
		}
		rest = rest[min(skip, len(rest)):]
	}
	return ""
}

// foreignEscape is that for what stands behind a backslash.
func foreignEscape(rest string) string {
	if rest == "" || !strings.ContainsRune("QECpPuUxhHRXGKkZ01234567<>", rune(rest[0])) && !strings.HasPrefix(rest, "b{") {
		return ""
	}
	return fmt.Sprintf(`the escape \%c`, rest[0])
}

// foreignClass is that for a class, and how long it is.
func foreignClass(rest string) (length int, why string) {
	at := len("[")
	if strings.HasPrefix(rest[at:], "^") {
		at++
	}
	if strings.HasPrefix(rest[at:], "]") { // it stands for itself
		at++
	}
	for at < len(rest) {
		switch in := rest[at:]; {
		case in[0] == ']':
			return at + 1, ""
		case in[0] == '\\':
			if why := foreignEscape(in[1:]); why != "" {
				return at, why
			}
			at++
		case strings.HasPrefix(in, "[:") && strings.Contains(in, ":]"):
			at += strings.Index(in, ":]") + 1
		case in[0] == '[':
			return at, "a class in a class"
		case strings.HasPrefix(in, "&&"), strings.HasPrefix(in, "--"), strings.HasPrefix(in, "~~"):
			return at, "an operator in a class"
		}
		at++
	}
	return at, ""
}

// counted is how often something is repeated, as both engines write it.
var counted = regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`)

// span is the length of the flags of a group.
func span(s string) int {
	for i := range len(s) {
		if c := s[i]; c != '-' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return i
		}
	}
	return len(s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
