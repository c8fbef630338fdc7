package forge

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
)

// signatures are the ways in which each kind proves that it knows the secret.
var signatures = map[Kind]func(secret string, header http.Header, body []byte) bool{
	// https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
	GitHub: func(secret string, header http.Header, body []byte) bool {
		return hexSigned(secret, header.Get("X-Hub-Signature-256"), "sha256=", body)
	},
	GitLab: labSigned,
	// https://docs.gitea.com/usage/webhooks; Forgejo sends both names.
	Gitea: func(secret string, header http.Header, body []byte) bool {
		return hexSigned(secret, header.Get("X-Forgejo-Signature"), "", body) ||
			hexSigned(secret, header.Get("X-Gitea-Signature"), "", body)
	},
	Generic: func(secret string, header http.Header, body []byte) bool {
		bearer, ok := strings.CutPrefix(header.Get("Authorization"), "Bearer ")
		return hexSigned(secret, header.Get("X-Signature-256"), "sha256=", body) || ok && equal(bearer, secret)
	},
}

func vouches(kind Kind, secret string, header http.Header, body []byte) bool {
	signed := signatures[kind]
	return signed != nil && secret != "" && signed(secret, header, body)
}

// hexSigned checks an HMAC-SHA256 of the body, in hexadecimal digits behind a
// prefix.
func hexSigned(secret, signature, prefix string, body []byte) bool {
	digits, ok := strings.CutPrefix(signature, prefix)
	said, err := hex.DecodeString(digits)
	return ok && err == nil && hmac.Equal(said, mac([]byte(secret), body))
}

// labSigned: a secret token is sent as it is; a signing token (whsec_ and the key
// in base64) signs as https://www.standardwebhooks.com says. What is signed must
// fit: a signing token that is merely repeated proves nothing.
func labSigned(secret string, header http.Header, body []byte) bool {
	encoded, signing := strings.CutPrefix(secret, "whsec_")
	if !signing {
		return equal(header.Get("X-Gitlab-Token"), secret)
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) == 0 {
		return false
	}
	signed := header.Get("webhook-id") + "." + header.Get("webhook-timestamp") + "." + string(body)
	want, fits := mac(key, []byte(signed)), false
	for part := range strings.FieldsSeq(header.Get("webhook-signature")) { // several while keys change
		said, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(part, "v1,"))
		fits = fits || err == nil && strings.HasPrefix(part, "v1,") && hmac.Equal(said, want)
	}
	return fits
}

func mac(key, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write(text) // never fails
	return h.Sum(nil)
}

// equal compares in a time that depends on neither text, not even on their
// lengths.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// events are what is worth a look, by the name that a kind gives it. Reviews are
// among them because an approval releases what waits for one.
var events = map[Kind]struct {
	header string
	names  []string
}{
	GitHub: {"X-GitHub-Event", []string{"push", "pull_request", "pull_request_review"}},
	GitLab: {"X-Gitlab-Event", []string{"Push Hook", "Tag Push Hook", "Merge Request Hook", "System Hook"}},
	Gitea: {"X-Gitea-Event", []string{
		"push", "pull_request", "pull_request_sync", "pull_request_approved", "pull_request_rejected",
		"pull_request_review_approved", "pull_request_review_rejected",
	}},
}

// isNews reports whether an event is one of a push or a pull request. The name of
// the event is not signed; to believe it costs a look at most.
func isNews(kind Kind, header http.Header) bool {
	event, ok := events[kind]
	if !ok {
		return true // generic: whoever has the secret means it
	}
	return slices.Contains(event.names, header.Get(event.header))
}
