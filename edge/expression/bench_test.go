package expression

import "testing"

func BenchmarkExamine(b *testing.B) {
	for name, text := range map[string]string{
		"true":  `true`,
		"usual": `(http.host in {"a.example.com" "b.example.com"} and ip.src in {192.0.2.0/24 2001:db8::/32}) and cf.zone.plan eq "ENT"`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Examine(text, For{Phase: "http_request_firewall_custom"})
			}
		})
	}
}
