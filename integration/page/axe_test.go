package page

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

//go:embed testdata/axe/axe.min.js
var axe string

// violation is a rule of axe-core that a page breaks.
type violation struct {
	ID, Help string
	Nodes    []struct {
		HTML           string
		FailureSummary string
	}
}

// accessible checks a page with axe-core: all of its rules, or those named.
func (b *tab) accessible(what string, rules ...string) {
	b.Helper()
	for _, v := range b.broken(rules...) {
		b.Errorf("%s: %s", what, v)
	}
}

// oneOfAlike leaves of rows and entries that have the same elements with the same classes the
// first two: axe-core takes as long for each, and seconds for hundreds.
const oneOfAlike = `document.querySelectorAll("tbody, main ul, main ol").forEach(list => {
	const seen = {}
	for (const e of [...list.children]) {
		const shape = [e, ...e.querySelectorAll("*")].map(x => x.tagName + "." + (x.getAttribute("class") || "")).join(" ")
		seen[shape] = (seen[shape] || 0) + 1
		if (seen[shape] > 2) e.remove()
	}
}); null`

// broken says which rules of axe-core the page breaks, of all or of those named, and where.
func (b *tab) broken(rules ...string) (all []string) {
	b.Helper()
	if !eval[bool](b, "typeof axe !== 'undefined'") {
		eval[bool](b, axe+";true")
	}
	eval[any](b, oneOfAlike)
	only := `{type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}`
	if len(rules) > 0 {
		only = `{type: "rule", values: ["` + strings.Join(rules, `", "`) + `"]}`
	}
	for _, v := range eval[[]violation](b, `axe.run(document, {runOnly: `+only+`, resultTypes: ["violations"], elementRef: false, preload: false}).then(r => r.violations.map(
		v => ({ID: v.id, Help: v.help, Nodes: v.nodes.slice(0, 3).map(n => ({HTML: n.html, FailureSummary: n.failureSummary}))})))`) {
		for _, n := range v.Nodes {
			all = append(all, fmt.Sprintf("%s: %s: %s\n%s", v.ID, v.Help, short(n.HTML), n.FailureSummary))
		}
	}
	return all
}

// mostBytes is how much a page may load, with what belongs to it.
const mostBytes = 100_000

// bothSchemes are the pages that show all colours; a soak looks at each page in both schemes.
var bothSchemes = []string{"overview", "zones", "zone", "commit", "radar", "pull", "outages"}

// TestPages opens each page with JavaScript in light and dark, and without: it is accessible,
// small, as wide as its window, and asks for nothing elsewhere; no policy is broken, and nothing is wrong in the
// console (see [tab.hear]). Several tabs share the pages.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zones int
		look  look
		paths []named
	}{
		{40, look{}, paths[1:2]}, // with each outcome in the list
		{1_000, look{}, paths},
		{10_000, look{noScript: true, dark: true}, paths},
	} {
		origin := serve(t, pagetest.New(c.zones))
		for some := range slices.Chunk(c.paths, 9) {
			t.Run(fmt.Sprintf("%s of %d zones", some[0].name, c.zones), func(t *testing.T) {
				t.Parallel()
				b := open(t, origin, c.look)
				for _, p := range some {
					b.inOrder(p, c.zones)
				}
			})
		}
	}
}

// inOrder opens a page of a fleet, and checks it.
func (b *tab) inOrder(p named, zones int) {
	b.Helper()
	what := fmt.Sprintf("%s of %d zones", p.name, zones)
	if n := b.visit(p.path); n > mostBytes {
		b.Errorf("%s loads %d bytes", what, n)
	}
	b.fits(what)
	if zones > 1_000 && !slices.Contains(paths[:3], p) {
		return // the others have no more than they had before
	}
	b.accessible(what)
	if !soak.On && !slices.Contains(bothSchemes, p.name) {
		return
	}
	b.scheme(!b.look.dark)
	b.accessible(what+", the other scheme", "color-contrast")
	b.scheme(b.look.dark)
}
