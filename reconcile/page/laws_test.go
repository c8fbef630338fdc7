package page_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

// crawl follows each link, picture and form of the pages of a handler from its start, and
// hands over each page by its address. A link that leads nowhere fails the test. Of what has
// many pages, the first are followed.
func crawl(t *testing.T, h http.Handler, visit func(address string, doc *html.Node, text []byte)) {
	t.Helper()
	const most = 20
	seen, next, of := map[string]bool{"/": true}, []string{"/"}, map[string]int{}
	for len(next) > 0 {
		address := next[0]
		next = next[1:]
		w := ask(h, address, nil)
		kind := w.Header().Get("Content-Type")
		place := strings.HasPrefix(address, "/grid?")
		if w.Code != http.StatusOK && !(place && w.Code == http.StatusSeeOther) {
			t.Errorf("%s: %d", address, w.Code)
			continue
		}
		if place || !strings.HasPrefix(kind, "text/html") {
			continue
		}
		doc, err := html.Parse(bytes.NewReader(w.Body.Bytes()))
		must.Do(t, err)
		visit(address, doc, w.Body.Bytes())
		for _, link := range links(doc) {
			if u, err := url.Parse(link); err != nil || u.Host != "" {
				if err != nil || u.Scheme != "https" {
					t.Errorf("%s has the link %q: %v", address, link, err)
				}
				continue
			}
			link, _, _ = strings.Cut(link, "#")
			kind := strings.FieldsFunc(link, func(r rune) bool { return r == '/' || r == '?' })
			if link != "" && !seen[link] && (len(kind) == 0 || of[kind[0]] < most) {
				seen[link] = true
				of[strings.Join(kind[:min(1, len(kind))], "")]++
				next = append(next, link)
			}
		}
	}
}

func links(doc *html.Node) (all []string) {
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "href" || a.Key == "src" || a.Key == "action" && !strings.EqualFold(attribute(n, "method"), "post") {
				all = append(all, a.Val)
			}
		}
	}
	return all
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// shape is the elements of a page with the names of their attributes.
func shape(doc *html.Node) string {
	var b strings.Builder
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		fmt.Fprintf(&b, "%s", n.Data)
		for _, a := range n.Attr {
			fmt.Fprintf(&b, " %s", a.Key)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func handlerOf(d page.Data) http.Handler {
	return page.Handler(page.Config{Data: d, Now: nowOf, Program: "v1.0.0"})
}

// Every link of every page leads to a page; no page has a style or a script inside, and no
// attribute that would be one.
func TestPagesAreWhole(t *testing.T) {
	for name, d := range map[string]page.Data{"plain": pagetest.New(40), "hostile": pagetest.Hostile(40), "empty": pagetest.Empty()} {
		pages := 0
		crawl(t, handlerOf(d), func(address string, doc *html.Node, text []byte) {
			pages++
			ids := map[string]bool{}
			for n := range doc.Descendants() {
				if n.Type == html.CommentNode {
					t.Errorf("%s, %s: a comment: %s", name, address, n.Data)
				}
				if n.Type != html.ElementNode {
					continue
				}
				if n.Data == "style" || n.Data == "script" && (n.FirstChild != nil || !strings.HasPrefix(attribute(n, "src"), "/assets/")) || n.Data == "base" || n.Data == "iframe" || n.Data == "object" {
					t.Errorf("%s, %s: <%s>", name, address, n.Data)
				}
				for _, a := range n.Attr {
					if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.Contains(strings.ToLower(a.Val), "javascript:") && a.Key != "value" && a.Key != "title" && !strings.HasPrefix(a.Val, "/") {
						t.Errorf("%s, %s: <%s %s=%q>", name, address, n.Data, a.Key, a.Val)
					}
					if a.Key == "id" && ids[a.Val] {
						t.Errorf("%s, %s: the id %s is there twice", name, address, a.Val)
					}
					if a.Key == "id" {
						ids[a.Val] = true
					}
				}
			}
			for n := range doc.Descendants() {
				hidden := func(r rune) bool { return r != '\n' && (unicode.Is(unicode.Cf, r) || unicode.IsControl(r)) }
				if n.Type == html.TextNode && strings.ContainsFunc(n.Data, hidden) {
					t.Errorf("%s, %s: a character that cannot be seen in %q", name, address, n.Data)
				}
			}
			if i := bytes.Index(text, []byte("ZgotmplZ")); i >= 0 {
				t.Errorf("%s, %s: an unsafe value at %q", name, address, text[max(0, i-80):i])
			}
		})
		if pages < 9 {
			t.Errorf("%s: only %d pages are linked", name, pages)
		}
	}
}

// What a repository and a platform say is text: a page with hostile texts has the elements
// and the attributes of the same page with plain ones.
func TestDataIsOnlyText(t *testing.T) {
	const zones = 40
	plain, hostile := handlerOf(pagetest.New(zones)), handlerOf(pagetest.Hostile(zones))
	paths := []string{
		"/", "/zones", "/zones?outcome=refused", "/commits", "/commits/" + pagetest.Commit, "/commits/" + pagetest.Held, "/history", "/tokens", "/radar", fmt.Sprintf("/radar/%d", pagetest.NewestVersion), "/deprecations",
		"/pulls", "/pulls/104", "/outages", "/credentials", "/replicas",
	}
	for i := range zones {
		paths = append(paths, "/zones/"+pagetest.Scope(i).Text())
	}
	for _, path := range paths {
		var shapes [2]string
		for i, h := range []http.Handler{plain, hostile} {
			w := ask(h, path, nil)
			doc, err := html.Parse(bytes.NewReader(w.Body.Bytes()))
			must.Do(t, err)
			if w.Code != http.StatusOK {
				t.Fatalf("%s: %d", path, w.Code)
			}
			shapes[i] = shape(doc)
			for _, mark := range pagetest.Marks {
				if strings.Contains(w.Body.String(), mark) {
					t.Errorf("%s: %s", path, mark)
				}
			}
		}
		if strings.HasPrefix(path, "/zones") || path == "/tokens" || strings.HasPrefix(path, "/radar/") {
			shapes = [2]string{sorted(shapes[0]), sorted(shapes[1])} // hostile names are in another order
		}
		if shapes[0] != shapes[1] {
			t.Errorf("%s: texts have changed the elements: %s", path, firstDifference(shapes[0], shapes[1]))
		}
	}
}

func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func firstDifference(a, b string) string {
	one, other := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(one), len(other)) {
		if one[i] != other[i] {
			return fmt.Sprintf("element %d is %q, and %q", i, one[i], other[i])
		}
	}
	return fmt.Sprintf("%d and %d elements", len(one), len(other))
}

// A filter that somebody else wrote into a link is text, too.
func TestFiltersAreOnlyText(t *testing.T) {
	h := handlerOf(pagetest.New(20))
	const evil = `"><script>alert(1)</script>`
	for _, path := range []string{"/zones?text=", "/zones?account=", "/zones?label=a%3D", "/history?token=", "/history?zone=", "/radar?account="} {
		w := ask(h, path+url.QueryEscape(evil), nil)
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "<script>") {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// Every answer has the headers, and the policy allows nothing inside a page.
func TestHeaders(t *testing.T) {
	h := handlerOf(pagetest.New(20))
	for _, path := range []string{"/", "/zones", "/nowhere", "/api/v1/zones", "/api/v1/nowhere", "/grid.svg", "/grid?1,1", "/assets/none.css"} {
		header := ask(h, path, nil).Header()
		policy := header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: %s", path, policy)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if header.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, header.Get(name))
			}
		}
	}
}
