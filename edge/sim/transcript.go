package sim

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

// Entry is one request to the platform, as a test or a demonstration looks at
// it. Requests to the control are not recorded.
type Entry struct {
	N       int             `json:"n"` // counted from 1 in the order of arrival
	At      time.Time       `json:"at"`
	Method  string          `json:"method"`
	Path    string          `json:"path"`  // as in the reference, without the base path
	Query   string          `json:"query"` // without "?"
	Headers http.Header     `json:"headers"`
	Token   string          `json:"token"`  // the id of the token that the credential is, also of one that does not work; empty for none
	Body    json.RawMessage `json:"body"`   // null when there was none; a string when it was not JSON
	Status  int             `json:"status"` // 0 while there is no answer yet, and when there never was one
}

// Call is the request in one line.
func (e Entry) Call() string { return e.Method + " " + e.Path }

const (
	redacted = "Bearer [redacted]"

	// maxEntries bounds the transcript; the oldest entries go first. A sweep of
	// ten thousand zones is well inside.
	maxEntries = 100_000
)

// transcript is the list of requests. Entries are shared with the handlers that
// still have to fill in a status, and are only touched under the lock.
type transcript struct {
	mu      sync.Mutex
	entries []*Entry
	last    int
}

// begin records a request that has arrived.
func (t *transcript) begin(e Entry) *Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	e.N = t.last
	if len(t.entries) >= maxEntries {
		t.entries[0] = nil
		t.entries = t.entries[1:]
	}
	t.entries = append(t.entries, &e)
	return &e
}

// end records the status of its answer.
func (t *transcript) end(e *Entry, status int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.Status = status
}

func (t *transcript) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entries, t.last = nil, 0
}

func (t *transcript) all() []Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]Entry, len(t.entries))
	for i, e := range t.entries {
		list[i] = *e
		list[i].Headers = e.Headers.Clone()
	}
	return list
}

// newEntry describes a request. The credential is left out of it, and so is a
// secret that a client sends back.
func (s *Server) newEntry(r *http.Request, path string, body []byte) Entry {
	headers := r.Header.Clone()
	restoreLengths(headers)
	for _, encoding := range r.TransferEncoding {
		headers.Add("Transfer-Encoding", encoding)
	}
	if headers.Get("Authorization") != "" {
		headers.Set("Authorization", redacted)
	}
	return Entry{
		Token: s.tokenOf(r), At: s.clock.Now(), Method: r.Method, Path: path, Query: r.URL.RawQuery, Headers: headers, Body: withoutValue(path, recorded(body)),
	}
}

// tokenOf is the id of the token that a request is sent with, empty where there is no such.
func (s *Server) tokenOf(r *http.Request) string {
	value, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return s.Platform.TokenID(edge.NewSecret(strings.TrimSpace(value)))
}

func recorded(body []byte) json.RawMessage {
	if len(body) == 0 {
		return nil
	}
	if json.Valid(body) {
		return body
	}
	quoted, err := json.Marshal(string(body))
	if err != nil {
		return nil
	}
	return quoted
}

const concealed = `"[redacted]"`

// withoutValue conceals the member that is a token's secret in answers. No
// request has one that is asked for, but a client that sends back what it was
// answered would have it written here. Answers are not recorded at all.
func withoutValue(path string, body json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if !isTokens(path) || json.Unmarshal(body, &members) != nil || members["value"] == nil {
		return body
	}
	members["value"] = json.RawMessage(concealed)
	data, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	return data
}
