package render

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge/visible"
)

// leavingShown is how many departures a comment lists; one has some hundred bytes.
const leavingShown = 50

func (t *textWriter) leaving(l diff.Leaving) {
	fmt.Fprintf(t, "%s %s  %s\n", t.paint(yellow, "!"), t.paint(bold, visible.Name(l.About())), visible.Name(l.Text()))
	if !l.Approved {
		fmt.Fprintf(t, "    %s %s\n", t.paint(bold, "release:"), visible.Text(l.Release()))
	}
	t.WriteByte('\n')
}

// markdownLeaving lists departures, before the changes: there are few, and they decide which
// guards judge later changes.
func markdownLeaving(b *bytes.Buffer, p diff.Plan) {
	for i, l := range p.Leaving {
		if i == leavingShown {
			fmt.Fprintf(b, "- … and %s. `seawall plan` shows all of them.\n", words.Count(len(p.Leaving)-i, "more zone leaves settings", "more zones leave settings"))
			break
		}
		fmt.Fprintf(b, "- 🚪 %s %s\n", Name(l.About()), Name(l.Text()))
		if !l.Approved {
			fmt.Fprintf(b, "  Digest for approval of this alone: %s\n", Code(l.Digest))
		}
	}
	if len(p.Leaving) > 0 {
		b.WriteByte('\n')
	}
}

// LeavingInFull are the digests of the departures that Markdown shows in full.
func LeavingInFull(p diff.Plan) (digests []string) {
	for _, l := range p.Leaving[:min(len(p.Leaving), leavingShown)] {
		if whole(l.About()) && whole(l.Text()) {
			digests = append(digests, l.Digest)
		}
	}
	return digests
}

// whole reports whether Name shows all of a text.
func whole(s string) bool { return utf8.RuneCountInString(visible.Name(s)) <= codeLimit }
