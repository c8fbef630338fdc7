package deprecation_test

import (
	"testing"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

var benchPaths = map[string]string{
	"miss":     "/client/v4/zones/0123456789abcdef0123456789abcdef/rulesets/phases/http_request_firewall_managed/entrypoint",
	"hit":      "/client/v4/zones/0123456789abcdef0123456789abcdef/firewall/waf/packages/p/groups/g",
	"rewrite":  "/client/v4/zones/0123456789abcdef0123456789abcdef/dns_records?name=one,two&type=A",
	"stranger": "/assets/css/site.css?v=12345",
}

func BenchmarkMatch(b *testing.B) {
	_, m := builtin(b)
	for name, path := range benchPaths {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Match(deprecation.Request{Method: "GET", URL: path}, day2025)
			}
		})
	}
}

func BenchmarkMayMatch(b *testing.B) {
	_, m := builtin(b)
	for name, path := range benchPaths {
		b.Run(name, func(b *testing.B) {
			line := []byte(path)
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				m.MayMatch(line)
			}
		})
	}
}

func TestMayMatchAllocatesNothing(t *testing.T) {
	_, m := builtin(t)
	for _, path := range append([]string{"/zones/%7a/r%61te_limits"}, benchPaths["miss"], benchPaths["hit"], benchPaths["rewrite"]) {
		line := []byte(path)
		if n := testing.AllocsPerRun(100, func() { m.MayMatch(line) }); n != 0 {
			t.Errorf("%s: %v allocations", path, n)
		}
	}
}
