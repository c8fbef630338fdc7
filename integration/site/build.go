package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// repository is where files are that are no pages of the site.
const repository = "https://github.com/seawall-dev/seawall/blob/main/"

//go:embed page.html
var pageHTML string

//go:embed site.css
var siteCSS []byte

var layout = template.Must(template.New("page").Parse(pageHTML))

// build writes the site into a folder.
func build(root, out string) error {
	sections, others, err := listed(root)
	if err != nil {
		return err
	}
	texts := map[string]string{}
	pages, taken := map[string]string{}, map[string]string{} // names by source, sources by name
	for _, p := range all(sections, others) {
		if other := taken[p.Name]; other != "" {
			return fmt.Errorf("%s and %s would both be %s: rename one", other, p.Source, p.Name)
		}
		taken[p.Name] = p.Source
		if texts[p.Source], err = source(root, p.Source); err != nil {
			return err
		}
		pages[p.Source] = p.Name
	}
	for s := range sections {
		for i := range sections[s].Pages {
			sections[s].Pages[i].Title = titleOf(texts[sections[s].Pages[i].Source])
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, p := range all(sections, others) {
		body, err := convert(p.Source, texts[p.Source], pages)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Source, err)
		}
		var b bytes.Buffer
		err = layout.Execute(&b, map[string]any{"Title": titleOf(texts[p.Source]), "Name": p.Name, "Sections": sections, "Body": template.HTML(body)}) //nolint:gosec // of our own Markdown
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, p.Name), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if err := os.CopyFS(filepath.Join(out, pictures), os.DirFS(filepath.Join(root, "docs", pictures))); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "site.css"), siteCSS, 0o644)
}

// pictures is the folder of pictures, in docs and in the site.
const pictures = "images"

func all(sections []section, others []page) (pages []page) {
	for _, s := range sections {
		pages = append(pages, s.Pages...)
	}
	return append(pages, others...)
}

// source is the Markdown of a page.
func source(root, file string) (string, error) {
	if file == faultsSource {
		reliability, err := os.ReadFile(filepath.Join(root, "docs", "reliability.md"))
		if err != nil {
			return "", err
		}
		return faults(string(reliability))
	}
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	return string(data), err
}

func titleOf(markdown string) string {
	first, _, _ := strings.Cut(markdown, "\n")
	return strings.TrimPrefix(first, "# ")
}

// convert makes HTML of a page. Links to other pages lead to them, and those to other files
// to the repository.
func convert(file, markdown string, pages map[string]string) ([]byte, error) {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(html.WithUnsafe())) // <picture>, which Markdown has not
	data := []byte(markdown)
	tree := md.Parser().Parse(text.NewReader(data), parser.WithContext(parser.NewContext(parser.WithIDs(ids{}))))
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			link.Destination = []byte(target(file, string(link.Destination), pages))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = md.Renderer().Render(&b, data, tree)
	return bytes.ReplaceAll(b.Bytes(), []byte(`"docs/`+pictures+`/`), []byte(`"`+pictures+`/`)), err
}

// target is where a link of a file leads in the site.
func target(file, link string, pages map[string]string) string {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "#") || strings.HasPrefix(link, "mailto:") {
		return link
	}
	name, anchor, anchored := strings.Cut(link, "#")
	if anchored {
		anchor = "#" + anchor
	}
	to := path.Join(path.Dir(file), name)
	if p, ok := pages[to]; ok {
		return p + anchor
	}
	return repository + to + anchor
}

// ids are the names of headings, as the common forges make them.
type ids map[string]bool

// Generate implements parser.IDs.
func (i ids) Generate(heading []byte, _ ast.NodeKind) []byte {
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, string(heading))
	unique := name
	for n := 1; i[unique]; n++ {
		unique = fmt.Sprint(name, "-", n)
	}
	i[unique] = true
	return []byte(unique)
}

// Put implements parser.IDs.
func (i ids) Put(value []byte) { i[string(value)] = true }
