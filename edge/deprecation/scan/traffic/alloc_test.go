package traffic

import (
	"bytes"
	"testing"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// A line that Keep rejects costs no allocation.
func TestRejectedLinesAllocateNothing(t *testing.T) {
	needle := []byte("/firewall/rules")
	out := call.NewSink(call.Options{Keep: func(target []byte) bool { return bytes.Contains(target, needle) }}, func(call.Call) error { return nil })
	access := []byte(`192.0.2.1 - - [01/Mar/2026:10:00:00 +0000] "GET /client/v4/zones/0123456789abcdef/rulesets?page=1 HTTP/1.1" 200 512 "-" "Mozilla/5.0"`)
	record := []byte(`{"ts":"2026-03-01T10:00:00Z","method":"GET","path":"/client/v4/zones/0123456789abcdef/rulesets","status":200,"bytes":512}`)
	r := &records{Sink: out}
	for name, reject := range map[string]func(){
		"access log": func() { accessLine(access, 1, out) },
		"records":    func() { r.record(record, 1) },
	} {
		if n := testing.AllocsPerRun(100, reject); n > 0 {
			t.Errorf("%s: %v allocations for each line", name, n)
		}
	}
	if out.Stats.Skipped != 0 {
		t.Errorf("%+v", out.Stats)
	}
}
