package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

// What a repository or a platform says is text, wherever it stands on a page.
func TestHostileTextsStayText(t *testing.T) {
	t.Parallel()
	b := open(t, serve(t, pagetest.Hostile(40)), look{})
	for _, p := range paths {
		b.visit(p.path)
		b.fits(p.name)
		if title := eval[string](b, "document.title"); title == "taken" {
			t.Errorf("%s: a text has run as a script: %s", p.name, title)
		}
		if n := eval[int](b, `document.querySelectorAll('main img[src="x"], main script, main [onload], main [onerror], main [onmouseover], main a[href^="javascript"]').length`); n > 0 {
			t.Errorf("%s: %d elements are made of texts", p.name, n)
		}
	}
}

// fits reports that the page itself cannot be scrolled to the side, in a wide window and on a
// telephone: what is wide scrolls in a part of its own.
func (b *tab) fits(what string) {
	b.Helper()
	for _, width := range []int64{narrow, wide} {
		b.resize(width)
		b.fitsNow(fmt.Sprintf("%s in a window of %d", what, width))
	}
}

func (b *tab) fitsNow(what string) {
	b.Helper()
	if over := eval[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		wide := eval[string](b, `[...document.querySelectorAll("main *, header *, nav *")].filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map(e => e.outerHTML.slice(0, 80)).slice(0, 3).join("\n")`)
		b.Errorf("%s is %d pixels wider than the window: %s", what, over, wide)
	}
}

// A daemon that has nothing yet says so on each page, and does not look like one that is slow.
func TestEmptyPagesSaySo(t *testing.T) {
	t.Parallel()
	b := open(t, serve(t, pagetest.Empty()), look{})
	for _, p := range paths {
		if strings.HasPrefix(p.path, "/zones/") || strings.HasPrefix(p.path, "/pulls/") || strings.HasPrefix(p.path, "/commits/") || strings.HasPrefix(p.path, "/radar/") {
			continue
		}
		b.visit(p.path)
		if main := eval[string](b, `document.querySelector("main").innerText`); len(strings.Fields(main)) < 5 {
			t.Errorf("%s says %q", p.name, main)
		}
		b.accessible(p.name + ", empty")
	}
}
