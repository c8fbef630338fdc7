package document

import (
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/shell"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/source"
)

// Markdown reads the blocks of code in a text as what they say they are, and the
// rest for commands and quoted addresses.
func Markdown(body []byte, out *call.Sink) error {
	var prose strings.Builder
	fence, language, block := "", "", ""
	begins, line := 0, 0
	for one := range strings.SplitAfterSeq(string(body), "\n") {
		line++
		mark := fenceOf(one)
		switch {
		case fence == "" && mark != "":
			fence, block, begins = mark, "", line+1
			language = strings.ToLower(strings.TrimSpace(strings.Trim(strings.TrimSpace(one), "`~")))
			prose.WriteByte('\n')
		case fence != "" && strings.HasPrefix(mark, fence):
			fenced(language, block, begins, out)
			fence = ""
			prose.WriteByte('\n')
		case fence != "":
			block += one
			prose.WriteByte('\n')
		default:
			prose.WriteString(one)
		}
	}
	if fence != "" {
		fenced(language, block, begins, out)
	}
	inProse(prose.String(), out)
	return nil
}

// fenceOf is the fence that a line is; empty where it is none.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " \t>")
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// fenced reads a block of code.
func fenced(language, block string, line int, out *call.Sink) {
	language, _, _ = strings.Cut(language, " ")
	switch {
	case language == "http" || language == "rest":
		requests(block, line, false, out)
	case extensions[language] != "":
		source.Text(source.Code{Name: "block" + extensions[language], Text: block, Line: line}, out)
	case shell.HasCalls(block):
		shell.Text(shell.Script{Text: block, Line: line}, out)
	default:
		source.Text(source.Code{Name: "block", Text: block, Line: line}, out)
	}
}

// inProse reads what is no code.
func inProse(prose string, out *call.Sink) {
	if shell.HasCalls(prose) {
		shell.Text(shell.Script{Text: prose, Line: 1}, out)
		return
	}
	source.Text(source.Code{Name: "prose", Text: prose, Line: 1}, out)
}
