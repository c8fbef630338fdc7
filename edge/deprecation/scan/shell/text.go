package shell

import (
	"errors"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// read reads a text as a script, and where it is none, line by line.
func (r *run) read(text string, at position) {
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
		at.exact = false
	}
	file, err := parse(text)
	if err != nil {
		r.byLines(text, at)
		return
	}
	r.statements(file, at)
}

// statements reads what was parsed.
func (r *run) statements(file *syntax.File, at position) {
	before := r.at
	r.at = at
	r.stmts(file.Stmts)
	r.at = before
}

var errDeep = errors.New("nested too deep")

func parse(text string) (*syntax.File, error) {
	if tooDeep(text) {
		return nil, errDeep
	}
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
}

// mostNested bounds what nests without a bracket, or by one that often stands alone: commands
// within commands, pipes, conditions, choices, indices. A script has fewer of them in all, and the
// parser and we can go as deep as this.
const mostNested = 1 << 15

// nests are the words that commands follow. So do they behind the () of a function.
var nests = call.Words("if while until for select case function time coproc")

// tooDeep counts what can nest: it may find too much, and then the text is read line by line.
func tooDeep(text string) bool {
	for _, sign := range []string{"(", "{", "[", "?", "|", "&"} {
		if strings.Count(text, sign) > mostNested {
			return true
		}
	}
	words := 0
	for w := range strings.FieldsFuncSeq(text, endsWord) {
		if nests[w] || strings.HasSuffix(w, "()") {
			words++
		}
	}
	return words > mostNested || call.TooDeep(text, "({", ")}", "-+~!")
}

func endsWord(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(";&|`", c) }

// longestPiece is how many lines a command in another text may go over.
const longestPiece = 200

// byLines reads the commands of a text that is no script: each line that names one
// of the clients or sets a variable, with as many lines behind it as it takes.
func (r *run) byLines(text string, at position) {
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); {
		n := 1
		if matters(lines[i]) {
			n = r.piece(lines[i:], position{line: at.line + i})
		}
		i += n
	}
}

// matters reports whether a line may hold a command of interest.
func matters(line string) bool {
	line = strings.TrimSpace(line)
	name, _, assigns := strings.Cut(strings.TrimPrefix(line, "export "), "=")
	return mentions(line) || assigns && syntax.ValidName(name)
}

// piece reads the command that begins at the first line, and returns over how many
// it goes.
func (r *run) piece(lines []string, at position) int {
	text := prompt().ReplaceAllString(lines[0], "")
	for n := 1; n <= min(len(lines), longestPiece) && r.parsed > 0; n++ {
		if n > 1 {
			text += lines[n-1]
		}
		r.parsed -= len(text)
		file, err := parse(text)
		wrong := syntax.ParseError{}
		switch {
		case err == nil && (n == len(lines) || !strings.HasSuffix(strings.TrimRight(text, "\n"), `\`)):
			r.statements(file, at)
			return n
		case err != nil && !(errors.As(err, &wrong) && wrong.Incomplete):
			r.cut(lines[0], at)
			return 1
		}
	}
	r.cut(lines[0], at)
	return 1
}

// cut reads what of a line can be read: from the name of a client to where it
// stops being a command.
func (r *run) cut(line string, at position) {
	found := clientIn().FindStringSubmatchIndex(line)
	if found == nil {
		return
	}
	from := found[2]
	text := strings.TrimRight(line[from:], "\n")
	if from > 0 && line[from-1] == '`' {
		text, _, _ = strings.Cut(text, "`") // `curl …` in prose
	}
	file, err := parse(text)
	if wrong := (syntax.ParseError{}); errors.As(err, &wrong) {
		r.skip(at.line, "a command that goes on in a way that no shell reads: "+wrong.Text)
		file, err = parse(text[:min(int(wrong.Pos.Offset()), len(text))])
	}
	if err == nil {
		r.statements(file, at)
	}
}

// clientIn is the name of a client in a line, as a word of a command.
var clientIn = lazyregexp.New("(?:^|[ \t`\"'($|;&/])(" + strings.Join(clients, "|") + ")[ \t]")

// prompt is what stands before a command in documents.
var prompt = lazyregexp.New(`^[ \t]*[$%>#] `)
