package call

import (
	"net/http"
	"net/textproto"
	"strings"
)

// hidden stands for the value of a header that carries a credential.
const hidden = "hidden"

// AddHeader adds a header as it may be handed on. What cannot be a header is
// left out.
func AddHeader(h http.Header, name, value string) {
	name = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))
	if name == "" || strings.HasPrefix(name, ":") {
		return
	}
	if isSecret(name) {
		value = hidden
	}
	h.Add(name, strings.TrimSpace(value))
}

// isSecret goes by the words in a header's name: an unknown header that holds a
// key is worse than a known one that is hidden for nothing.
func isSecret(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"auth", "cookie", "token", "secret", "key", "credential", "password", "signature", "jwt", "session"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
