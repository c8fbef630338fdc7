package render

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// planWith is a plan in which everything that comes from outside is one text.
func planWith(text string) diff.Plan {
	origin := desired.Origin{File: text, Line: 1, Column: 2}
	return diff.Plan{
		Commit: "c0ffee",
		Changes: []diff.Change{
			{
				Account: text, Zone: text, Deployment: text, Direction: diff.Weakens, Origin: origin,
				Fields: []diff.Field{
					{Path: diff.Member("expression"), Old: text, New: map[string]any{"a" + text: []any{text, 1}}, Note: "note " + text, Origin: &origin, Direction: diff.Weakens},
					{Path: diff.Member("overrides.categories[" + text + "]"), New: text},
				},
				Operation: diff.RuleOperation{Do: diff.ActionUpdate, Body: edge.Rule{Expression: text}},
				Refused:   &diff.Refusal{Guard: "hold", Reason: "reason " + text, Release: "release " + text},
			},
			{Token: text, Operation: diff.Creation{Sink: &desired.Sink{Name: text, Key: text}}, Rights: []diff.Right{{Direction: diff.Weakens, Text: "gains " + text}}},
		},
		Problems:    []diff.Problem{{Account: text, Zone: text, State: diff.Blocked, Reason: "reason " + text, Hint: "hint " + text, Origin: origin, Unmanaged: []diff.Leftover{{Path: diff.Member("x" + text), Value: text, Was: text}}}},
		Kept:        []diff.Kept{{Account: text, Zone: text, Deployment: text, Members: []diff.Leftover{{Path: diff.Member("y" + text), Value: text}}}},
		Bypasses:    []diff.Bypass{hostileBypass(text)},
		NotLookedAt: []diff.NotLookedAt{{Account: text, Level: edge.LevelAccount, Phase: edge.Phase(text), Zones: 1, Reason: text}},
		Holds:       []diff.Hold{{Zone: "zone " + text, Reason: text}},
		Leaving:     []diff.Leaving{{Account: text, Zone: text, Left: []diff.Left{{Setting: text, Labels: map[string]string{text: text}}}, Digest: "d"}},
		Findings:    []diff.Finding{{Token: "token " + text, Kind: diff.FindingKinds()[0], Text: "never expires", Hint: "hint " + text, Origin: origin}},
	}
}

// FuzzMarkdown: a comment has the same text outside of code spans, whatever the names and
// values in it are: no mention, link, HTML, heading, row or control character from
// outside is active in it.
func FuzzMarkdown(f *testing.F) {
	for _, text := range []string{
		hostile, "@everyone", "#1", "[x](http://evil)", "<img src=x onerror=alert(1)>", "`", "``", "\\`", "|", "\\|", "a\r\n# b", "<!-- -->", "&lt;",
		"\u202e\u200b", "~~~", "```\n/merge\n```", "http://evil.example", "a@b.example", "![x](//evil)", strings.Repeat("`a", 600), "-- ", "\x00\x1b[2J",
	} {
		f.Add(text)
	}
	outside := func(t *testing.T, text string) (lines []string) {
		var b bytes.Buffer
		must.Do(t, Markdown(&b, planWith(text)))
		for line := range strings.Lines(b.String()) {
			for _, r := range line {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Fatalf("%U in %q", r, line)
				}
			}
			bare := strings.Join(strings.Fields(outsideCode(t, line)), " ")
			if strings.HasPrefix(line, "|") && barsEndingCells(line) != 6 {
				t.Fatalf("a row of %d bars: %q", barsEndingCells(line), line)
			}
			if bare != "" && !strings.HasPrefix(bare, "✂️") {
				lines = append(lines, bare)
			}
		}
		return lines
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			t.Skip("an empty name has no code span")
		}
		want, got := outside(t, "a"), outside(t, text)
		if strings.Join(want, "\n") != strings.Join(got, "\n") {
			t.Errorf("outside of code\n%s\nand not\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
