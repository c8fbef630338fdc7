package repository

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/seawall-dev/seawall/integration/harness"
)

var (
	markdownLink = regexp.MustCompile(`(?:\]\(|<(?:img|source) [^>]*?src(?:set)?=")([^)"\s]+)[)"]`)
	codeFence    = regexp.MustCompile("(?ms)^```.*?^```")
	heading      = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// TestLinks follows every relative link of every Markdown file to its file and,
// where it names one, to its heading.
func TestLinks(t *testing.T) {
	files := filesUnder(t, harness.Root, ".md")
	if len(files) < 5 {
		t.Fatalf("only %v", files)
	}
	for _, file := range files {
		for _, link := range markdownLink.FindAllStringSubmatch(prose(t, file), -1) {
			target := link[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			name, anchor, _ := strings.Cut(target, "#")
			path := file
			if name != "" {
				path = filepath.Join(filepath.Dir(file), filepath.FromSlash(name))
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s links to %s, which is not there", file, target)
			} else if anchor != "" && !anchors(prose(t, path))[anchor] {
				t.Errorf("%s links to %s, and there is no such heading", file, target)
			}
		}
	}
}

// TestLinksAreFound keeps the search from finding nothing.
func TestLinksAreFound(t *testing.T) {
	found := markdownLink.FindAllStringSubmatch("see [a](b.md), [c](https://d.example), [e](../f.md#g-h) and <img alt=\"i\" src=\"i.png\">", -1)
	if len(found) != 4 || found[2][1] != "../f.md#g-h" || found[3][1] != "i.png" {
		t.Errorf("found %v", found)
	}
	if got := anchors("# A b, `c`-d!\n## E\n"); !got["a-b-c-d"] || !got["e"] || len(got) != 2 {
		t.Errorf("anchors %v", got)
	}
}

// prose is a Markdown file without its blocks of code.
func prose(t *testing.T, file string) string {
	t.Helper()
	return codeFence.ReplaceAllString(harness.ReadText(t, file), "")
}

// anchors returns the names under which the common forges offer the headings of
// a text.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(text, -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, match[1])
		names[name] = true
	}
	return names
}
