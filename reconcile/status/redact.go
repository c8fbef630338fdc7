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
		handler.ServeHTTP(redactedAnswer{w, edge.RedactWriterBut(w, said(r)...)}, r)
	})
}

// said is what the client has said and an answer may repeat: a page shows its filter, and the
// answer to an address that is not clean leads to the clean one.
func said(r *http.Request) []string {
	return []string{
		r.Method, r.RequestURI, strings.ReplaceAll(r.RequestURI, "+", " "), // a blank in a query
		path.Clean("/" + r.URL.Path),
	}
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
