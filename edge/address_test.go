package edge_test

import (
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

// TestNewAddress: of an address that is a secret, what follows the host is one. The host is not:
// it is in the names of zones, and of other services.
func TestNewAddress(t *testing.T) {
	for address, secrets := range map[string][]string{
		"https://chat.shop-of-ada.example/hooks/pa1h-in-the-address":      {"pa1h-in-the-address"},
		"http://127.0.0.1:9093/x?key=qu3ry-in-the-address":                {"qu3ry-in-the-address"},
		"https://us3r:passw0rd-in-the-address@chat.shop-of-ada.example/x": {"passw0rd-in-the-address"},
		"wh0le-value-without-a-scheme":                                    {"wh0le-value-without-a-scheme"},
		"https://chat.example/%zz-is-no-url-in-the-address":               {"is-no-url-in-the-address"},
	} {
		if got := edge.NewAddress(address).Reveal(); got != address {
			t.Errorf("%s is %s", address, got)
		}
		for _, secret := range secrets {
			if got := edge.Redact("an answer with " + secret); strings.Contains(got, secret) {
				t.Errorf("%s: %s", address, got)
			}
		}
	}
	const others = "www.chat.shop-of-ada.example, https://git.shop-of-ada.example, http://127.0.0.1:8710/metrics"
	if got := edge.Redact(others); got != others {
		t.Errorf("the names of others are %s", got)
	}
}
