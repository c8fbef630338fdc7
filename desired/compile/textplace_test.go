package compile

import (
	"strings"
	"testing"
	"unicode/utf8"

	"cuelang.org/go/cue/literal"
	"pgregory.net/rapid"
)

// A byte of a string is found in each literal that writes the string: what stands there is what
// it stands for.
func TestAdvance(t *testing.T) {
	forms := map[string]literal.Form{
		"quoted": literal.String, "in lines": literal.String.WithTabIndent(2).WithOptionalTabIndent(2),
		"raw": literal.String.WithGraphicOnly(), "ASCII": literal.String.WithASCIIOnly(),
	}
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[a"\\#ä\n\t☁ ]{0,12}`).Draw(t, "value")
		form := forms[rapid.SampledFrom([]string{"quoted", "in lines", "raw", "ASCII"}).Draw(t, "form")]
		text := form.Quote(value)
		if !writes(text, value) {
			t.Fatalf("%s is not %q", text, value)
		}
		hashes := text[:len(text)-len(strings.TrimLeft(text, "#"))]
		for offset, c := range value {
			line, column := advance(text, offset)
			lines := strings.SplitAfter(text, "\n")
			rest := lines[line][column-1:]
			length, stands := unit(rest, `\`+hashes)
			if one, err := literal.Unquote(`"` + strings.Replace(rest[:length], `\`+hashes, `\`, 1) + `"`); length > 1 && rest[0] == '\\' && (err != nil || one != string(c)) {
				t.Fatalf("%s: %d is at %d:%d, which is %q", text, offset, line, column, rest)
			} else if rest[0] != '\\' && !strings.HasPrefix(rest, string(c)) {
				t.Fatalf("%s: %d is at %d:%d, which is %q", text, offset, line, column, rest)
			}
			if stands != utf8.RuneLen(c) {
				t.Fatalf("%s: %q stands for %d bytes", text, rest[:length], stands)
			}
		}
	})
}
