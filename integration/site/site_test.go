package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/seawall-dev/seawall/integration/must"
)

// TestSiteLinks builds the site and follows each of its links to a page and to a heading.
func TestSiteLinks(t *testing.T) {
	out := t.TempDir()
	must.Do(t, build("../..", out))
	files, err := filepath.Glob(filepath.Join(out, "*.html"))
	if err != nil || len(files) < 25 {
		t.Fatalf("%d pages: %v", len(files), err)
	}
	links, names := map[string][]string{}, map[string]map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		must.Do(t, err)
		page := filepath.Base(file)
		links[page], names[page] = read(t, data)
	}
	shown := 0
	for page, list := range links {
		for _, link := range list {
			switch {
			case strings.HasPrefix(link, repository):
				path, _, _ := strings.Cut(strings.TrimPrefix(link, repository), "#")
				if _, err := os.Stat(filepath.Join("../..", path)); err != nil {
					t.Errorf("%s links to %s, which is not in the repository", page, path)
				}
				continue
			case strings.Contains(link, "://"), strings.HasPrefix(link, "mailto:"), link == "site.css":
				continue
			case strings.HasSuffix(link, ".png"):
				shown++
				if _, err := os.Stat(filepath.Join(out, link)); err != nil {
					t.Errorf("%s shows %s, which is not in the site", page, link)
				}
				continue
			}
			to, anchor, _ := strings.Cut(link, "#")
			if to == "" {
				to = page
			}
			if names[to] == nil {
				t.Errorf("%s links to %s, which is no page", page, link)
			} else if anchor != "" && !names[to][anchor] {
				t.Errorf("%s links to %s, and there is no such heading", page, link)
			}
		}
	}
	if shown == 0 {
		t.Error("no page shows a picture")
	}
}

// read returns the links of a page, and the names of its headings.
func read(t *testing.T, data []byte) (links []string, names map[string]bool) {
	t.Helper()
	names = map[string]bool{}
	for z := html.NewTokenizer(bytes.NewReader(data)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return links, names
		case html.StartTagToken, html.SelfClosingTagToken:
			for _, attribute := range z.Token().Attr {
				switch attribute.Key {
				case "href", "src", "srcset":
					links = append(links, attribute.Val)
				case "id":
					names[attribute.Val] = true
				}
			}
		}
	}
}

// TestEachFaultHasItsPage: each fault of the tables of docs/reliability.md is on the page,
// with what Seawall does, and what was measured of it.
func TestEachFaultHasItsPage(t *testing.T) {
	data, err := os.ReadFile("../../docs/reliability.md")
	must.Do(t, err)
	page, err := faults(string(data))
	must.Do(t, err)
	tables, measured, _ := strings.Cut(string(data), "## What is measured")
	shown := 0
	for _, row := range faultRow.FindAllStringSubmatch(tables, -1) {
		if row[1] == "fault" || row[1] == "---" {
			continue
		}
		_, section, ok := strings.Cut(page, "\n## "+row[1]+"\n\nSeawall ")
		if !ok {
			t.Errorf("the page has no %q with what Seawall does", row[1])
			continue
		}
		section, _, _ = strings.Cut(section, "\n## ")
		_, signs, _ := strings.Cut(measured, "<!-- log:")
		want := "No warning"
		if strings.Contains(signs, "| "+row[1]+" |") {
			shown++
			want = "- Status: `"
		}
		if !strings.Contains(section, "\n"+want) {
			t.Errorf("%q has no %q:\n%s", row[1], want, section)
		}
	}
	if shown < 10 {
		t.Errorf("the page says of %d faults alone what they show", shown)
	}
}

// TestHeadingsHaveTheNamesOfTheForges: links that work on a forge work in the site.
func TestHeadingsHaveTheNamesOfTheForges(t *testing.T) {
	html, err := convert("docs/a.md", "# A b, `c`-d!\n\n## Same\n\n## Same\n\n[x](b.md#y) [y](../deploy/x.yaml)\n", map[string]string{"docs/b.md": "b.html"})
	must.Do(t, err)
	for _, want := range []string{`id="a-b-c-d"`, `id="same"`, `id="same-1"`, `href="b.html#y"`, `href="` + repository + `deploy/x.yaml"`} {
		if !strings.Contains(string(html), want) {
			t.Errorf("%s is not in\n%s", want, html)
		}
	}
}
