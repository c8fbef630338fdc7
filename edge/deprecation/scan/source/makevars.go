package source

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// makeVars are the variables of a Makefile.
type makeVars struct {
	set    map[string]*makeVar
	order  []*makeVar
	growth int // bytes that they may still add
	depth  int // of references in references
}

// makeVar is one of them. Its text is as it is written, with the references in it.
type makeVar struct {
	name, text string
	line       int
	runs       bool // != runs the text as a command
	used       bool
	busy       bool // it is being expanded, and names itself
}

// Bounds of the variables of a file.
const (
	mostMakeVars = 1 << 12
	longestBody  = 1 << 16
)

// newMakeVars returns those of a file before its first line. What they make of a text is
// bounded: A = $(B)$(B) doubles it.
func newMakeVars(text string) makeVars {
	return makeVars{set: map[string]*makeVar{}, growth: 64*len(text) + 1<<20}
}

// assign sets a variable as an operator of make does.
func (m *makeVars) assign(name, op, text string, line int) {
	v := m.set[name]
	switch {
	case v == nil:
		v = &makeVar{name: name}
		if len(m.order) < mostMakeVars {
			m.set[name] = v
			m.order = append(m.order, v)
		}
	case op == "?=":
		return
	case op == "+=":
		text = v.text + " " + text
	default: // A := $(A) more
		text = strings.NewReplacer("$("+name+")", v.text, "${"+name+"}", v.text).Replace(text)
	}
	if len(text) > longestBody {
		text = "" // open
	}
	v.text, v.line, v.runs = text, line, op == "!="
}

// environment is what commands may have of the variables in their environment.
func (m *makeVars) environment() map[string]string {
	values := map[string]string{}
	for _, v := range m.order {
		if text := m.value(v.name, nil); text != call.Open {
			values[v.name] = text
		}
	}
	for _, v := range m.order {
		v.used = false
	}
	return values
}

// expand fills in what a text refers to: $(NAME), ${NAME}, $@ and its like; $$ is a dollar
// sign. What is not known is open. args are those of $(call …).
func (m *makeVars) expand(text string, args []string) string {
	var b strings.Builder
	for {
		before, after, more := strings.Cut(text, "$")
		b.WriteString(before)
		if !more || after == "" {
			return b.String()
		}
		n := referenceLength(after)
		switch inner := after[:n]; {
		case inner == "$":
			b.WriteByte('$')
		case n > 1:
			b.WriteString(m.reference(inner[1:n-1], args))
		default:
			b.WriteString(m.value(inner, args))
		}
		text = after[n:]
	}
}

// referenceLength is how long a reference is behind its dollar sign: (…), {…}, or one
// character.
func referenceLength(text string) int {
	closing := map[byte]byte{'(': ')', '{': '}'}[text[0]]
	if closing == 0 {
		return 1
	}
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case text[0]:
			depth++
		case closing:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// reference is what $(…) stands for: a variable, or what a function makes.
func (m *makeVars) reference(inner string, args []string) string {
	m.depth++
	defer func() { m.depth-- }()
	function, rest, calls := strings.Cut(inner, " ")
	switch {
	case m.depth > deepest:
		return call.Open
	case !calls:
		return m.value(inner, args)
	case function == "call":
		given := strings.Split(rest, ",")
		for i, arg := range given {
			given[i] = m.expand(arg, args)
		}
		return m.value(strings.TrimSpace(given[0]), given[1:])
	}
	return call.Open
}

// clientVars are variables that people name the clients by and leave to the environment.
var clientVars = map[string]string{"CURL": "curl", "WGET": "wget"}

// value is what a variable stands for; open where it is not set here or is empty: the
// command line or the environment may say it.
func (m *makeVars) value(name string, args []string) string {
	if n, err := strconv.Atoi(name); err == nil && n > 0 && n <= len(args) {
		return args[n-1]
	}
	v := m.set[name]
	if v == nil || v.text == "" || v.busy || m.growth < 0 {
		return cmp.Or(clientVars[name], call.Open)
	}
	v.busy, v.used = true, true
	text := m.expand(v.text, args)
	v.busy = false
	m.growth -= len(text)
	return text
}
