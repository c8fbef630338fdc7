package outbound_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/outbound"
)

func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"https://vault.example:8200": "", "http://127.0.0.1:8200/x": "", "http://[::1]:8200": "", "http://localhost": "",
		"http://vault.example": "must be https", "http://localhost.example": "must be https", "ftp://127.0.0.1": "must be https",
		"https://a:hunter2@vault.example": "neither user", "https://vault.example?hunter2": "neither user", "https://vault.example#hunter2": "neither user",
		"hunter2": "is not a URL", "https://hunter2\x7f": "is not a URL", "": "is not a URL",
	} {
		u, err := outbound.Address(text)
		if want == "" && (err != nil || u.String() != text) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, %v, want %q", text, u, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error repeats what was in the address: %v", err)
		}
	}
}

func TestTransport(t *testing.T) {
	system, err := outbound.Transport(nil)
	if err != nil || system.TLSClientConfig.RootCAs != nil {
		t.Errorf("without authorities: %v, %v", system, err)
	}
	for _, pem := range []string{"", "nothing"} {
		if _, err := outbound.Transport([]byte(pem)); !errors.Is(err, outbound.ErrNoCertificate) {
			t.Errorf("%q: %v", pem, err)
		}
	}
}
