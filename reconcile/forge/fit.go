package forge

import (
	"fmt"
	"strings"
)

// maxBody is the most that a comment may have, in bytes. GitHub refuses more than
// 65,536 characters; the others take more, which nobody reads.
const maxBody = 65536

// fit makes a text one that forges take: valid UTF-8 without NUL, and short. It
// is cut after a line, what was open there is closed, and a last line says how
// much is missing.
func fit(text string, most int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "�"), "\x00", "�")
	if len(text) <= most {
		return text
	}
	const room = 512                                          // for what is added below
	kept := strings.ToValidUTF8(text[:max(0, most-room)], "") // it may end within a character
	if end := strings.LastIndexByte(kept, '\n'); end > len(kept)/2 {
		kept = kept[:end]
	}
	return kept + closing(kept) + fmt.Sprintf("\n\n**Truncated: %d more bytes do not fit into a comment.**\n", len(text)-len(kept))
}

// closing ends the constructs that a cut leaves open, so that the line about the
// cut is not swallowed by one: code, a hidden comment, what folds.
func closing(kept string) string {
	var b strings.Builder
	if fence := openFence(kept); fence != "" {
		b.WriteString("\n" + fence)
	}
	if strings.LastIndex(kept, "<!--") > strings.LastIndex(kept, "-->") {
		b.WriteString("\n-->")
	}
	folds := strings.Count(kept, "<details") - strings.Count(kept, "</details>")
	b.WriteString(strings.Repeat("\n</details>", min(max(folds, 0), 20)))
	return b.String()
}

// openFence is the fence of a block of code that has no end, or empty.
func openFence(text string) (open string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		mark := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		if mark == "" {
			mark = line[:len(line)-len(strings.TrimLeft(line, "~"))]
		}
		switch {
		case len(mark) < 3:
		case open == "" && len(mark) <= 100:
			open = mark
		case open != "" && mark == line && mark[0] == open[0] && len(mark) >= len(open):
			open = ""
		}
	}
	return open
}
