package call

import (
	"net/http"
	"net/textproto"
	"strings"

	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// hidden stands for the value of a header that carries a credential.
const hidden = "hidden"

// AddHeader adds a header as it may be handed on; a nil one becomes one. What cannot be a header is
// left out.
func AddHeader(h *http.Header, name, value string) {
	name = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))
	if name == "" || strings.HasPrefix(name, ":") {
		return
	}
	if isSecret().MatchString(name) {
		value = hidden
	}
	if *h == nil {
		*h = http.Header{}
	}
	h.Add(name, strings.TrimSpace(value))
}

// isSecret goes by the words in a header's name: an unknown header that holds a
// key is worse than a known one that is hidden for nothing.
var isSecret = lazyregexp.New(`(?i)auth|cookie|token|secret|key|credential|password|signature|jwt|session`)
