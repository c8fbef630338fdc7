package meet

import (
	"testing"

	"github.com/seawall-dev/seawall/desired"
)

func TestOwnAddresses(t *testing.T) {
	own := OwnAddresses([]desired.Token{
		{Key: "ci-dns", Condition: &desired.Condition{In: []string{"192.0.2.0/28", "2001:db8::/48"}, NotIn: []string{"203.0.113.0/24"}}},
		{Key: "anywhere"},
	})
	const block = `", "action": "block"}`
	for rule, want := range map[string]string{
		`{"expression": "ip.src eq 192.0.2.9` + block:                                `192.0.2.9 is yours: token "ci-dns" may be used from 192.0.2.0/28, and block stops requests from there`,
		`{"expression": "ip.src in {198.51.100.1 192.0.2.8..192.0.2.40}` + block:     `192.0.2.8..192.0.2.40 is yours: token "ci-dns" may be used from 192.0.2.0/28, and block stops requests from there`,
		`{"expression": "ssl and (ip.src eq 2001:db8::1 or not ssl)` + block:         `2001:db8::1 is yours: token "ci-dns" may be used from 2001:db8::/48, and block stops requests from there`,
		`{"expression": "ip.src in {192.0.0.0/8}", "action": "managed_challenge"}`:   `192.0.0.0/8 is yours: token "ci-dns" may be used from 192.0.2.0/28, and managed_challenge stops requests from there`,
		`{"expression": "not ip.src in {192.0.2.0/28}` + block:                       ``,
		`{"expression": "ip.src ne 192.0.2.9` + block:                                ``,
		`{"expression": "ip.src eq 192.0.2.16` + block:                               ``,
		`{"expression": "ip.src eq 203.0.113.1` + block:                              ``,
		`{"expression": "ip.src in $office` + block:                                  ``,
		`{"expression": "ip.src eq 192.0.2.9", "action": "log"}`:                     ``,
		`{"expression": "ip.src eq 192.0.2.9", "action": "block", "enabled": false}`: ``,
	} {
		got := ""
		for _, f := range own.BlockedIn(zone(t, map[string]string{"custom a": rule})) {
			got = f.Message
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", rule, got, want)
		}
	}
}
