package page

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

// faulty is a page in which everything is wrong that a tab looks for.
const faulty = `<!doctype html><title>x</title><img src="http://127.0.0.2:9/x.png"><p style="color:#ddd">grey</p>
<script src="/script.js"></script><script>document.title = "inline"</script>`

// A fault of each sort is heard: else no test would ever be red.
func TestTabHearsFaults(t *testing.T) {
	t.Parallel()
	policy := "default-src 'self'; img-src http:"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		if r.URL.Path == "/script.js" {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte(`console.error("console"); throw new Error("thrown")`))
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(faulty))
	}))
	t.Cleanup(server.Close)
	b := open(t, server.URL, look{})
	b.visit("/")
	if got := b.broken(); !strings.Contains(strings.Join(got, " "), "html-has-lang") {
		t.Errorf("axe-core finds %v", got)
	}
	heard := strings.Join(b.heard(), "\n")
	for _, part := range []string{"another origin: http://127.0.0.2:9/x.png", "inline style", "inline script", "the console has a error", "an exception"} {
		if !strings.Contains(heard, part) {
			t.Errorf("not heard: %s\n%s", part, heard)
		}
	}
}

// Of rows that are alike axe-core looks at some, and what one of many has alone is found.
func TestFaultOfOneRowIsFound(t *testing.T) {
	t.Parallel()
	b := open(t, serve(t, pagetest.New(100)), look{})
	b.visit("/zones")
	if broken := b.broken("image-alt"); len(broken) > 0 {
		t.Fatalf("before there is a fault: %s", broken)
	}
	b.visit("/zones")
	eval[any](b, `document.querySelector("tbody").rows[77].cells[2].append(Object.assign(new Image(), {src: document.querySelector("link[rel=icon]").href})); null`)
	if broken := b.broken("image-alt"); len(broken) != 1 {
		t.Errorf("a picture without a text in one of 100 rows: %s", broken)
	}
}
