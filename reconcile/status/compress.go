package status

import (
	"net/http"

	"github.com/klauspost/compress/gzhttp"
)

// leastCompressed is how long an answer is that is worth it, in bytes.
const leastCompressed = 1024

// compressed serves what handler does with gzip, to clients that read it. It stands in front
// of the redactor, which could not read it, and leaves streams of events as they are.
func compressed(handler http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(leastCompressed), gzhttp.EnableZstd(false), gzhttp.ContentTypes([]string{
		"text/html", "text/css", "text/javascript", "application/json", "application/problem+json", "image/svg+xml",
	}))
	if err != nil { // of options that are right
		panic(err)
	}
	return wrap(handler)
}
