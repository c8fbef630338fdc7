package scan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

func TestNormalAddress(t *testing.T) {
	for address, want := range map[string]string{
		"/zones/:id/filters":                   "/zones/{}/filters",
		"/zones/{id}/rules-{n}/x":              "/zones/{}/{}/x",
		"/zones/{id}/firewall/rules${query}":   "/zones/{}/firewall/rules",
		"{base}/zones/%s/filters":              "/zones/{}/filters",
		"{base}zones/%s":                       "/zones/{}",
		"https://{host}/client/v4/zones":       "/client/v4/zones",
		"https://me:pw@h.example:8443/a/b#c":   "https://h.example:8443/a/b",
		"zones/%2F%!/%d?name=contains:{x}&y":   "/zones/%2F%25!/{}?name=contains:{}&y",
		"h.example/a":                          "https://h.example/a",
		"//h.example/a":                        "//h.example/a",
		"ftp://h.example/a":                    "/a",
		"/zones/$(id -u)/a":                    "/zones/{}/a",
		"/zones/#{zone[:id]}/\\(name)/%(a)s/b": "/zones/{}/{}/{}/b",
		"/a/{b?c}/d":                           "/a/{}/d",
	} {
		if got, ok := call.Normal(address); got != want || !ok {
			t.Errorf("%q is %q, %v; want %q", address, got, ok, want)
		}
	}
	for _, address := range []string{"", "{}", "/{id}", "https://h.example", "$URL", "/", "/:id/{x}"} {
		if got, ok := call.Normal(address); ok {
			t.Errorf("%q passes for known: %q", address, got)
		}
	}
	once, _ := call.Normal("{base}/zones/:id/%zz?a={b}")
	if twice, _ := call.Normal(once); cmp.Diff(once, twice) != "" {
		t.Errorf("what is normal changes: %q, %q", once, twice)
	}
}
