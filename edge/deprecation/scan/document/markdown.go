package document

import (
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/shell"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/source"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// Markdown reads the blocks of code in a text as what they say they are, and the
// rest for commands and quoted addresses.
func Markdown(body []byte, out *call.Sink) error {
	var prose strings.Builder
	fence, language, block := "", "", ""
	begins, line := 0, 0
	for one := range strings.SplitAfterSeq(string(body), "\n") {
		line++
		mark := strings.TrimLeft(fences().FindString(one), " \t>")
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
	inProse(prose.String(), 1, out)
	return nil
}

// fences begin and end blocks of code.
var fences = lazyregexp.New("^[ \t>]*(`{3,}|~{3,})")

// fenced reads a block of code.
func fenced(language, block string, line int, out *call.Sink) {
	language, _, _ = strings.Cut(language, " ")
	switch {
	case language == "http" || language == "rest":
		requests(block, line, false, out)
	case extensions[language] != "":
		source.Text(source.Code{Name: "block" + extensions[language], Text: block, Line: line}, out)
	default:
		inProse(block, line, out)
	}
}

// inProse reads what is no code, or of a language that is not known.
func inProse(prose string, line int, out *call.Sink) {
	if shell.HasCalls(prose) {
		shell.Text(shell.Script{Text: prose, Line: line}, out)
		return
	}
	source.Text(source.Code{Name: "prose", Text: prose, Line: line}, out)
}
