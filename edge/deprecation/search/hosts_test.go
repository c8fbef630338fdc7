package search_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seawall-dev/seawall/edge/deprecation/search"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestHosts(t *testing.T) {
	h := search.Hosts{Names: []string{"api.cloudflare.com", "*.corp.example", "gateway.test:8443"}, Base: "/client/v4"}
	for address, want := range map[string]bool{
		"/zones/1/filters": true, "https://api.cloudflare.com/client/v4/zones": true, "https://API.Cloudflare.com:443/zones": true,
		"https://proxy.internal/client/v4/zones": true, "http://127.0.0.1:8080/client/v4/zones": true, "https://cf.corp.example/zones": true,
		"https://gateway.test:8443/zones": true, "/redirect?to=https://x.example/zones": true,
		"https://api.github.com/organizations/1": false, "https://corp.example/zones": false, "https://gateway.test/zones": false,
		"https://api.cloudflare.com.evil.example/zones": false, "https://x.example/client/v4x/zones": false,
	} {
		if got := h.Allow(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	if all := (search.Hosts{Any: true}); !all.Allow("https://x.example/zones") {
		t.Error("--any-host refuses one")
	}
}

// Addresses of others are no false alarm, in none of the forms they stand in, and
// are found where every host counts.
func TestThirdPartiesAreNoAlarm(t *testing.T) {
	text, err := os.ReadFile("testdata/thirdparty.txt")
	must.Do(t, err)
	addresses := strings.Fields(string(text))
	if len(addresses) != 100 {
		t.Fatalf("%d addresses", len(addresses))
	}
	tree := fstest.MapFS{}
	for _, form := range []struct{ file, before, line, after string }{
		{"a/a.sh", "#!/bin/sh\n", "curl -s \"%s\"\n", ""},
		{"b/a.py", "import requests\n", "requests.get(f\"%s\", timeout=5)\n", ""},
		{"c/a.js", "", "await fetch(`%s`)\n", ""},
		{"d/a.go", "package a\n", "var _, _ = http.Get(\"%s\")\n", ""},
		{"e/a.yaml", "urls:\n", "  - %s\n", ""},
		{"f/a.http", "", "### x\nGET %s\n\n", ""},
		{"g/a.tf", "locals {\n  all = [\n", "    \"%s\",\n", "  ]\n}\n"},
		{"h/a.md", "# x\n", "- `%s`\n", ""},
	} {
		var b bytes.Buffer
		b.WriteString(form.before)
		for _, a := range addresses {
			fmt.Fprintf(&b, form.line, strings.NewReplacer("{", "", "}", "").Replace(a))
		}
		b.WriteString(form.after)
		tree[form.file] = &fstest.MapFile{Data: b.Bytes()}
	}
	seen := met{}
	s := newSearch(t, seen.found)
	in, err := s.Tree(tree, "tree")
	if err != nil || len(seen) > 0 || in.OtherHosts < 8*90 {
		t.Errorf("%v, false alarms %v, other hosts %d, %+v", err, seen, in.OtherHosts, in.Skips)
	}
	all := met{}
	s = newSearch(t, all.found)
	s.Hosts.Any = true
	if _, err := s.Tree(tree, "tree"); err != nil || len(all) != 8 {
		t.Errorf("where every host counts: %v, %d forms", err, len(all))
	}
}
