package source

import (
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/shell"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// makefile is what a Makefile sets, and the commands of its recipes as they are written.
type makefile struct {
	makeVars
	recipes []shell.Script
	prefix  string // of the lines of a recipe
	whole   bool   // .ONESHELL: a recipe is one script
}

var (
	makeAssigns = lazyregexp.New(`^\s*((?:(?:export|override|private)\s+)*)([A-Za-z0-9_.\-]+)\s*(:{0,3}=|\?=|\+=|!=)\s*(.*)$`)
	makeExports = lazyregexp.New(`^\s*export((?:\s+[A-Za-z0-9_.\-]+)*)\s*$`)
	makeDefines = lazyregexp.New(`^\s*((?:(?:export|override)\s+)*)define\s+([A-Za-z0-9_.\-]+)`)
	makeEndef   = lazyregexp.New(`^\s*endef\b`)
	makeRule    = lazyregexp.New(`^[^=;#]*:(?:[^=:;]|$)[^=;]*;(.*)$`) // target: prerequisites; command
)

// makeCalls hands on the calls of a Makefile: those of its recipes and of the commands that
// it sets variables to, and the addresses that it sets without using them itself.
func makeCalls(c Code, out *call.Sink) error {
	m := &makefile{makeVars: newMakeVars(c.Text), prefix: "\t", whole: strings.Contains("\n"+c.Text, "\n.ONESHELL")}
	m.read(strings.Split(strings.ReplaceAll(c.Text, "\r\n", "\n"), "\n"), c.Line)
	exports := m.exports()
	for _, r := range m.recipes {
		r.Vars = exports
		if err := m.run(r, out); err != nil {
			return err
		}
	}
	for _, v := range m.order {
		if err := m.unused(v, out); err != nil {
			return err
		}
	}
	return nil
}

// read takes the lines of a Makefile apart.
func (m *makefile) read(lines []string, line int) {
	recipe := false // the line before belongs to one
	for i := 0; i < len(lines); {
		n := continued(lines[i:])
		piece, at := lines[i:i+n], line+i
		i += n
		switch {
		case strings.HasPrefix(piece[0], m.prefix):
			m.command(piece, at, recipe && m.whole)
			recipe = true
			continue
		case makeDefines().MatchString(piece[0]):
			i += m.define(lines[i-n:], at) - n
		default:
			m.statement(strings.Join(piece, " "), at)
		}
		recipe = false
	}
}

// continued is over how many lines a line goes: one that ends with a backslash goes on.
func continued(lines []string) int {
	for i, line := range lines {
		slashes := len(line) - len(strings.TrimRight(line, `\`))
		if slashes%2 == 0 {
			return i + 1
		}
	}
	return len(lines)
}

// command takes a line of a recipe, which may go over several.
func (m *makefile) command(piece []string, line int, goesOn bool) {
	lines := make([]string, len(piece))
	for i, text := range piece {
		lines[i] = strings.TrimPrefix(text, m.prefix)
	}
	text := strings.Join(lines, "\n")
	if last := len(m.recipes) - 1; goesOn && last >= 0 {
		m.recipes[last].Text += "\n" + text
		return
	}
	m.recipes = append(m.recipes, shell.Script{Text: text, Line: line})
}

// define takes a variable of several lines, and returns how many they are with its ends.
func (m *makefile) define(lines []string, line int) int {
	head := makeDefines().FindStringSubmatch(lines[0])
	for n := 1; n < len(lines); n++ {
		if makeEndef().MatchString(lines[n]) {
			m.assign(head[2], "=", oneLine(lines[1:n]), line).exported = strings.Contains(head[1], "export")
			return n + 1
		}
	}
	return 1
}

// oneLine is the text of a definition as one line: commands with a semicolon between them,
// or a body as it stands.
func oneLine(lines []string) string {
	text := strings.TrimSpace(strings.Join(lines, "\n"))
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return strings.Join(lines, " ")
	}
	var commands []string
	for i := 0; i < len(lines); {
		n := continued(lines[i:])
		one := withoutPrefix(strings.ReplaceAll(strings.Join(lines[i:i+n], "\n"), "\\\n", " "))
		if one != "" && one[0] != '#' {
			commands = append(commands, one)
		}
		i += n
	}
	return strings.Join(commands, " ; ")
}

// statement takes a line that is no recipe's.
func (m *makefile) statement(text string, line int) {
	text = strings.ReplaceAll(text, `\ `, " ")
	if i := strings.Index(" "+text, " #"); i >= 0 {
		text = text[:i]
	}
	switch a := makeAssigns().FindStringSubmatch(text); {
	case a == nil:
	case a[2] == ".RECIPEPREFIX" && a[4] != "":
		m.prefix = a[4][:1]
		return
	default:
		v := m.assign(a[2], a[3], strings.TrimSpace(a[4]), line)
		v.exported = v.exported || strings.Contains(a[1], "export")
		return
	}
	if e := makeExports().FindStringSubmatch(text); e != nil {
		m.export(strings.Fields(e[1]))
	} else if r := makeRule().FindStringSubmatch(text); r != nil {
		m.recipes = append(m.recipes, shell.Script{Text: r[1], Line: line})
	}
}

// run hands on the calls of a command of a recipe.
func (m *makefile) run(s shell.Script, out *call.Sink) error {
	inner := m.shells(s.Text)
	s.Text = withoutPrefix(m.expand(s.Text, nil))
	if err := shell.Text(s, out); err != nil {
		return err
	}
	for _, text := range inner {
		if err := shell.Text(shell.Script{Text: text, Line: s.Line}, out); err != nil {
			return err
		}
	}
	return nil
}

// withoutPrefix cuts off what make takes from the beginning of a command: @, - and +, and a
// variable that stands for one of them, as in $(Q)curl.
func withoutPrefix(text string) string {
	return makePrefixed.Replace(strings.TrimLeft(text, " \t@-+"))
}

var makePrefixed = strings.NewReplacer(call.Open+"curl ", "curl ", call.Open+"wget ", "wget ", " @curl ", " curl ", " @wget ", " wget ")

// unused hands on what a variable holds that no recipe here uses: a command, which another
// file may use, or addresses. The commands whose output it is set to run in any case.
func (m *makefile) unused(v *makeVar, out *call.Sink) error {
	commands := m.shells(v.text)
	text := v.text
	switch {
	case v.runs:
		commands = append(commands, m.expand(text, nil))
	case v.used:
	case shell.HasCalls(withoutPrefix(m.expand(text, nil))):
		commands = append(commands, withoutPrefix(m.expand(text, nil)))
	default:
		for address := range call.Addresses(m.expand(text, nil)) {
			if err := out.Literal(call.Call{URL: address, Line: v.line}); err != nil {
				return err
			}
		}
	}
	for _, text := range commands {
		if err := shell.Text(shell.Script{Text: text, Line: v.line}, out); err != nil {
			return err
		}
	}
	return nil
}
