package source

import (
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/shell"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// makefile is what a Makefile sets, and the commands of its recipes as they are written.
type makefile struct {
	makeVars
	recipes []shell.Script
}

var (
	makeAssigns = lazyregexp.New(`^\s*(?:(?:export|override|private)\s+)*([A-Za-z0-9_.\-]+)\s*(:{0,3}=|\?=|\+=|!=)\s*(.*)$`)
	makeDefines = lazyregexp.New(`^\s*(?:(?:export|override)\s+)*define\s+([A-Za-z0-9_.\-]+)`)
	makeRule    = lazyregexp.New(`^[^=;#]*:(?:[^=:;]|$)[^=;]*;(.*)$`) // target: prerequisites; command
)

// makeCalls hands on the calls of a Makefile: those of its recipes and of the commands that
// it sets variables to, and the addresses that it sets without using them itself.
func makeCalls(c Code, out *call.Sink) {
	m := &makefile{makeVars: newMakeVars(c.Text)}
	m.read(strings.Split(strings.ReplaceAll(c.Text, "\r\n", "\n"), "\n"), c.Line)
	environment := m.environment()
	for _, r := range m.recipes {
		m.shells(r.Text, r.Line, out)
		shell.Text(shell.Script{Text: withoutPrefix(m.expand(r.Text, nil)), Line: r.Line, Vars: environment}, out)
	}
	for _, v := range m.order {
		m.unused(v, out)
	}
}

// shells hands on the calls of the commands within $(shell …).
func (m *makefile) shells(text string, line int, out *call.Sink) {
	const begin = "(shell "
	for {
		before, _, found := strings.Cut(text, "$"+begin)
		if !found {
			return
		}
		line += strings.Count(before, "\n")
		text = text[len(before)+1:]
		n := referenceLength(text)
		shell.Text(shell.Script{Text: m.expand(strings.TrimSuffix(text[len(begin):n], ")"), nil), Line: line}, out)
		line += strings.Count(text[:n], "\n")
		text = text[n:]
	}
}

// read takes the lines of a Makefile apart. The lines of a recipe are one script.
func (m *makefile) read(lines []string, line int) {
	recipe := false // the line before belongs to one
	for i := 0; i < len(lines); {
		n := continued(lines[i:])
		piece, at := lines[i:i+n], line+i
		i += n
		if strings.HasPrefix(piece[0], "\t") {
			text := withoutPrefix(strings.ReplaceAll(strings.Join(piece, "\n"), "\n\t", "\n"))
			if recipe {
				m.recipes[len(m.recipes)-1].Text += "\n" + text
			} else {
				m.recipes = append(m.recipes, shell.Script{Text: text, Line: at})
			}
			recipe = true
			continue
		}
		recipe = false
		if head := makeDefines().FindStringSubmatch(piece[0]); head != nil {
			if end := slices.IndexFunc(lines[i:], func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "endef") }); end >= 0 {
				m.assign(head[1], "=", oneLine(lines[i-n+1:i+end]), at)
				i += end + 1
			}
			continue
		}
		m.statement(strings.Join(piece, " "), at)
	}
}

// continued is over how many lines a line goes: one that ends with a backslash goes on.
func continued(lines []string) int {
	for i, line := range lines {
		if !strings.HasSuffix(line, `\`) {
			return i + 1
		}
	}
	return len(lines)
}

// oneLine is the text of a definition as one line: commands with a semicolon between them,
// or a body as it stands.
func oneLine(lines []string) string {
	text := strings.TrimSpace(strings.ReplaceAll(strings.Join(lines, "\n"), "\\\n", " "))
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return strings.ReplaceAll(text, "\n", " ")
	}
	var commands []string
	for one := range strings.SplitSeq(text, "\n") {
		if one = withoutPrefix(one); one != "" && one[0] != '#' {
			commands = append(commands, one)
		}
	}
	return strings.Join(commands, " ; ")
}

// statement takes a line that is no recipe's.
func (m *makefile) statement(text string, line int) {
	text = strings.ReplaceAll(text, `\ `, " ")
	if i := strings.Index(" "+text, " #"); i >= 0 {
		text = text[:i]
	}
	if a := makeAssigns().FindStringSubmatch(text); a != nil {
		m.assign(a[1], a[2], strings.TrimSpace(a[3]), line)
	} else if r := makeRule().FindStringSubmatch(text); r != nil {
		m.recipes = append(m.recipes, shell.Script{Text: r[1], Line: line})
	}
}

// withoutPrefix cuts off what make takes from the beginning of a command: @, - and +.
func withoutPrefix(text string) string { return strings.TrimLeft(text, " \t@-+") }

// unused hands on what a variable holds that no recipe here uses: a command, which another
// file may use, or addresses. The commands whose output it is set to run in any case.
func (m *makefile) unused(v *makeVar, out *call.Sink) {
	m.shells(v.text, v.line, out)
	used := v.used
	switch text := withoutPrefix(m.expand(v.text, nil)); {
	case v.runs, !used && shell.HasCalls(text):
		shell.Text(shell.Script{Text: text, Line: v.line}, out)
	case !used:
		for address := range call.Addresses(text) {
			out.Literal(call.Call{URL: address, Line: v.line})
		}
	}
}
