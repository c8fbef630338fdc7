package wire

import (
	"fmt"
	"strings"
	"testing"
)

// FuzzConfidential: no error about an answer that may contain a new secret has a part of
// it, wherever it stands.
func FuzzConfidential(f *testing.F) {
	const secret, piece = "k8Jx2vQpLm9ZtR4wYb7NcD1fGh5sKa3eUo6i", 12
	f.Add(200, []byte(`{"success":true,"result":{"id":"a","value":""}}`), uint(44))
	f.Add(200, []byte(`{"success":false,"errors":[{"code":1,"message":""}]}`), uint(48))
	f.Add(500, []byte(`{"success":false,"errors":[{"message":"","source":{"pointer":"/policies/0/"}}]}`), uint(74))
	f.Add(400, []byte(`{"errors":[{"error_chain":[{"message":"","documentation_url":""}]}]}`), uint(60))
	f.Add(502, []byte(`<html><p></p>`), uint(9))
	f.Add(302, []byte(``), uint(0))
	f.Fuzz(func(t *testing.T, status int, body []byte, at uint) {
		i := int(at % uint(len(body)+1))
		answer := Response{Call: "POST /user/tokens", Status: status, Body: []byte(string(body[:i]) + secret + string(body[i:]))}
		_, err := Dialect{Vendor: "acme"}.DecodeCreated(answer)
		_, other := DecodeSecret(answer)
		for _, err := range []error{err, Dialect{Vendor: "acme"}.TranslateError(err), other} {
			text := strings.ToLower(fmt.Sprintf("%v %+v %#v", err, err, err))
			for j := 0; err != nil && j+piece <= len(secret); j++ {
				if strings.Contains(text, strings.ToLower(secret[j:j+piece])) {
					t.Fatalf("%d %q: %s", status, answer.Body, text)
				}
			}
		}
	})
}
