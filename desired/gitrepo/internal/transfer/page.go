package transfer

import (
	"io"
	"net/http"
	"strings"
)

// maxPage bounds what is read of a web page, in bytes: its title is near the beginning.
const maxPage = 64 << 10

// PageError is a web page in place of an answer of git, such as the sign-in of a proxy.
type PageError struct{ Text string }

// Error is the text of the page.
func (e *PageError) Error() string { return e.Text }

// noPages refuses successful answers that are web pages: go-git would say that a length
// is invalid.
type noPages struct{ http.RoundTripper }

func (n noPages) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := n.RoundTripper.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusOK || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") {
		return answer, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxPage))
	if err != nil {
		return nil, err
	}
	return nil, &PageError{string(text)}
}
