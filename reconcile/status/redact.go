package status

import (
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// redacted serves what handler does, without secrets: reasons quote what servers said.
func redacted(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := &heard{ReadCloser: r.Body}
		r.Body = body
		handler.ServeHTTP(redactedAnswer{w, edge.RedactWriterBut(w, func() []string { return said(r, string(body.text)) })}, r)
	})
}

// said is what the client has said and an answer may repeat: a page shows its filter, and the
// answer to an address that is not clean leads to the clean one.
func said(r *http.Request, body string) []string {
	blanks := strings.NewReplacer("+", " ") // in a query, and in a form
	return []string{r.Method, r.RequestURI, blanks.Replace(r.RequestURI), path.Clean("/" + r.URL.Path), body, blanks.Replace(body)}
}

// heard is the body of a request, which keeps what of it was read.
type heard struct {
	io.ReadCloser
	text []byte
}

// mostHeard is how much of a body is kept, in bytes: more than an order may have.
const mostHeard = 128 << 10

func (h *heard) Read(p []byte) (n int, err error) {
	n, err = h.ReadCloser.Read(p)
	h.text = append(h.text, p[:min(n, max(0, mostHeard-len(h.text)))]...)
	return n, err
}

// redactedAnswer is an answer whose body passes the redactor. Each value of a page is in
// one write.
type redactedAnswer struct {
	http.ResponseWriter
	body io.Writer
}

func (a redactedAnswer) Write(p []byte) (int, error) { return a.body.Write(p) }

// Unwrap lets a handler set deadlines, with [http.ResponseController].
func (a redactedAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
