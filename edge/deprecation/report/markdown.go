package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

// Markdown writes a report for a pull request: a table of the rules, and of
// each the places and what to write instead.
func (r Report) Markdown(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### Deprecations\n\n%s\n", markdownText(capital(r.summary())))
	if len(r.Rules) > 0 {
		b.WriteString("\n| rule | stands | calls | instead |\n|---|---|---:|---|\n")
	}
	for _, g := range r.Rules {
		fmt.Fprintf(&b, "| %s | %s | %d | %s |\n", code(g.Notice.Rule), markdownText(standing(g.Notice)), g.Count,
			markdownText(strings.TrimPrefix(replacement(g.Notice), "instead: ")))
	}
	for _, g := range r.Rules {
		g.markdown(&b)
	}
	for _, c := range r.Corrections {
		fmt.Fprintf(&b, "\nCorrected: %s %s\n", markdownText(c.String()), code(c.Where))
	}
	for _, s := range r.Expired {
		fmt.Fprintf(&b, "\n**%s**\n", markdownText(s.told("expired on "+string(s.Expires)+" and suppresses nothing")))
	}
	for _, s := range r.Unused {
		fmt.Fprintf(&b, "\n%s\n", markdownText(s.told("suppresses nothing: no such call was met")))
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (g Group) markdown(b *bytes.Buffer) {
	if g.Count == 0 {
		return
	}
	fmt.Fprintf(b, "\n<details><summary>%s: %s</summary>\n\n", g.Notice.Rule, plural(g.Count, "call", "calls"))
	left, clusters := g.Count, g.clusters()
	for _, c := range clusters[:min(len(clusters), 4*shownPlaces)] {
		left -= c.count
		fmt.Fprintf(b, "- %s %s, %s\n", code(c.at()), code(c.call()), plural(c.count, "call", "calls"))
		for _, r := range c.shown() {
			fmt.Fprintf(b, "  - %s %s\n", strings.TrimSpace(lead(r)), code(request(r)))
		}
	}
	if left > 0 {
		fmt.Fprintf(b, "- … and %s elsewhere\n", plural(left, "more call", "more calls"))
	}
	b.WriteString("\n</details>\n")
}

// code is a text between back quotes, whatever it holds.
func code(s string) string {
	if s == "" {
		return ""
	}
	quotes := "`"
	for strings.Contains(s, quotes) {
		quotes += "`"
	}
	s = strings.ReplaceAll(printable(s), "|", `\|`)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return quotes + s + quotes
}

var markdownEscapes = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "@", "@\u200b")

// markdownText is a text that may come from a repository or a file.
func markdownText(s string) string { return markdownEscapes.Replace(printable(s)) }

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Markdown writes the list as a table.
func (s Schedule) Markdown(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### The deprecation calendar\n\n%s\n\n| rule | stands | what | instead |\n|---|---|---|---|\n", markdownText(capital(s.summary())))
	for _, e := range s.Entries {
		var calls []string
		for _, p := range e.Endpoints {
			calls = append(calls, code(callOf(p)))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", code(e.Notice.Rule), markdownText(standing(e.Notice)),
			strings.Join(append([]string{markdownText(e.Notice.Title)}, calls...), "<br>"),
			markdownText(strings.TrimPrefix(replacement(e.Notice), "instead: ")))
	}
	for _, c := range s.Corrections {
		fmt.Fprintf(&b, "\nCorrected: %s %s\n", markdownText(c.String()), code(c.Where))
	}
	_, err := w.Write(b.Bytes())
	return err
}

func callOf(e deprecation.Endpoint) string {
	methods := strings.Join(e.Methods, ", ")
	if methods == deprecation.AnyMethod {
		methods = "any method"
	}
	return methods + " " + e.Path
}
