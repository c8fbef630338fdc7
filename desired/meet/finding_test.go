package meet

import (
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	const block, after = `"action": "block"`, `"order": {"after": "a"}`
	for name, test := range map[string]struct {
		rules map[string]string
		want  string
	}{
		"equal": {map[string]string{
			"custom a": `{"expression": "ssl", ` + block + `}`, "custom b": `{"expression": "ssl", "action": "log", ` + after + `}`,
		}, `b never acts: "a" stands in front of it, and ends each request that it matches`},
		"narrower": {map[string]string{
			"custom a": `{"expression": "ip.src in {192.0.2.0/24}", ` + block + `}`,
			"custom b": `{"expression": "ssl and ip.src eq 192.0.2.1", "action": "challenge", ` + after + `}`,
		}, `b never acts: "a" stands in front of it, and ends each request that it matches`},
		"wider": {map[string]string{
			"custom a": `{"expression": "ssl and ip.src eq 192.0.2.1", ` + block + `}`,
			"custom b": `{"expression": "ip.src in {192.0.2.0/24}", "action": "challenge", ` + after + `}`,
		}, ``},
		"no order": {map[string]string{
			"custom a": `{"expression": "ssl", ` + block + `}`, "custom b": `{"expression": "ssl", "action": "challenge"}`,
		}, ``},
		"contradiction": {map[string]string{
			"custom a": `{"expression": "ssl", ` + block + `, "order": {"after": "b"}}`, "custom b": `{"expression": "ssl", "action": "challenge", ` + after + `}`,
		}, ``},
		"log ends nothing": {map[string]string{
			"custom a": `{"expression": "ssl", "action": "log"}`, "custom b": `{"expression": "ssl", ` + block + `, ` + after + `}`,
		}, ``},
		"skip": {map[string]string{
			"custom a": `{"expression": "ssl", "action": "skip", "skip": {"ruleset": "current"}}`, "custom b": `{"expression": "ssl", ` + block + `, ` + after + `}`,
		}, `b never acts: "a" stands in front of it, and ends each request that it matches`},
		"skip of phases": {map[string]string{
			"custom a": `{"expression": "ssl", "action": "skip", "skip": {"phases": ["http_ratelimit"]}}`, "custom b": `{"expression": "ssl", ` + block + `, ` + after + `}`,
		}, ``},
		"off": {map[string]string{
			"custom a": `{"expression": "ssl", "enabled": false, ` + block + `}`, "custom b": `{"expression": "ssl", "action": "log", ` + after + `}`,
		}, ``},
		"twin": {map[string]string{
			"custom a": `{"expression": "ssl and http.host eq \"a\"", ` + block + `}`, "custom b": `{"expression": "ssl&&http.host==\"a\"", ` + block + `}`,
		}, `b does the same as "a", for the same requests`},
		"limits": {map[string]string{
			"rate_limit a": `{"expression": "ssl", ` + block + `}`, "rate_limit b": `{"expression": "ssl", ` + block + `}`,
		}, ``},
		"all": {
			map[string]string{"custom a": `{"expression": "starts_with(http.request.uri.path, \"/\")", ` + block + `}`},
			`a every request matches the expression, so that block acts on all of them`,
		},
		"all is counted": {map[string]string{"rate_limit a": `{"expression": "true", ` + block + `}`}, ``},
		"none":           {map[string]string{"rate_limit a": `{"expression": "ssl and not ssl", ` + block + `}`}, `a no request matches the expression`},
	} {
		var said []string
		for _, f := range new(Finder).Find(zone(t, test.rules)) {
			said = append(said, f.Key+" "+f.Message)
		}
		if got := strings.Join(said, "; "); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
