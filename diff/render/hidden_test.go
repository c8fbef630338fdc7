package render

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// Two plans that differ in any value, key or name are never shown the same: neither where
// blanks are folded, as Markdown does, nor to a reader who cannot tell one letter from
// another.
func TestPlansThatDifferAreShownDifferently(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"\U000E0100", "\ufe0f", "\u034f", "\u3164", "\u2800", "\u115f", "\uffa0", "\u17b4", "\u180b", "\U0001D159", "\u200b", "\u202e", "\u00a0", "\t", "\n",
		" ", "  ", "a", "\u0430", "\u00e9", "e\u0301", "\xff", "\xfe", `\u{20}`, "`", "|", "\\", "*", "<", "&nbsp;", "[", "]",
	})
	text := rapid.Custom(func(t *rapid.T) string { return "x" + strings.Join(rapid.SliceOfN(piece, 0, 4).Draw(t, "pieces"), "") })
	place := rapid.SampledFrom([]func(string) diff.Change{
		func(s string) diff.Change {
			return diff.Change{Fields: []diff.Field{{Path: "expression", Old: "true", New: s}}, Operation: diff.RuleOperation{Do: diff.ActionUpdate}}
		},
		func(s string) diff.Change {
			return diff.Change{Fields: []diff.Field{{Path: "policies", New: []any{map[string]any{s: s}}}}, Operation: diff.Creation{}, Scope: edge.CredentialScope(""), Token: "t"}
		},
		func(s string) diff.Change {
			return diff.Change{Fields: []diff.Field{{Path: diff.Member("overrides." + s)}}, Operation: diff.RuleOperation{Do: diff.ActionUpdate}}
		},
		func(s string) diff.Change {
			return diff.Change{Account: "prod", Zone: s, Deployment: "core", Operation: diff.RuleOperation{Do: diff.ActionUpdate}}
		},
		func(s string) diff.Change {
			return diff.Change{Scope: edge.CredentialScope(""), Token: s, Operation: diff.Creation{}}
		},
		func(s string) diff.Change {
			return diff.Change{Scope: edge.CredentialScope(""), Token: "t", Operation: diff.Creation{}, Rights: []diff.Right{{Text: s, Direction: diff.Weakens}}}
		},
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, of := text.Draw(t, "a"), text.Draw(t, "b"), place.Draw(t, "place")
		for name, write := range map[string]func(io.Writer, diff.Plan) error{
			"markdown": Markdown, "text": func(w io.Writer, p diff.Plan) error { return Text(w, p, false) },
		} {
			shown := func(s string) string {
				var out bytes.Buffer
				must.Do(t, write(&out, diff.Plan{Changes: []diff.Change{of(s)}}))
				ascii := strings.Map(func(r rune) rune {
					if r > '~' {
						return -1
					}
					return r
				}, out.String())
				return strings.Join(strings.Fields(ascii), " ")
			}
			if left, right := shown(a), shown(b); (left == right) != (a == b) {
				t.Fatalf("%s: %+q and %+q:\n%s\n%s", name, a, b, left, right)
			}
		}
	})
}
