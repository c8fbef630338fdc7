package status

import (
	"io"
	"net/http"

	"github.com/seawall-dev/seawall/edge"
)

// redacted serves what handler does, without secrets: reasons quote what servers said.
func redacted(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(redactedAnswer{w, edge.RedactWriter(w)}, r)
	})
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
