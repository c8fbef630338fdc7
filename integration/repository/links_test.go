package repository

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/seawall-dev/seawall/integration/harness"
)

var (
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeFence    = regexp.MustCompile("(?ms)^```.*?^```")
	heading      = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// TestLinks follows every relative link of every Markdown file to its file and,
// where it names one, to its heading.
func TestLinks(t *testing.T) {
	for _, file := range markdownFiles(t) {
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
	found := markdownLink.FindAllStringSubmatch("see [a](b.md), [c](https://d.example) and [e](../f.md#g-h)", -1)
	if len(found) != 3 || found[2][1] != "../f.md#g-h" {
		t.Errorf("found %v", found)
	}
	if got := anchors("# A b, `c`-d!\n## E\n"); !got["a-b-c-d"] || !got["e"] || len(got) != 2 {
		t.Errorf("anchors %v", got)
	}
}

func markdownFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(harness.Root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != harness.Root && hiddenFromGo(entry.Name()) && entry.Name() != ".github":
			return fs.SkipDir
		case strings.HasSuffix(name, ".md"):
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 5 {
		t.Fatalf("only %v", files)
	}
	return files
}

// prose is a Markdown file without its blocks of code.
func prose(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return codeFence.ReplaceAllString(string(data), "")
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
