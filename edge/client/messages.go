package client

import (
	"strings"
	"sync"

	"github.com/seawall-dev/seawall/edge/internal/wire"
)

// mostMessages bounds how many messages of the platform are reported.
const mostMessages = 32

// heard are the messages of the platform that were reported.
type heard struct {
	mu   sync.Mutex
	seen map[wire.Note]bool
}

// first reports whether a message is to be reported: each once, and not more than a few.
func (t *heard) first(n wire.Note) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen[n] || len(t.seen) >= mostMessages {
		return false
	}
	if t.seen == nil {
		t.seen = map[wire.Note]bool{}
	}
	t.seen[n] = true
	return true
}

// tellMessages logs what the platform says beside a result, once for each text. The answer
// to a verification always says that the token is valid, and one that may hold a secret is
// not quoted.
func (c *Client) tellMessages(call call, answer wire.Response) {
	if call.class == create || call.class == roll || strings.HasSuffix(call.path, "/verify") {
		return
	}
	for _, n := range answer.Notes() {
		if c.heard.first(n) {
			c.config.Log.Info("the platform says", "message", n.Text, "code", n.Code, "call", call.String())
		}
	}
}
