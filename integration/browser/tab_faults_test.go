package browser

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// faulty is a page in which everything is wrong that a tab looks for.
const faulty = `<!doctype html><title>x</title><img src="http://127.0.0.2:9/x.png"><p style="color:#ddd">grey</p>
<script src="/script.js"></script><script>document.title = "inline"</script>`

// A fault of each sort is heard: else no test would ever be red.
func TestTabHearsFaults(t *testing.T) {
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
