package status

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// A secret is taken out before an answer is compressed, and a stream of events arrives event
// by event, as it is.
func TestAnswersAreRedactedThenCompressed(t *testing.T) {
	const secret = "v8Qp2xLr7Tz4Yn6Wk9Bd3Hs5Jf1Gm0Ca"
	edge.NewSecret(secret)
	release := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, strings.Repeat("<p>a zone</p>", 1000)+secret)
	})
	mux.HandleFunc("/events", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: 1\n\n")
		http.NewResponseController(w).Flush()
		<-release
	})
	server := httptest.NewServer(compressed(redacted(mux)))
	defer server.Close()
	ask := func(path string) *http.Response {
		r, err := http.NewRequest(http.MethodGet, server.URL+path, nil)
		must.Do(t, err)
		r.Header.Set("Accept-Encoding", "gzip, zstd")
		response, err := http.DefaultClient.Do(r)
		must.Do(t, err)
		return response
	}
	response := ask("/page")
	defer response.Body.Close()
	body, err := gzip.NewReader(response.Body)
	must.Do(t, err)
	text, err := io.ReadAll(body)
	must.Do(t, err)
	if response.Header.Get("Content-Encoding") != "gzip" || strings.Contains(string(text), secret) || !strings.Contains(string(text), "a zone") {
		t.Errorf("%v: %.200s", response.Header, text)
	}

	stream := ask("/events")
	event := make([]byte, len("data: 1\n\n"))
	_, err = io.ReadFull(stream.Body, event) // before the handler returns
	close(release)
	stream.Body.Close()
	if err != nil || string(event) != "data: 1\n\n" || stream.Header.Get("Content-Encoding") != "" {
		t.Errorf("%q %v: %v", event, stream.Header, err)
	}
}
